"""Displays draw the right numbers on the axes they are given, and say what is missing."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

from separatrix.errors import NotFittedError
from separatrix.learners.baselines import MajorityClass
from separatrix.losses import MARGIN_LOSSES, Hinge
from separatrix.plots import LossDisplay, PathDisplay, TraceDisplay
from separatrix.results import Solution, StopReason, Trace, TraceRow

mpl.use("agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def fitted(objectives=(10.0, 4.0, 2.0), gaps=(9.0, 2.0, 0.02)):
    trace = Trace()
    for i, (objective, gap) in enumerate(zip(objectives, gaps, strict=True)):
        trace.append(TraceRow(i + 1.0, objective, gap, 0.1 * i, float("nan")))
    solution = Solution(
        np.zeros((2, 1)), 3.0, gaps[-1], StopReason.CONVERGED, trace, 2.0, "duality gap", "dual"
    )

    baseline = MajorityClass()
    baseline.solution_ = solution
    return baseline


class Sign:
    """Predicts 1 above a threshold."""

    def __init__(self, threshold):
        self.threshold = threshold

    def predict(self, X):
        return (X[:, 0] > self.threshold).astype(int)


def make_path():
    # Falling grid: the display has to sort it.
    return SimpleNamespace(
        Cs=np.array([100.0, 1.0, 0.01]),
        coefs=np.arange(24.0).reshape(3, 2, 4),
        estimator=lambda i: Sign([0.5, 0.5, 5.0][i]),
    )


def test_loss_zoo_draws_every_loss():
    display = LossDisplay.from_losses()
    assert len(display.lines_) == len(MARGIN_LOSSES) == len(display.values)
    np.testing.assert_array_equal(display.values["hinge"], Hinge().value(display.margin))
    line = display.lines_[list(display.values).index("hinge")]
    np.testing.assert_array_equal(line.get_ydata(), display.values["hinge"])
    assert display.ax_.get_legend() is not None


def test_logistic_in_bits_is_one_at_zero_and_bounds_zero_one():
    values = LossDisplay.from_losses(["zero_one", "logistic"], bits=True)
    bits, margin = values.values["logistic, in bits"], values.margin
    assert np.interp(0.0, margin, bits) == pytest.approx(1)
    assert (bits >= values.values["0-1"] - 1e-12).all()


def test_displays_draw_on_the_axes_given():
    figure, ax = plt.subplots()
    displays = [
        LossDisplay.from_losses([Hinge()], ax=ax),
        TraceDisplay.from_estimator(fitted(), ax=ax),
        PathDisplay.from_path(make_path(), ax=ax),
    ]
    for display in displays:
        assert display.ax_ is ax
        assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_trace_draws_the_relative_gap():
    display = TraceDisplay.from_estimator(fitted())
    np.testing.assert_allclose(display.line_.get_ydata(), [0.9, 0.5, 0.01])
    np.testing.assert_allclose(display.line_.get_xdata(), [1, 2, 3])
    assert display.ax_.get_yscale() == "log"
    assert display.line_.get_label() == "dual"


def test_trace_of_the_objective_against_seconds():
    display = TraceDisplay.from_estimator(
        fitted(), quantity="objective", clock="seconds", name="mine"
    )
    np.testing.assert_allclose(display.line_.get_ydata(), [10, 4, 2])
    np.testing.assert_allclose(display.line_.get_xdata(), [0, 0.1, 0.2])
    assert display.ax_.get_xlabel() == "seconds"
    assert display.line_.get_label() == "mine"


def test_path_of_scores_is_sorted_and_marks_the_smallest_best_C():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    display = PathDisplay.from_path(make_path(), X, y)
    np.testing.assert_allclose(display.lines_[0].get_xdata(), [0.01, 1, 100])
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [1 / 3, 1, 1])
    assert display.best_C == 1.0
    assert PathDisplay.from_path(make_path(), X, y, mark_best=False).best_C is None
    assert display.ax_.get_xscale() == "log"


def test_path_of_weights_has_a_line_per_feature():
    display = PathDisplay.from_path(make_path(), class_index=1)
    assert len(display.lines_) == 4
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [20, 12, 4])


def test_line_options_are_handed_on():
    display = TraceDisplay.from_estimator(fitted(), color="red", linewidth=5)
    assert display.line_.get_color() == "red"
    assert display.line_.get_linewidth() == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda: LossDisplay.from_losses(["nonsense"]),
        lambda: LossDisplay.from_losses(margin=(1.0, -1.0)),
        lambda: TraceDisplay.from_estimator(fitted(), quantity="nonsense"),
        lambda: TraceDisplay.from_estimator(fitted(), clock="nonsense"),
        lambda: TraceDisplay.from_estimator(fitted(), quantity="held_out"),
        lambda: PathDisplay.from_path(make_path(), X=np.zeros((2, 1))),
    ],
)
def test_bad_parameters(call):
    with pytest.raises(ValueError):
        call()
    assert plt.get_fignums() == []


def test_an_unfitted_estimator_is_named():
    with pytest.raises(NotFittedError, match="MajorityClass"):
        TraceDisplay.from_estimator(MajorityClass())


def test_without_matplotlib_the_message_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from separatrix.plots import LossDisplay\n"
        "try:\n    LossDisplay.from_losses()\n"
        "except ImportError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'separatrix[plots]'" in out.stdout


def test_importing_the_plots_does_not_import_matplotlib():
    code = "import sys, separatrix.plots; print('matplotlib' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
