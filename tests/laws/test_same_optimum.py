"""Deterministic solvers reach the same optimum to 1e-6, stochastic ones to 1e-3."""

from functools import cache

import numpy as np
import pytest

from separatrix import LinearClassifier
from tests.laws.conftest import SETS, binary, objective

DETERMINISTIC = {
    "logistic": ["dual", "newton", "lbfgs", "gradient_descent", "proximal", "auto"],
    "squared_hinge": ["dual", "newton", "lbfgs", "gradient_descent", "proximal", "auto"],
    "squared": ["newton", "lbfgs", "gradient_descent", "proximal", "auto"],
    "exponential": ["newton", "lbfgs", "gradient_descent", "proximal", "auto"],
    "hinge": ["dual", "interior_point", "auto"],
}
STOCHASTIC = ["sgd", "adagrad", "adadelta", "rmsprop", "adam"]


def fit(X, y, loss, solver, **parameters):
    settings = {"C": 0.1, "tol": 1e-9, "max_iter": 20_000, "random_state": 0, **parameters}
    return LinearClassifier(loss, solver=solver, **settings).fit(X, y)


@cache
def lowest(name, loss, two):
    """P where the default solver ends, for all that are held against it."""
    X, y = SETS[name]()
    y = binary(y) if two else y
    return objective(fit(X, y, loss, "auto"), X, y, 0.1, loss=loss)


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", DETERMINISTIC)
def test_binary_deterministic_solvers_agree(name, loss):
    X, y = SETS[name]()
    y = binary(y)
    values = {
        solver: objective(fit(X, y, loss, solver), X, y, 0.1, loss=loss)
        for solver in DETERMINISTIC[loss]
    }
    best = min(values.values())
    assert max(values.values()) <= best + 1e-6 * max(1, abs(best)), values


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_softmax_deterministic_solvers_agree(name):
    X, y = SETS[name]()
    values = {
        solver: objective(fit(X, y, "logistic", solver), X, y, 0.1, loss="logistic")
        for solver in DETERMINISTIC["logistic"]
    }
    best = min(values.values())
    assert max(values.values()) <= best + 1e-6 * max(1, abs(best)), values


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("solver", STOCHASTIC)
def test_stochastic_solvers_come_close(name, loss, solver):
    X, y = SETS[name]()
    y = binary(y)
    best = lowest(name, loss, two=True)
    found = objective(fit(X, y, loss, solver, tol=1e-6, max_iter=1500), X, y, 0.1, loss=loss)
    assert found <= best + 1e-3 * max(1, abs(best))


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize("solver", STOCHASTIC)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_stochastic_solvers_come_close_with_many_classes(solver, loss):
    X, y = SETS["wine"]()
    best = lowest("wine", loss, two=False)
    found = objective(fit(X, y, loss, solver, tol=1e-6, max_iter=1500), X, y, 0.1, loss=loss)
    assert found <= best + 1e-3 * max(1, abs(best))


@pytest.mark.parametrize("solver", [*STOCHASTIC, "lbfgs", "newton", "dual", "gradient_descent"])
def test_every_solver_leaves_a_trace(solver):
    X, y = SETS["iris"]()
    with np.errstate(all="raise", under="ignore"):
        model = LinearClassifier(solver=solver, tol=1e-3, max_iter=200, random_state=0)
        trace = model.fit(X, y).solution_.trace
    assert len(trace) > 0
    assert np.isfinite(trace.objective).all()
    assert (np.diff(trace.n_passes) > 0).all()
    assert (np.diff(trace.seconds) >= 0).all()
