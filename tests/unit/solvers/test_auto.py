"""Which solver is picked for which objective."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LogisticRegression
from separatrix.losses import MARGIN_LOSSES, Logistic, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.results import Monitor
from separatrix.solvers import Auto, ExactNewton, Lbfgs, NewtonCG, ProximalNewton
from separatrix.solvers import choose as chooser
from separatrix.solvers.choose import choose, describe
from separatrix.solvers.costs import Shape, seconds_of
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import make


def test_a_kink_in_the_penalty_takes_a_proximal_step():
    for penalty in [L1(), ElasticNet(0.5)]:
        assert isinstance(choose(make("logistic", penalty)), ProximalNewton)


def test_small_dense_problems_take_exact_newton():
    for loss in ["logistic", "squared_hinge", "hinge", "squared", "exponential"]:
        assert isinstance(choose(make(loss)), ExactNewton)
        assert describe(make(loss)).startswith("ExactNewton: few weights")


def test_wide_softmax_is_preconditioned():
    X = np.random.default_rng(0).normal(size=(3000, 300))
    scores = FlatScores(make_design(X, 1), 10, intercept=True, dtype=X.dtype)
    objective = Objective(
        scores, multiclass_logistic(), L2(), np.zeros(3000, dtype=np.intp), exempt=True
    )
    assert choose(objective) == Lbfgs(precondition=True, memory=20)


def test_sparse_losses_without_a_dual_kernel_take_truncated_newton():
    wide = sp.random_array((50, 4000), density=0.01, format="csr", rng=0)
    y = np.where(np.arange(50) % 2, 1.0, -1.0)
    for loss in ["squared", "exponential"]:
        scores = FlatScores(make_design(wide, 1), 1, intercept=True, dtype=wide.dtype)
        assert isinstance(choose(Objective(scores, MARGIN_LOSSES[loss], L2(), y)), NewtonCG)
    assert isinstance(choose(make("logistic", Unpenalized(), sparse=True)), NewtonCG)


def test_gradients_alone_are_enough_for_lbfgs():
    class Own:
        name, smooth, n_scores = "own", True, 1
        value_and_grad = Logistic().value_and_grad

    twin = make("logistic", sparse=True)
    objective = Objective(twin.score_map, Own(), L2(), twin.targets)
    assert isinstance(choose(objective), Lbfgs)


def test_sparse_rows_of_many_features_take_the_dual():
    random = np.random.default_rng(0)
    X = sp.random_array((500, 4000), density=0.01, format="csr", rng=random)
    y = np.where(random.random(500) < 0.5, 1.0, -1.0)
    for loss in ["logistic", "hinge"]:
        scores = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
        chosen = choose(Objective(scores, MARGIN_LOSSES[loss], L2(), y))
        assert type(chosen).__name__ == "DualCoordinateDescent"


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(150, 4, 3), (60, 200, 5), (400, 40, 2), (900, 30, 12)])
def test_smooth_losses_on_dense_data_leave_nothing_to_chance(shape, scale):
    n, d, k = shape
    random = np.random.default_rng(3)
    X, y = scale * random.normal(size=(n, d)), np.arange(n) % k
    first, again = (LogisticRegression().fit(X, y) for _ in range(2))
    assert np.array_equal(first.coef_, again.coef_)
    assert np.array_equal(first.intercept_, again.intercept_)


def test_costs_grow_with_the_data():
    few, many = (
        Shape(n=n, d=20, k=1, stored=20 * n, pairs=200 * n, strength=1, dense=True, smooth=False)
        for n in (1000.0, 2000.0)
    )
    for name in ("exact_newton", "dual", "newton", "preconditioned", "lbfgs", "gram_of_rows"):
        assert 0 < seconds_of(name, few) < seconds_of(name, many)


def test_a_solver_that_falls_behind_hands_over():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 400)) @ np.diag(10.0 ** np.linspace(-3, 3, 400))
    y = random.integers(3, size=300)
    scores = FlatScores(make_design(X, 1), 3, intercept=True, dtype=X.dtype)
    objective = Objective(scores, multiclass_logistic(), L2(), y, C=10.0, exempt=True)
    monitor = Monitor(tol=1e-10, max_passes=4000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chooser, "_PATIENCE", dict.fromkeys(chooser._PATIENCE, 5.0))
        ranked = [
            one for one in chooser.rank(objective) if isinstance(one.solver, Lbfgs | NewtonCG)
        ]
        patch.setattr(
            chooser,
            "rank",
            lambda _: sorted(ranked, key=lambda one: one.solver != Lbfgs(memory=20)),
        )
        solution = Auto().minimize(objective, None, monitor)
    assert ", then " in solution.solver
    assert solution.n_passes > 5


def test_a_kink_without_a_dual_kernel_takes_stochastic_steps():
    objective = make("perceptron")
    assert objective.loss is MARGIN_LOSSES["perceptron"]
    assert type(choose(objective)).__name__ == "StochasticGradient"
