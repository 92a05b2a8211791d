"""Dual coordinate descent: certificates against plain NumPy, optima against other solvers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import xlogy

from separatrix.errors import DataError, SolverError
from separatrix.losses import (
    Hinge,
    Logistic,
    Squared,
    SquaredHinge,
    multiclass_hinge,
    multiclass_logistic,
)
from separatrix.objective import Objective
from separatrix.regularizers import L1, L2
from separatrix.results import Monitor, StopReason
from separatrix.scores import FlatScores, make_design
from separatrix.solvers import DualCoordinateDescent

COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 0.5], [0.0, 3.0, 0.0]])
LOSSES = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "multiclass_hinge": multiclass_hinge(),
    "cost": multiclass_hinge(COST),
    "multiclass_logistic": multiclass_logistic(),
}
INTERCEPTS = ("none", "penalized", "free")


def make_data(n=60, d=5, *, scale=1.0, seed=0, dtype=np.float64, sparse=False):
    """Three overlapping classes; y in {0, 1, 2}."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, d)) + 0.7 * np.eye(3, d)[y]
    X[np.abs(X) < 0.4] = 0
    X = (scale * X).astype(dtype)
    return (sp.csr_matrix(X) if sparse else X), y


def make_objective(X, y, name, intercept="none", *, C=1.0, weight=None, n_threads=1):
    loss = LOSSES[name]
    k = loss.n_scores or int(max(3, y.max() + 1))
    targets = np.where(y == 0, 1, -1) if k == 1 else y
    scores = FlatScores(
        make_design(X, n_threads),
        k,
        intercept=intercept != "none",
        dtype=X.dtype,
        n_threads=n_threads,
    )
    return Objective(
        scores, loss, L2(), targets, C=C, sample_weight=weight, exempt=intercept == "free"
    )


def solve(objective, *, tol=1e-8, max_passes=20_000, **options):
    monitor = Monitor(tol=tol, max_passes=max_passes)
    return DualCoordinateDescent(**options).minimize(objective, None, monitor)


def dense(X):
    return (X.toarray() if sp.issparse(X) else X).astype(np.float64)


def weights_from_duals(X, objective, dual):
    """W(a) without intercepts, in float64."""
    if dual.ndim == 1:
        return (dense(X).T @ (dual * objective.targets))[:, None]
    onehot = np.eye(dual.shape[1])[objective.targets]
    return dense(X).T @ (objective.row_weights[:, None] * onehot - dual)


def numpy_bounds(X, objective, solution):
    """P(w) and the lower bound of the optimum, from the definitions."""
    w, a, u = solution.w.astype(np.float64), solution.dual, objective.row_weights
    X, y = dense(X), objective.targets
    name = objective.loss.name
    intercept = objective.score_map.intercept
    b = w[-1] if intercept else np.zeros(w.shape[1])
    z = X @ w[: X.shape[1]] + b
    active = u > 0
    if a.ndim == 1:
        m = y * z[:, 0]
        loss = {
            "hinge": np.maximum(1 - m, 0),
            "squared_hinge": np.maximum(1 - m, 0) ** 2,
            "logistic": np.logaddexp(0, -m),
        }[name]
        p = np.divide(a, u, out=np.zeros_like(a), where=active)
        value = {
            "hinge": a,
            "squared_hinge": a - np.divide(a**2, 4 * u, out=np.zeros_like(a), where=active),
            "logistic": -u * (xlogy(p, p) + xlogy(1 - p, 1 - p)),
        }[name].sum()
        assert a.min() >= 0
        assert name == "squared_hinge" or (a <= u * (1 + 1e-12)).all()
        s = np.array([(a * y).sum()])
    else:
        rows = np.arange(len(y))
        p = np.divide(a, u[:, None], out=np.zeros_like(a), where=active[:, None])
        np.testing.assert_allclose(p[active].sum(axis=1), 1, atol=1e-5)
        assert a.min() >= 0
        if name == "multiclass_logistic":
            top = z.max(axis=1)
            loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - z[rows, y]
            value = -(u[:, None] * xlogy(p, p)).sum()
        else:
            cost = objective.loss.max_op.cost
            cost = 1 - np.eye(a.shape[1]) if cost is None else cost
            loss = (z + cost[y]).max(axis=1) - z[rows, y]
            value = (a * cost[y]).sum()
        s = (u[:, None] * np.eye(a.shape[1])[y] - a).sum(axis=0)
    inner = weights_from_duals(X, objective, a)
    primal = 0.5 * (w[: X.shape[1]] ** 2).sum() + (u * loss).sum()
    dual = value - 0.5 * (inner**2).sum()
    if objective.exempt:
        dual -= (b * s).sum() + (np.abs(s) * (1 + np.abs(b))).sum()
    elif intercept:
        primal += 0.5 * (b**2).sum()
        dual -= 0.5 * (s**2).sum()
    return primal, dual


ALL = list(itertools.product(LOSSES, INTERCEPTS))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_the_certificate_holds_in_double_precision(name, intercept, sparse):
    X, y = make_data(sparse=sparse)
    objective = make_objective(X, y, name, intercept)
    solution = solve(objective)
    primal, dual = numpy_bounds(X, objective, solution)
    assert solution.stopped is StopReason.CONVERGED
    assert solution.objective == pytest.approx(primal, rel=1e-9)
    assert solution.objective == pytest.approx(objective.value(solution.w), rel=1e-9)
    assert dual <= primal + 1e-9 * primal
    assert primal - dual <= 2e-8 * primal
    assert solution.gap == pytest.approx(primal - dual, abs=1e-9 * primal)
    inner = weights_from_duals(X, objective, solution.dual)
    np.testing.assert_allclose(solution.w[: X.shape[1]], inner, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_the_certificate_holds_in_single_precision(name, intercept, sparse):
    X, y = make_data(dtype=np.float32, sparse=sparse)
    objective = make_objective(X, y, name, intercept)
    solution = solve(objective, tol=1e-5)
    primal, dual = numpy_bounds(X, objective, solution)
    assert solution.stopped is StopReason.CONVERGED
    assert solution.w.dtype == np.float32
    assert solution.objective == pytest.approx(primal, rel=1e-6)
    assert -1e-6 * primal <= primal - dual <= 2e-5 * primal
    inner = weights_from_duals(X, objective, solution.dual)
    np.testing.assert_allclose(solution.w[: X.shape[1]], inner, atol=1e-4)


def reference_minimum(X, y, objective):
    """The minimum by SLSQP on the epigraph form (hinge losses) or BFGS (smooth ones)."""
    shape = objective.score_map.weight_shape
    size = shape[0] * shape[1]
    u, n = objective.row_weights, len(y)
    augmented = np.hstack([X, np.ones((n, 1))]) if objective.score_map.intercept else X
    penalized = np.ones(shape)
    if objective.exempt:
        penalized[-1] = 0
    if objective.loss.smooth:

        def value_and_grad(flat):
            value, grad = objective.value_and_grad(flat.reshape(shape))
            return value, grad.ravel()

        options = {"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10}
        return minimize(
            value_and_grad, np.zeros(size), jac=True, method="L-BFGS-B", options=options
        ).fun
    rows = []
    offsets = []
    for i in range(n):
        if shape[1] == 1:
            rows.append(np.concatenate([objective.targets[i] * augmented[i], np.eye(n)[i]]))
            offsets.append(-1.0)
            continue
        cost = objective.loss.max_op.cost
        cost = 1 - np.eye(shape[1]) if cost is None else cost
        for k in range(shape[1]):
            if k != y[i]:
                plane = np.zeros(shape)
                plane[:, y[i]] += augmented[i]
                plane[:, k] -= augmented[i]
                rows.append(np.concatenate([plane.ravel(), np.eye(n)[i]]))
                offsets.append(-cost[y[i], k])
    A, c = np.array(rows), np.array(offsets)
    mask = np.concatenate([penalized.ravel(), np.zeros(n)])
    slack = np.concatenate([np.zeros(size), u])
    result = minimize(
        lambda v: 0.5 * (mask * v**2).sum() + slack @ v,
        np.concatenate([np.zeros(size), np.full(n, 5.0)]),
        jac=lambda v: mask * v + slack,
        bounds=[(None, None)] * size + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: A @ v + c, "jac": lambda v: A},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    # Its own verdict is about the line search at the last digits; the caller compares the values.
    return result.fun


@pytest.mark.parametrize("C", [0.05, 3.0])
@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_the_optimum_is_that_of_an_independent_solver(name, intercept, C):
    X, y = make_data(n=18, d=3)
    objective = make_objective(X, y, name, intercept, C=C)
    solution = solve(objective)
    expected = reference_minimum(X, y, objective)
    assert solution.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_weight_two_is_the_row_twice(name, intercept):
    X, y = make_data(n=40)
    weight = np.ones(40)
    weight[:10] = 2
    weight[30:] = 0
    twice = np.concatenate([np.arange(10), np.arange(30)])
    one = solve(make_objective(X, y, name, intercept, weight=weight))
    two = solve(make_objective(X[twice], y[twice], name, intercept))
    assert one.objective == pytest.approx(two.objective, rel=1e-7)
    np.testing.assert_allclose(one.w[:-1], two.w[:-1], atol=2e-3)
    assert (one.dual[30:] == 0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_threads_reach_the_same_optimum(name):
    # Large enough to be shared among threads.
    n, d = 30_000, 80
    X, y = make_data(n=n, d=d, dtype=np.float32)
    found = []
    for n_threads in (1, 2, 3):
        objective = make_objective(X, y, name, "free", C=1e-3, n_threads=n_threads)
        solution = solve(objective, tol=1e-5, max_passes=300)
        assert solution.stopped is StopReason.CONVERGED
        shared = n_threads > 1 and name == "logistic"
        assert shared == (f"{n_threads} threads" in solution.solver)
        found.append(solution.objective)
        again = solve(objective, tol=1e-5, max_passes=300)
        np.testing.assert_array_equal(again.w, solution.w)
    np.testing.assert_allclose(found, found[0], rtol=1e-5)


@pytest.mark.parametrize("name", LOSSES)
def test_runs_depend_on_the_seed_alone(name):
    X, y = make_data(sparse=True)
    objective = make_objective(X, y, name, "free")
    one, two, other = (solve(objective, tol=1e-4, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.w, two.w)
    np.testing.assert_array_equal(one.dual, two.dual)
    assert (one.w != other.w).any()


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e2])
@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_degenerate_rows_and_extreme_strengths(name, intercept, C):
    """Zero rows, duplicate rows, one feature, tiny and huge C: finite, and the gap closes."""
    X = np.array([[0.0], [1.0], [1.0], [-2.0], [0.0], [0.5], [-1.0]])
    y = np.array([0, 0, 0, 1, 1, 2, 2])
    objective = make_objective(X, y, name, intercept, C=C)
    solution = solve(objective, tol=1e-6, max_passes=50_000)
    primal, dual = numpy_bounds(X, objective, solution)
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.dual).all()
    assert dual <= primal * (1 + 1e-9)
    assert solution.stopped is StopReason.CONVERGED


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_size_stay_finite(name, dtype):
    for scale in (1e-12, 1e6):
        X, y = make_data(scale=scale, dtype=dtype)
        for C in (1e-6, 1e6):
            solution = solve(make_objective(X, y, name, "free", C=C), max_passes=30)
            assert np.isfinite(solution.w).all()
            assert np.isfinite(solution.objective)
            assert solution.gap >= 0


@pytest.mark.parametrize("scale", [1.0, 70.0])
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("name", LOSSES)
def test_free_intercepts_are_found_at_any_scale(name, C, scale):
    """Imbalanced classes, so that the intercept matters, on rows of small and large norm."""
    X, y = make_data(n=150, d=4, scale=scale)
    keep = (y == 0) | (np.arange(150) % 5 == 0)
    X, y = X[keep], y[keep]
    C = C / scale**2
    solution = solve(make_objective(X, y, name, "free", C=C), tol=1e-5, max_passes=3_000)
    assert solution.stopped is StopReason.CONVERGED


@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_a_start_keeps_the_duals_of_a_smaller_strength(name, intercept):
    X, y = make_data()
    first = solve(make_objective(X, y, name, intercept, C=0.5), tol=1e-6)
    larger = make_objective(X, y, name, intercept, C=0.6)
    warm = solve(larger, tol=1e-6, start=first.dual)
    assert warm.objective == pytest.approx(solve(larger, tol=1e-7).objective, rel=2e-6)
    # To a smaller C they are clipped.
    smaller = make_objective(X, y, name, intercept, C=0.1)
    clipped = solve(smaller, tol=1e-6, start=first.dual)
    assert clipped.objective == pytest.approx(solve(smaller, tol=1e-7).objective, rel=2e-6)
    same = make_objective(X, y, name, intercept, C=0.5)
    again = solve(same, tol=1e-4, start=first.dual)
    assert again.n_passes <= first.n_passes


def test_a_start_takes_its_free_intercepts_from_the_initial_weights():
    X, y = make_data(n=200)
    for name in LOSSES:
        objective = make_objective(X, y, name, "free")
        first = solve(objective, tol=1e-7)
        monitor = Monitor(tol=1e-6, max_passes=100)
        again = DualCoordinateDescent(start=first.dual).minimize(objective, first.w, monitor)
        assert again.n_passes <= 8


def test_initial_weights_are_ignored():
    X, y = make_data()
    objective = make_objective(X, y, "hinge")
    monitor = Monitor(tol=1e-6, max_passes=100)
    far = np.full(objective.score_map.weight_shape, 1e9)
    with_w0 = DualCoordinateDescent().minimize(objective, far, monitor)
    np.testing.assert_array_equal(with_w0.w, solve(objective, tol=1e-6).w)


def test_the_trace_counts_hot_sweeps_and_exact_evaluations():
    X, y = make_data(n=500)
    solution = solve(make_objective(X, y, "hinge"), tol=1e-9)
    passes = solution.trace.n_passes
    assert (np.diff(passes) > 0).all()
    assert solution.n_passes == passes[-1]
    # Passes with hot sweeps are more than one pass.
    assert np.diff(passes).max() > 1.2
    assert solution.trace.gap[-1] == solution.gap
    assert (solution.trace.gap[:-1] > 1e-9 * solution.trace.objective[:-1]).all()


def test_the_budget_ends_a_run_with_exact_values():
    X, y = make_data()
    objective = make_objective(X, y, "logistic", C=100.0)
    solution = solve(objective, tol=1e-12, max_passes=2)
    assert solution.stopped is StopReason.BUDGET
    assert solution.objective == pytest.approx(objective.value(solution.w))
    primal, dual = numpy_bounds(X, objective, solution)
    assert solution.gap == pytest.approx(primal - dual)


def test_a_stalled_run_gives_up_when_asked():
    X, y = make_data(n=200, scale=100.0)
    objective = make_objective(X, y, "multiclass_logistic", "free", C=1e4)
    patient = solve(objective, tol=1e-9, max_passes=400)
    assert patient.stopped is StopReason.BUDGET
    assert patient.n_passes >= 400
    short = solve(objective, tol=1e-9, max_passes=400, give_up_when_stalled=True)
    assert short.stopped is StopReason.BUDGET
    assert short.n_passes < 300
    assert short.objective == pytest.approx(objective.value(short.w))


@pytest.mark.parametrize("name", LOSSES)
def test_an_interrupted_run_is_consistent(name, monkeypatch):
    X, y = make_data()
    objective = make_objective(X, y, name, "free")

    def interrupt(row):
        if row.n_passes >= 2:
            raise KeyboardInterrupt

    monitor = Monitor(tol=1e-12, max_passes=1000, report=interrupt)
    solution = DualCoordinateDescent().minimize(objective, None, monitor)
    assert solution.stopped is StopReason.INTERRUPTED
    primal, dual = numpy_bounds(X, objective, solution)
    assert solution.objective == pytest.approx(primal)
    assert dual <= primal
    inner = weights_from_duals(X, objective, solution.dual)
    np.testing.assert_allclose(solution.w[:-1], inner, atol=1e-9)


def test_the_solver_says_what_it_needs():
    X, y = make_data()
    targets = np.where(y == 0, 1, -1)
    scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    for loss, regularizer in ((Squared(), L2()), (Hinge(), L1())):
        with pytest.raises(SolverError, match="DualCoordinateDescent needs an L2 penalty"):
            solve(Objective(scores, loss, regularizer, targets))


def test_bad_starts_are_named():
    X, y = make_data()
    objective = make_objective(X, y, "hinge")
    with pytest.raises(DataError, match="start has shape"):
        solve(objective, start=np.zeros((3, 2)))
    with pytest.raises(DataError, match="start"):
        solve(objective, start=np.full(len(y), np.nan))
