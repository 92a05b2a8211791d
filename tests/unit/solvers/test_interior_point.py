"""The interior point: the same optimum from every start, whoever is admitted when."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separatrix._core import Dense, fixed_moves, interior_moves, label_gram
from separatrix.losses import Hinge, multiclass_hinge
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.results import Monitor, StopReason
from separatrix.solvers import DualCoordinateDescent, InteriorPoint
from separatrix.solvers.dual import interior_state
from separatrix.solvers.dual.interior_state import InteriorState
from separatrix.solvers.dual.interior_system import NewtonSystem
from separatrix.structures.labels import FlatScores, make_design


def digits(scale=1 / 16, n=500, **params):
    X, y = load_digits(return_X_y=True)
    X = X[:n] * scale
    design = make_design(X, 1)
    if params.pop("two", False):
        scores = FlatScores(design, 1, intercept=True, dtype=X.dtype)
        return Objective(
            scores, Hinge(), L2(), np.where(y[:n] > 4, 1.0, -1.0), exempt=True, **params
        )
    scores = FlatScores(design, 10, intercept=True, dtype=X.dtype)
    cost = params.pop("cost", None)
    return Objective(scores, multiclass_hinge(cost), L2(), y[:n], exempt=True, **params)


def solve(objective, w0=None, tol=1e-6, max_passes=300):
    return InteriorPoint().minimize(objective, w0, Monitor(tol=tol, max_passes=max_passes))


def near(a, b, tol=3e-6):
    return abs(a - b) <= tol * max(1.0, abs(b))


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("scale", [1 / 16, 1.0])
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2, 1e6])
def test_it_converges_for_every_scale_and_C(C, scale, two):
    objective = digits(scale, n=300, C=C, two=two)
    solution = solve(objective)
    if C < 1e6:
        assert solution.stopped is StopReason.CONVERGED
    # A margin that is right to the last digit is multiplied by C.
    assert solution.relative_gap <= 1e-5
    assert near(objective.value(solution.w), solution.objective)


@pytest.mark.parametrize("two", [False, True])
def test_it_agrees_with_the_dual_method(two):
    objective = digits(C=0.1, two=two)
    dual = DualCoordinateDescent().minimize(objective, None, Monitor(tol=1e-6, max_passes=20_000))
    assert dual.stopped is StopReason.CONVERGED
    assert near(solve(objective).objective, dual.objective)


def test_costs_of_any_size_scale_the_solution():
    rng = np.random.default_rng(0)
    cost = rng.uniform(0.5, 1.5, (10, 10))
    np.fill_diagonal(cost, 0)
    small = solve(digits(cost=cost, C=1.0))
    large = solve(digits(cost=100 * cost, C=100.0))
    # P(100 w) for costs of 100 and C = 100 is 100^2 P(w).
    assert near(large.objective, 1e4 * small.objective)


@pytest.mark.parametrize("near_costs", [-5.0, 0.0, 1000.0])
def test_who_takes_part_first_does_not_matter(monkeypatch, near_costs):
    expected = solve(digits()).objective
    monkeypatch.setattr(interior_state, "_NEAR", near_costs)
    solution = solve(digits())
    assert solution.stopped is StopReason.CONVERGED
    assert near(solution.objective, expected)


def test_it_begins_again_after_a_bad_start(monkeypatch):
    expected = solve(digits()).objective
    begun = []
    again = InteriorState.begin_again

    def counted(self):
        begun.append(1)
        again(self)

    monkeypatch.setattr(InteriorState, "begin_again", counted)
    stuck = InteriorState.step
    monkeypatch.setattr(InteriorState, "step", lambda self: bool(begun) and stuck(self))
    solution = solve(digits())
    assert begun == [1]
    assert solution.stopped is StopReason.CONVERGED
    assert near(solution.objective, expected)


def test_any_weights_may_start_it():
    objective = digits()
    first = solve(objective)
    rng = np.random.default_rng(0)
    for w0 in (first.w, 1e-3 * first.w, rng.normal(size=first.w.shape)):
        solution = solve(objective, w0)
        assert solution.stopped is StopReason.CONVERGED
        assert near(solution.objective, first.objective)


def test_near_the_solution_it_needs_few_steps():
    assert len(solve(digits(), tol=1e-4).trace) <= 12


def test_the_rough_solution_counts_and_keeps_the_budget():
    solution = solve(digits(), max_passes=3)
    assert solution.stopped is StopReason.BUDGET
    assert solution.n_passes <= 6


def test_label_gram_is_its_formula():
    rng = np.random.default_rng(0)
    X, D = rng.normal(size=(30, 4)), rng.uniform(size=(9, 5)) * (rng.random((9, 5)) < 0.7)
    rows = rng.permutation(30)[:9].astype(np.int64)
    expected = np.zeros((15, 15))
    for row, weights in zip(rows, D, strict=True):
        middle = np.diag(weights) - np.outer(weights, weights) / weights.sum()
        x = np.append(X[row], 1.0)
        expected += np.kron(middle[:3, :3], np.outer(x, x))
    assert np.allclose(label_gram(Dense(X), rows, D, 3, True, 1), expected)


def test_the_direction_solves_the_linearized_conditions():
    objective = digits(n=60)
    state = InteriorState(objective)
    state.begin(np.random.default_rng(0).normal(size=state.w.shape) * 0.1, 0.0)
    state.certificate()
    hot = state.hot
    alpha, mu, member = state.alpha[hot], state.mu[hot], state.member[hot]
    excess = np.where(member, np.random.default_rng(1).normal(size=mu.shape) * 0.01, 0.0)
    system = NewtonSystem(state.problem, hot, alpha, mu, member, state.residual, excess)
    products = np.where(member, 0.01, 0.0)
    move = system.direction(products)
    X = state.problem.X[hot]
    stationary = state.problem.penalty * move.w + X.T @ move.alpha + state.residual
    # Labels with a negligible share of the curvature are left out.
    assert np.abs(stationary).max() <= 0.05 * np.abs(state.residual).max()
    assert np.abs(move.alpha.sum(axis=1)).max() <= 1e-12
    reached = alpha * mu + alpha * move.mu + mu * move.alpha
    assert np.allclose(reached[member], products[member], atol=1e-10)
    lift = np.where(member, move.mu - excess + X @ move.w, np.nan)
    assert np.nanmax(np.nanmax(lift, axis=1) - np.nanmin(lift, axis=1)) <= 1e-9
    left = np.minimum(alpha + move.longest * move.alpha, mu + move.longest * move.mu)[member]
    assert left.min() >= -1e-12


def test_kernels_check_their_shapes():
    alpha = np.full((4, 3), 0.5)
    rows = alpha, alpha, np.ones((4, 3), dtype=np.bool_), np.zeros((4, 3))
    with pytest.raises(ValueError, match="products"):
        fixed_moves(rows, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="lifts"):
        interior_moves(rows, alpha, np.zeros(3), alpha)
    with pytest.raises(ValueError, match="kept"):
        label_gram(Dense(alpha), None, alpha, 4, False, 1)
