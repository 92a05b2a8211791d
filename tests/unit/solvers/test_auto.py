"""Which solver is picked for which objective."""

from __future__ import annotations

import numpy as np

from separatrix.losses import MARGIN_LOSSES, Logistic, multiclass_logistic
from separatrix.objective import Objective
from separatrix.regularizers import L1, L2, ElasticNet, Unpenalized
from separatrix.solvers import Lbfgs, NewtonCG, ProximalNewton
from separatrix.solvers.choose import choose, describe
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import make


def test_a_kink_in_the_penalty_takes_a_proximal_step():
    for regularizer in [L1(), ElasticNet(0.5)]:
        assert isinstance(choose(make("logistic", regularizer)), ProximalNewton)


def test_small_dense_problems_take_exact_newton():
    for loss in ["logistic", "squared_hinge", "squared", "exponential", "multiclass_logistic"]:
        solver = choose(make(loss))
        assert isinstance(solver, NewtonCG)
        assert solver.is_exact(make(loss))
        assert describe(make(loss)).startswith("NewtonCG: ")


def test_wide_softmax_is_preconditioned():
    X = np.zeros((3000, 300))
    scores = FlatScores(make_design(X, 1), 10, intercept=True, dtype=X.dtype)
    objective = Objective(
        scores, multiclass_logistic(), L2(), np.zeros(3000, dtype=np.intp), exempt=True
    )
    assert choose(objective) == Lbfgs(precondition=True, memory=20)


def test_sparse_losses_without_a_dual_kernel_take_truncated_newton():
    for loss in ["squared", "exponential"]:
        assert isinstance(choose(make(loss, sparse=True)), NewtonCG)
    assert isinstance(choose(make("logistic", Unpenalized(), sparse=True)), NewtonCG)


def test_gradients_alone_are_enough_for_lbfgs():
    class Own:
        name, smooth, n_scores = "own", True, 1
        value_and_grad = Logistic().value_and_grad

    twin = make("logistic", sparse=True)
    objective = Objective(twin.score_map, Own(), L2(), twin.targets)
    assert isinstance(choose(objective), Lbfgs)


def test_sparse_and_hinge_take_the_dual():
    assert type(choose(make("logistic", sparse=True))).__name__ == "DualCoordinateDescent"
    assert type(choose(make("hinge", sparse=True))).__name__ == "DualCoordinateDescent"


def test_hinge_on_small_dense_data_takes_the_interior_point():
    assert type(choose(make("hinge"))).__name__ == "InteriorPoint"


def test_a_kink_without_a_dual_kernel_takes_stochastic_steps():
    objective = make("perceptron")
    assert objective.loss is MARGIN_LOSSES["perceptron"]
    assert type(choose(objective)).__name__ == "StochasticGradient"
