"""Dual coordinate descent: certificates against plain NumPy, optima against other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits

from separatrix import LinearClassifier
from separatrix.results import StopReason
from tests.unit.solvers.dual_problems import (
    ALL,
    LOSSES,
    check_duals,
    dense,
    make_data,
    make_objective,
    numpy_value,
    solve,
    weights_from_duals,
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("name", "intercept"), ALL)
def test_the_certificate_holds(name, intercept, sparse, dtype):
    X, y = make_data(dtype=dtype, sparse=sparse)
    objective = make_objective(X, y, name, intercept)
    tol = 1e-8 if dtype == np.float64 else 1e-5
    solution = solve(objective, tol=tol)
    value = numpy_value(X, objective, solution.w)
    double = make_objective(dense(X), y, name, intercept)
    best = numpy_value(X, objective, solve(double, tol=1e-11).w)
    assert solution.stopped is StopReason.CONVERGED
    assert solution.w.dtype == dtype
    assert solution.objective == pytest.approx(value, rel=1e-12)
    assert value - best <= solution.gap <= tol * value
    check_duals(objective, solution.dual)
    inner = weights_from_duals(X, objective, solution.dual)
    np.testing.assert_allclose(solution.w[: X.shape[1]], inner, atol=1e-9 if tol < 1e-6 else 1e-4)


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
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.dual).all()
    assert solution.objective == pytest.approx(numpy_value(X, objective, solution.w))
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


@pytest.mark.parametrize(("loss", "n_classes"), [("hinge", 10), ("hinge", 2), ("logistic", 10)])
def test_where_single_precision_ends_the_fit_goes_on_in_double(loss, n_classes):
    """Estimates of the gap level off there: all of the budget was spent waiting for less."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    tol = 1e-9 if n_classes == 2 else 1e-7
    model = LinearClassifier(loss, solver="dual", C=0.1, tol=tol, max_iter=3000, random_state=0)
    solution = model.fit(X, y % n_classes).solution_
    assert solution.stopped is StopReason.CONVERGED
    assert solution.n_passes < 1000
    assert solution.n_passes == pytest.approx(solution.trace.n_passes[-1])
    assert model.coef_.dtype == np.float32
