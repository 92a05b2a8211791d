"""Minimizing in the span of the rows: the same optimum as with all columns."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import LinearSVM, LogisticRegression
from separatrix.errors import SolverError
from separatrix.results import Monitor
from separatrix.solvers import RowSpace
from separatrix.solvers.choose import choose
from tests.unit.solvers.problems import make


def wide(n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(24, 90))
    X[5:9] = X[:4]  # rows that depend on each other
    X[9] = X[0] - 2 * X[1]
    y = np.arange(24) % n_classes
    return X + 0.3 * y[:, None], y


@pytest.mark.parametrize("penalize_intercept", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margins_have_the_optimum_of_the_dual(loss, penalize_intercept):
    X, y = wide()
    options = {"C": 0.3, "penalize_intercept": penalize_intercept, "random_state": 0}
    found = LinearSVM(loss, solver="row_space", tol=1e-8, **options).fit(X, y).solution_
    known = LinearSVM(loss, solver="dual", tol=1e-8, max_iter=20_000, **options).fit(X, y)
    assert found.stopped.value == "converged"
    assert found.objective == pytest.approx(known.solution_.objective, rel=3e-8)
    assert found.solver.endswith("in the space of the rows")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_likelihoods_have_the_optimum_of_lbfgs(n_classes, dtype):
    X, y = wide(n_classes)
    weights = np.linspace(0, 2, len(y))
    found, known = (
        LogisticRegression(C=2.0, solver=solver, tol=1e-6)
        .fit(X.astype(dtype), y, sample_weight=weights)
        .solution_
        for solver in ("row_space", "lbfgs")
    )
    assert found.objective == pytest.approx(known.objective, rel=3e-6)
    assert found.gap <= 1e-6 * found.objective


def test_it_is_chosen_for_far_fewer_rows_than_columns():
    X, y = wide()
    assert "in the space of the rows" in LinearSVM().fit(X, y).solution_.solver
    assert type(choose(make("hinge"))).__name__ != "RowSpace"


def test_sparse_rows_are_refused():
    objective, monitor = make("hinge", sparse=True), Monitor(tol=1e-3, max_passes=9)
    with pytest.raises(SolverError, match="RowSpace needs dense data"):
        RowSpace().minimize(objective, None, monitor)
