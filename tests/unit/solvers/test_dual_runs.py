"""Runs of dual coordinate descent: starts, traces, budgets, interrupts, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.errors import DataError, SolverError
from separatrix.losses import (
    Hinge,
    Squared,
)
from separatrix.objective import Objective
from separatrix.penalties import L1, L2
from separatrix.results import Monitor, StopReason
from separatrix.solvers import DualCoordinateDescent
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.dual_problems import (
    ALL,
    LOSSES,
    make_data,
    make_objective,
    numpy_value,
    solve,
    weights_from_duals,
)


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
    monitor = Monitor(tol=1e-4, max_passes=1000)
    again = DualCoordinateDescent(start=first.dual).minimize(same, first.w, monitor)
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
    value = numpy_value(X, objective, solution.w)
    assert solution.objective == pytest.approx(value)
    assert value - solve(objective, tol=1e-9).objective <= solution.gap < np.inf


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
    assert solution.objective == pytest.approx(numpy_value(X, objective, solution.w))
    assert solution.objective - solve(objective, tol=1e-9).objective <= solution.gap
    inner = weights_from_duals(X, objective, solution.dual)
    np.testing.assert_allclose(solution.w[:-1], inner, atol=1e-9)


def test_the_solver_says_what_it_needs():
    X, y = make_data()
    targets = np.where(y == 0, 1, -1)
    scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    for loss, penalty in ((Squared(), L2()), (Hinge(), L1())):
        with pytest.raises(SolverError, match="DualCoordinateDescent needs an L2 penalty"):
            solve(Objective(scores, loss, penalty, targets))


def test_bad_starts_are_named():
    X, y = make_data()
    objective = make_objective(X, y, "hinge")
    with pytest.raises(DataError, match="start has shape"):
        solve(objective, start=np.zeros((3, 2)))
    with pytest.raises(DataError, match="start"):
        solve(objective, start=np.full(len(y), np.nan))
