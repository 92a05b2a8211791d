"""A path followed step by step is the path fitted whole."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LinearClassifier, LinearSVM, LogisticRegression, Perceptron
from separatrix.errors import ParameterError
from separatrix.learners.linear import follow_path, regularization_path
from separatrix.learners.linear.minimizer import MinimizingClassifier

GRID = [10.0, 0.01, 1.0]
LEARNERS = [
    LogisticRegression(),
    LogisticRegression(penalty="l1"),
    LinearSVM(),
    LinearClassifier(loss="squared"),
]


def problem(n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 6))
    y = np.argmax(X[:, :n_classes] + random.normal(size=(150, n_classes)), axis=1)
    return X, y


@pytest.mark.parametrize(
    "model", LEARNERS, ids=lambda m: f"{type(m).__name__}-{m.get_params()}"[:40]
)
@pytest.mark.parametrize("sparse", [False, True])
def test_step_by_step_is_the_whole(model, sparse):
    X, y = problem()
    X = sp.csr_array(X) if sparse else X
    weights = np.random.default_rng(1).random(len(y))
    path = regularization_path(model, X, y, GRID, sample_weight=weights)
    steps = list(follow_path(model, X, y, GRID, sample_weight=weights))
    assert [step.C for step in steps] == sorted(GRID)
    assert path.Cs.tolist() == GRID
    for step in steps:
        same = path.estimators[GRID.index(step.C)]
        np.testing.assert_array_equal(step.coef_, same.coef_)
        np.testing.assert_array_equal(step.intercept_, same.intercept_)
        assert step.solution_.n_passes == same.solution_.n_passes


def test_each_step_is_near_the_cold_fit_and_the_learner_stays_as_it_was():
    X, y = problem(3)
    model = LogisticRegression(C=7.0, tol=1e-8)
    for step in follow_path(model, X, y, GRID):
        cold = LogisticRegression(C=step.C, tol=1e-8).fit(X, y)
        np.testing.assert_allclose(step.coef_, cold.coef_, atol=1e-3)
    assert model.C == 7.0
    assert not hasattr(model, "coef_")


def test_nothing_is_fitted_that_is_not_asked_for(monkeypatch):
    fits = []
    genuine = MinimizingClassifier._solve
    monkeypatch.setattr(
        MinimizingClassifier,
        "_solve",
        lambda self, data, C, start: (
            fits.append((C, start is None)) or genuine(self, data, C, start)
        ),
    )
    X, y = problem()
    steps = list(islice(follow_path(LogisticRegression(), X, y, GRID), 2))
    # The first from nothing, the second from the first.
    assert fits == [(0.01, True), (1.0, False)]
    assert len(steps) == 2


def test_bad_paths():
    X, y = problem()
    with pytest.raises(ParameterError, match="Perceptron has no C to follow"):
        list(follow_path(Perceptron(), X, y))
    with pytest.raises(ParameterError, match="non-empty list"):
        list(follow_path(LogisticRegression(), X, y, []))
    assert len(list(follow_path(LogisticRegression(), X, y))) == 8


@pytest.mark.parametrize("model", [LinearSVM(tol=1e-4), LogisticRegression(solver="dual")], ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_start_from_fewer_or_more_rows_and_other_columns(model, n_classes):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 40))
    y = np.argmax(X[:, :n_classes] + random.normal(size=(300, n_classes)), axis=1)
    model = model.set_params(random_state=0)
    few = next(follow_path(model, X[:200, :30], y[:200], [1.0])).solution_
    cold = next(follow_path(model, X, y, [1.0])).solution_
    more = next(follow_path(model, X, y, [1.0], start=few)).solution_
    assert more.objective == pytest.approx(cold.objective, rel=3 * model.tol)
    back = next(follow_path(model, X[:200, :30], y[:200], [1.0], start=more)).solution_
    assert back.objective == pytest.approx(few.objective, rel=3 * model.tol)
    again = next(follow_path(model, X, y, [1.0], start=cold)).solution_
    # Newton steps of the hinge begin without its dual variables.
    assert again.n_passes <= cold.n_passes
