"""Newton steps of the kernels: the optimum of other solvers, from every start, and honest ends."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from separatrix import LinearClassifier, LinearSVM, LogisticRegression
from separatrix._core import newton_margins
from separatrix.errors import ConvergenceWarning, SolverError
from separatrix.penalties import L1
from separatrix.results import Monitor
from separatrix.solvers import ExactNewton, NewtonCG
from separatrix.solvers.primal import exact_newton
from tests.unit.solvers.problems import make


def overlapping(n: int = 400, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return random.normal(size=(n, d)) + 0.8 * y[:, None] * np.linspace(0, 1, d), y


@pytest.mark.parametrize("penalize_intercept", [False, True])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margins_have_the_optimum_of_the_dual(loss, C, penalize_intercept):
    X, y = overlapping()
    options = {"C": C, "penalize_intercept": penalize_intercept, "random_state": 0}
    found = LinearSVM(loss, solver="exact_newton", tol=1e-7, **options).fit(X, y).solution_
    assert found.stopped.value == "converged"
    if C > 1:  # too much for the dual: the proof must do
        return
    known = LinearSVM(loss, solver="dual", tol=1e-5, max_iter=100_000, **options).fit(X, y)
    assert found.objective == pytest.approx(known.solution_.objective, rel=1.2e-5)
    assert found.objective <= known.solution_.objective * (1 + 1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_logistic_loss_has_the_optimum_of_lbfgs(sparse, dtype):
    X, y = overlapping()
    X = np.where(np.abs(X) > 0.5, X, 0).astype(dtype)
    rows = sp.csr_array(np.hstack([X, np.zeros((len(X), 300), dtype=dtype)])) if sparse else X
    weights = np.linspace(0, 2, len(y))
    found, known = (
        LogisticRegression(C=3.0, solver=solver, tol=1e-7)
        .fit(rows, y, sample_weight=weights)
        .solution_
        for solver in ("exact_newton", "lbfgs")
    )
    assert found.stopped.value == "converged"
    assert found.objective == pytest.approx(known.objective, rel=3e-7)
    assert found.n_passes < 15


def test_the_last_step_is_seen_by_the_proof_alone(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return newton_margins(*arguments)

    monkeypatch.setattr(exact_newton, "newton_margins", counted)
    X, y = overlapping()
    model = LogisticRegression(solver="exact_newton").fit(X, y)
    assert model.solution_.stopped.value == "converged"
    assert len(calls) == 1


@pytest.mark.parametrize("loss", ["logistic", "squared", "exponential"])
def test_the_proof_comes_with_the_first_weights_that_are_good_enough(loss):
    X, y = overlapping()
    best = LinearClassifier(loss, solver="exact_newton", tol=1e-12).fit(X, y).solution_.objective
    for tol in (1e-2, 1e-4, 1e-6):
        solution = LinearClassifier(loss, solver="exact_newton", tol=tol).fit(X, y).solution_
        assert solution.stopped.value == "converged"
        before = solution.trace.objective[:-1]
        assert (before > best * (1 + 0.1 * tol)).all()  # what is left of third order
        assert solution.n_passes == len(before) + 1


def test_slopes_that_move_with_the_last_step_are_the_duals():
    X, y = overlapping()
    model = LogisticRegression(solver="exact_newton", penalize_intercept=True, C=0.5).fit(X, y)
    duals, signs = model.solution_.dual, np.where(y, 1.0, -1.0)
    w = np.append(X, np.ones((len(X), 1)), axis=1).T @ (duals * signs)
    assert w == pytest.approx(model.solution_.w[:, 0], rel=1e-10)
    a = duals / 0.5
    dual_value = -0.5 * (xlogy(a, a) + xlogy(1 - a, 1 - a)).sum() - w @ w / 2
    true = model.solution_.objective - dual_value
    assert true <= model.solution_.gap <= 3 * true


def test_every_pass_is_scored_at_its_own_weights():
    monitor = Monitor(tol=1e-6, max_passes=100, score=lambda w: float(np.abs(w).sum()))
    ExactNewton().minimize(make("logistic"), None, monitor)
    assert len(set(monitor.trace.held_out)) == len(monitor.trace)
    assert (np.diff(monitor.trace.seconds) >= 0).all()


def test_duals_of_the_hinge_prove_the_gap():
    X, y = overlapping()
    model = LinearSVM(solver="exact_newton", penalize_intercept=True, C=0.5).fit(X, y)
    duals, signs = model.solution_.dual, np.where(y, 1.0, -1.0)
    assert duals.min() >= 0
    assert duals.max() <= 0.5
    w = np.append(X, np.ones((len(X), 1)), axis=1).T @ (duals * signs)
    dual_value = duals.sum() - w @ w / 2
    assert 0 <= model.solution_.objective - dual_value <= 1e-4 * model.solution_.objective
    assert set(model.support_) == set(np.flatnonzero(duals > 0))


def test_weights_of_another_fit_are_a_start():
    X, y = overlapping(4000)
    model = LinearSVM(solver="exact_newton", warm_start=True, tol=1e-6).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first
    assert model.solution_.stopped.value == "converged"


def test_a_budget_ends_a_run_with_a_true_gap():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="passes"):
        model = LinearSVM(solver="exact_newton", tol=1e-9, max_iter=3).fit(X, y)
    assert model.solution_.stopped.value == "budget"
    best = LinearSVM(solver="exact_newton", tol=1e-9).fit(X, y).solution_.objective
    assert model.solution_.gap >= model.solution_.objective - best


@pytest.mark.parametrize("exempt", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_has_the_optimum_of_newton_in_python(dtype, exempt):
    objective = make("multiclass_logistic", dtype=dtype, exempt=exempt, weighted=True)
    found = ExactNewton().minimize(objective, None, Monitor(tol=1e-6, max_passes=50))
    known = NewtonCG().minimize(objective, None, Monitor(tol=1e-6, max_passes=50))
    assert found.stopped.value == known.stopped.value == "converged"
    assert found.objective == pytest.approx(known.objective, rel=2e-6)
    again = ExactNewton().minimize(objective, found.w, Monitor(tol=1e-6, max_passes=50))
    assert again.stopped.value == "converged"
    assert again.n_passes <= 3


def test_weights_of_zero_are_never_the_end():
    for loss in ("logistic", "multiclass_logistic"):
        objective = make(loss, C=1e-9)
        found = ExactNewton().minimize(objective, None, Monitor(tol=1e-2, max_passes=50))
        assert found.stopped.value == "converged"
        assert found.w[:-1].any()


def test_what_has_no_exact_hessian_is_refused():
    monitor = Monitor(tol=1e-3, max_passes=9)
    for objective in (make("perceptron"), make("multiclass_logistic", L1())):
        with pytest.raises(SolverError, match="ExactNewton needs"):
            ExactNewton().minimize(objective, None, monitor)
