import time

import numpy as np
import pytest
from sklearn.base import clone

from separatrix import LinearSVM, LogisticRegression
from separatrix.errors import ConvergenceWarning
from separatrix.results import Monitor, StopReason, time_limit


def weights():
    return np.zeros((1, 1))


def test_monitor_stops_on_the_gap_or_the_budget():
    monitor = Monitor(tol=1e-2, max_passes=3)
    assert monitor.record(1, 100.0, 5.0, weights) is None
    assert monitor.record(2, 100.0, 1.0, weights) is StopReason.CONVERGED
    assert monitor.record(3, 100.0, 5.0, weights) is StopReason.BUDGET
    assert monitor.record(3, 0.5, 0.01, weights) is StopReason.BUDGET  # free of scale
    assert monitor.record(3, 0.5, 0.005, weights) is StopReason.CONVERGED


def test_monitor_keeps_a_trace_with_the_held_out_score():
    seen = []
    monitor = Monitor(tol=0, max_passes=9, report=seen.append, score=lambda w: float(w.sum()) + 0.5)
    monitor.record(1, 2.0, 3.0, weights)
    monitor.record(2.5, 1.0, 2.0, weights)
    trace = monitor.trace
    assert seen == trace.rows
    np.testing.assert_array_equal(trace.n_passes, [1, 2.5])
    np.testing.assert_array_equal(trace.objective, [2, 1])
    np.testing.assert_array_equal(trace.held_out, [0.5, 0.5])
    with pytest.raises(AttributeError):
        trace.nothing  # noqa: B018


def test_nan_is_never_converged():
    assert Monitor(tol=1.0, max_passes=5).record(1, float("nan"), float("nan"), weights) is None


class Moved:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Moved()
    monkeypatch.setattr(time, "perf_counter", found)
    return found


def test_a_time_limit_stops_after_the_pass_in_which_it_ends(clock):
    with time_limit(5):
        monitor = Monitor(tol=1e-9, max_passes=100)
    free = Monitor(tol=1e-9, max_passes=100)
    clock.now += 4.9
    assert monitor.record(1, 1.0, 1.0, weights) is None
    clock.now += 0.2
    assert monitor.record(2, 1.0, 1.0, weights) is StopReason.BUDGET
    # What has converged has, in time or not; a run that began outside has no limit.
    assert monitor.record(3, 1.0, 0.0, weights) is StopReason.CONVERGED
    assert free.record(1, 1.0, 1.0, weights) is None


def test_an_inner_limit_cannot_extend_an_outer_one(clock):
    with time_limit(1):
        with time_limit(100):
            inner = Monitor(tol=0, max_passes=100)
        with time_limit(0.5):
            pass
        outer = Monitor(tol=0, max_passes=100)
    after = Monitor(tol=0, max_passes=100)
    clock.now += 0.8
    assert outer.record(1, 1.0, 1.0, weights) is None
    clock.now += 0.5
    stops = [one.record(2, 1.0, 1.0, weights) for one in (inner, outer, after)]
    assert stops == [StopReason.BUDGET, StopReason.BUDGET, None]


@pytest.mark.parametrize("model", [LinearSVM(C=100), LogisticRegression(C=100)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_solvers_keep_to_the_limit_and_their_weights(model, n_classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    y = (X[:, 0] + random.normal(size=200) > 0).astype(int) + (n_classes == 3) * (X[:, 1] > 1)
    whole = clone(model).fit(X, y)
    with time_limit(0.0), pytest.warns(ConvergenceWarning):
        short = clone(model).fit(X, y)
    assert short.solution_.stopped is StopReason.BUDGET
    assert short.solution_.n_passes < whole.solution_.n_passes
    assert np.isfinite(short.coef_).all()
    assert short.solution_.objective >= whole.solution_.objective * (1 - 1e-9)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
