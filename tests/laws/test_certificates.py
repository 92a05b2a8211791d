"""The law of certificates: a claimed gap is never below the true one, and CONVERGED is true.

Everything registered for flat outputs runs on a family of nasty problems (`nasty_problems`): all
convex losses, all solvers that fit them, L2, L1 and elastic net, dense and sparse, single and
double precision, intercepts free, penalized and none. P is evaluated at the stored weights and
minimized in extended precision (`reference`); that minimum is the value of P somewhere, so that a
claim below it is refuted.

2,000 problems run in `make test`, the same every time, 200,000 in `make soak`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from separatrix import LinearClassifier
from separatrix.losses import MARGIN_LOSSES
from separatrix.results import StopReason
from separatrix.solvers import SOLVERS
from tests.laws.claims import faults, in_words
from tests.laws.nasty_problems import (
    BINARY,
    MULTICLASS,
    PENALTIES,
    Data,
    Setting,
    fitting_solvers,
    nasty_data,
    settings_of,
)

FAMILIES = [("binary", loss) for loss in BINARY] + [("multiclass", loss) for loss in MULTICLASS]
PROBLEMS = 2000
#: The perceptron's minimum is zero, at zero: fewer problems of it tell as much.
SHARES = [1 if loss == "perceptron" else 4 for _, loss in FAMILIES]
SOAK_SEEDS, SOAK_PROBLEMS = 40, 200_000


def break_of_law(data: Data, setting: Setting, solvers: list[str]) -> list[str]:
    """What certificates of these solvers claim that is not true, in words."""
    exact = setting.exact(data)
    fits = []
    for solver in solvers:
        model = setting.fit(data, solver)
        if model is not None:
            value, rounding = exact.value(*setting.weights_of(model, data))
            fits.append((solver, model, value, rounding))
    starts = [exact.centered(*setting.weights_of(model, data)) for _, model, _, _ in fits]
    lowest = exact.minimum(starts)
    return [
        in_words(solver, fault, model.solution_, setting.tol, value, lowest)
        for solver, model, value, rounding in fits
        for fault in faults(model.solution_, setting.tol, value, lowest, rounding)
    ]


@st.composite
def problems(draw: st.DrawFn, family: tuple[str, str]) -> tuple[Data, Setting, list[str]]:
    """Data, what to minimize on it, and two of the solvers that fit."""
    kind, loss = family
    if kind == "binary":
        data = draw(nasty_data(st.just(2)))
    else:
        data = draw(nasty_data(st.sampled_from([3, 2, 4])))
    setting = draw(settings_of(loss, paired=kind != "binary" and data.n_classes == 2))
    fitting = fitting_solvers(loss, setting.penalty, kind, data.sparse)
    solvers = draw(st.lists(st.sampled_from(fitting), min_size=2, max_size=2, unique=True))
    return data, setting, solvers


def limits(n_problems: int):
    """Settings of one run of the law."""
    return settings(max_examples=n_problems, suppress_health_check=[*HealthCheck])


@pytest.mark.parametrize(("family", "share"), list(zip(FAMILIES, SHARES, strict=True)), ids=str)
def test_claims_are_true(family, share):
    @limits(-(-PROBLEMS * share // sum(SHARES)))
    @given(problem=problems(family))
    def law(problem):
        assert not break_of_law(*problem)

    law()


#: What longer runs of the law found once, shrunk.
FOUND = [
    # Losses that rounding hides beyond the kink of the hinge.
    (Data(n=3, d=2, log_C=7), Setting("hinge", intercept="penalized", paired=True), "auto"),
    (Data(seed=6715, n=3, d=2, spread=4), Setting("hinge"), "dual"),
    # Dual variables of one row that sum to zero up to the rounding of a large weight.
    (Data(n=3, d=4, rows=1, log_C=6), Setting("hinge", intercept="penalized", paired=True), "auto"),
    # The logarithm of 1 - a for a tiny a, times a large row weight.
    (Data(n=3, separable=True, weights=4, log_C=3), Setting(penalty="l1"), "owlqn"),
    (Data(n=4, log_C=6), Setting(penalty="l1", tol=1e-6), "auto"),
    # An infinite gap is within any tolerance of an infinite value.
    (
        Data(n=26, d=6, sparse=True, shift=0, rows=4, repeated=True),
        Setting("exponential"),
        "lbfgs",
    ),
    # A model that overflows in single precision: no weight to move, or a step uphill.
    (
        Data(seed=79, n=4, single=True, spread=6, rows=6, separable=True, weights=8, log_C=6),
        Setting("squared_hinge", penalty="l1", intercept="none", tol=1e-2),
        "proximal_newton",
    ),
    (
        Data(seed=37, n=4, d=2, single=True, shift=0, rows=6, separable=True, weights=4, log_C=5),
        Setting(intercept="none"),
        "proximal_newton",
    ),
]


@pytest.mark.parametrize(("data", "setting", "solver"), FOUND, ids=str)
def test_what_was_found_is_true(data, setting, solver):
    assert not break_of_law(data, setting, [solver])


@pytest.mark.slow
@pytest.mark.parametrize("number", range(SOAK_SEEDS))
def test_claims_are_true_at_length(number):
    @seed(number)
    @limits(SOAK_PROBLEMS // SOAK_SEEDS)
    @given(problem=st.sampled_from(FAMILIES).flatmap(problems))
    def law(problem):
        assert not break_of_law(*problem)

    law()


def test_everything_registered_is_tried():
    tried = {
        solver
        for kind, loss in FAMILIES
        for penalty in PENALTIES
        for solver in fitting_solvers(loss, penalty, kind, False)
    }
    assert tried == set(SOLVERS)
    assert {loss for _, loss in FAMILIES} == set(MARGIN_LOSSES) - {"zero_one"}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("solver", fitting_solvers("perceptron", "l2", "binary", False))
def test_no_promise_where_the_loss_is_not_convex(solver):
    data = Data(n=20, d=2)
    model = LinearClassifier(MARGIN_LOSSES["zero_one"], solver=solver, random_state=0)
    solution = model.fit(data.X, data.codes).solution_
    assert solution.stopped is not StopReason.CONVERGED
    assert solution.gap == float("inf")
