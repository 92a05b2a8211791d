"""The law of proofs: a certificate is true at any weights, not only where solvers end.

Solvers end near the optimum, at weights that were made with care. Proofs are asked here of weights
that nobody would store: far from the optimum, with intercepts of any size, in single precision.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix import LinearClassifier
from separatrix.losses import MARGIN_LOSSES
from separatrix.solvers import Certifier
from tests.laws.nasty_problems import BINARY, MULTICLASS, Data, Setting, nasty_data, settings_of
from tests.laws.reference import LONG

PROBLEMS, SOAK_PROBLEMS = 300, 50_000
#: How weights lie to the optimum, and the largest and smallest power of ten of how far.
MOVES = {"there": (0, 0), "relative": (-14, 0), "absolute": (-12, 8), "intercept": (-3, 15)}


def moved(w: np.ndarray, how: str, power: int, seed: int) -> np.ndarray:
    """Weights away from `w`, in double."""
    far = 10.0**power * np.random.default_rng(seed).normal(size=w.shape)
    if how == "relative":
        w = w * (1 + far)
    elif how == "absolute":
        w = w + far
    elif how == "intercept":
        w = w.copy()
        w[-1] += far[-1]
    return w.astype(np.float64)


def false_claim(
    data: Data, setting: Setting, how: str, power: int, move: bool, step: int | None = None
) -> str:
    """What a proof claims at weights near the optimum that is not true, in words.

    With `step` the weights are said to come from others, so far away, by a step of Newton's method.
    """
    exact = setting.exact(data)
    model = LinearClassifier(
        setting.loss_for(data),
        setting.penalty,
        C=data.C,
        fit_intercept=setting.intercept != "none",
        penalize_intercept=setting.intercept == "penalized",
        n_jobs=1,
    )
    objective = model._objective(model._take(data.X, data.codes, data.sample_weight), data.C)
    with np.errstate(all="ignore"):
        w, _ = exact.argmin()
        if exact.intercept == "free":
            w[-1] -= exact.center @ w[:-1]
        given = moved(w, how, power, data.seed)
        certifier, before = Certifier(objective), None
        if step is not None and certifier.is_curved:
            other = moved(given, "absolute", step, data.seed + 1)
            before = objective.score_map(other.astype(objective.score_map.dtype))
        found = certifier.at(given, setting.tol, move=move, before=before)
        if not np.isfinite(found.gap):
            return ""
        coef, intercept = found.w.T, np.zeros(found.w.shape[1], dtype=LONG)
        if exact.intercept != "none":
            coef, intercept = coef[:, :-1], found.w[-1]
        value, rounding = exact.value(coef, intercept)
        lowest = exact.minimum([exact.centered(coef, intercept)])
    true = value - lowest - rounding
    if found.gap >= true:
        return ""
    return f"claimed {found.gap:.6g}, true {float(true):.6g}, P {float(value):.9g}"


@st.composite
def proofs(draw: st.DrawFn) -> tuple[Data, Setting, str, int, bool, int | None]:
    """A problem, how far from its optimum the weights are, whether intercepts may move, a step."""
    loss = draw(st.sampled_from([*BINARY, *MULTICLASS]))
    many = loss in MULTICLASS and draw(st.booleans())
    many |= loss not in MARGIN_LOSSES
    data = draw(nasty_data(st.sampled_from([2, 3, 4]) if many else st.just(2)))
    setting = draw(settings_of(loss, paired=many and data.n_classes == 2))
    how = draw(st.sampled_from([*MOVES]))
    power, move = draw(st.integers(*MOVES[how])), draw(st.booleans())
    return data, setting, how, power, move, draw(st.none() | st.integers(-8, 4))


@settings(max_examples=PROBLEMS, suppress_health_check=[*HealthCheck])
@given(proof=proofs())
def test_proofs_are_true_anywhere(proof):
    assert not false_claim(*proof)


@pytest.mark.slow
@settings(max_examples=SOAK_PROBLEMS, suppress_health_check=[*HealthCheck])
@given(proof=proofs())
def test_proofs_are_true_anywhere_at_length(proof):
    assert not false_claim(*proof)


#: What longer runs of the law found once.
FOUND = [
    # Scores made of a large intercept keep its rounding when the intercept is moved to a small one.
    (
        Data(seed=462444404, n=3, d=3, single=True, spread=6, separable=True, log_C=3),
        Setting("squared"),
        "intercept",
        15,
        True,
    ),
    (
        Data(seed=2012884668, n=11, d=2, shift=7, rows=3, collinear=True, log_C=7),
        Setting("hinge"),
        "intercept",
        15,
        True,
    ),
]


@pytest.mark.parametrize(("data", "setting", "how", "power", "move"), FOUND, ids=str)
def test_what_was_found_is_true(data, setting, how, power, move):
    assert not false_claim(data, setting, how, power, move)


@pytest.mark.parametrize(
    ("loss", "n_classes"), [("logistic", 2), ("exponential", 2), ("logistic", 3)]
)
def test_slopes_that_move_with_a_newton_step_prove_more(loss, n_classes):
    """Slopes at the end of the step leave half the square of the gradient there."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 5))
    y = (X @ random.normal(size=(5, n_classes)) + 2 * random.normal(size=(2000, n_classes))).argmax(
        axis=1
    )
    model = LinearClassifier(loss, C=1.0)
    objective = model._objective(model._take(X, y, None), 1.0)
    w = model.fit(X, y).solution_.w + 0.02 * random.normal(size=objective.weight_shape)
    hessian, (_, grad) = objective.hessian(w), objective.value_and_grad(w)
    columns = [hessian(unit.reshape(w.shape)).ravel() for unit in np.eye(w.size)]
    step = np.linalg.lstsq(np.array(columns), grad.ravel(), rcond=1e-10)[0].reshape(w.shape)
    before, after = objective.score_map(w), objective.score_map(w - step)
    plain, linear = Certifier(objective), Certifier(objective)
    hope = linear.linear_gap(before, after)
    gaps = [
        plain.at(w - step, 0.0, move=False).gap,
        linear.at(w - step, 0.0, before=before, move=False).gap,
    ]
    assert 0 < gaps[1] < 0.1 * gaps[0]
    assert hope == pytest.approx(gaps[1], rel=0.1)


def test_a_loss_that_may_be_negative_balances_nothing():
    """Dual points of free intercepts are mixed with one whose value is that of losses at zero."""
    data = Data(n=6, d=1)

    class Lower(type(MARGIN_LOSSES["logistic"])):
        name = "lower"

        def value(self, margin):
            return super().value(margin) - 5

    model = LinearClassifier(Lower(), C=data.C)
    objective = model._objective(model._take(data.X, data.codes, None), data.C)
    assert objective.imbalance(np.array([0.1]))[0] == np.inf
    found = Certifier(objective).at(np.array([[3.0], [-2.0]]), 0.0, move=False)
    best = LinearClassifier(Lower(), C=data.C, tol=1e-10).fit(data.X, data.codes)
    assert found.value - best.solution_.objective <= found.gap
