"""OWL-QN reaches the optimum of the other solvers for penalties with a kink."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from separatrix.errors import SolverError
from separatrix.losses import MARGIN_LOSSES, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.results import Monitor, StopReason
from separatrix.solvers import Lbfgs, OwlQn, ProximalNewton
from separatrix.structures.labels import FlatScores, make_design


def problem(loss, penalty, C=1.0, exempt=True, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(120, 15))
    scores = X[:, :3] @ random.normal(size=(3, 3))
    if loss == "softmax":
        y, k, loss = scores.argmax(axis=1), 3, multiclass_logistic()
    else:
        y, k, loss = np.where(scores[:, 0] > 0, 1.0, -1.0), 1, MARGIN_LOSSES[loss]
    score_map = FlatScores(make_design(X, 1), k, intercept=True, dtype=X.dtype)
    return Objective(score_map, loss, penalty, y, C=C, exempt=exempt)


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared_hinge"])
@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3), ElasticNet(0.9)])
@pytest.mark.parametrize("exempt", [True, False])
def test_it_reaches_the_optimum_of_proximal_newton(loss, penalty, exempt):
    objective = problem(loss, penalty, C=0.3, exempt=exempt)
    other = ProximalNewton().minimize(objective, None, Monitor(tol=1e-9, max_passes=3000))
    found = OwlQn().minimize(objective, None, Monitor(tol=1e-6, max_passes=3000))
    assert found.stopped is StopReason.CONVERGED
    assert found.objective == pytest.approx(other.objective, rel=1e-6)
    assert found.objective == pytest.approx(objective.value(found.w), rel=1e-9)
    if penalty.name == "l1":
        assert (found.w[:-1] == 0).any()
        agree = (found.w[:-1] == 0) == (np.abs(other.w[:-1]) < 1e-6)
        assert agree.mean() > 0.95


@pytest.mark.parametrize("penalty", [L2(), Unpenalized()])
def test_without_a_kink_it_is_lbfgs(penalty):
    objective = problem("softmax", penalty, C=0.1 if penalty.name == "none" else 1.0)
    options = {"tol": 1e-9, "max_passes": 5000}
    other = Lbfgs().minimize(objective, None, Monitor(**options))
    found = OwlQn().minimize(objective, None, Monitor(**options))
    assert found.objective == pytest.approx(other.objective, rel=1e-4, abs=1e-3)


def test_it_says_what_it_needs():
    with pytest.raises(SolverError, match="OwlQn needs a smooth loss"):
        OwlQn().minimize(problem("hinge", L1()), None, Monitor(tol=1e-3, max_passes=10))


def test_a_start_is_used():
    objective = problem("logistic", L1())
    first = OwlQn().minimize(objective, None, Monitor(tol=1e-9, max_passes=500))
    again = OwlQn().minimize(objective, first.w, Monitor(tol=1e-6, max_passes=500))
    assert again.n_passes < first.n_passes


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
def test_under_l1_it_stops_soon_after_the_gap_is_small_enough(tol):
    X, y = load_breast_cancer(return_X_y=True)
    score_map = FlatScores(make_design(scale(X), 1), 1, intercept=True, dtype=np.dtype("f8"))
    targets = np.where(y == 1, 1.0, -1.0)
    objective = Objective(score_map, MARGIN_LOSSES["logistic"], L1(), targets, exempt=True)
    exact = ProximalNewton().minimize(objective, None, Monitor(tol=1e-11, max_passes=3000))
    monitor = Monitor(tol=tol, max_passes=3000)
    found = OwlQn().minimize(objective, None, monitor)
    assert found.stopped is StopReason.CONVERGED
    enough = [row.objective <= exact.objective * (1 + tol) for row in found.trace.rows]
    assert found.n_passes <= 1.5 * found.trace.rows[enough.index(True)].n_passes
