"""Stochastic solvers: kernel against composition, schedules, penalties, contracts."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from separatrix import LinearClassifier
from separatrix._core import newest_share, scheduled_rate
from separatrix.errors import DataError, ParameterError, SolverError
from separatrix.losses import MARGIN_LOSSES, multiclass_hinge, multiclass_logistic
from separatrix.losses import multiclass_perceptron as multiclass_perceptron_loss
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.results import Monitor, StopReason
from separatrix.solvers import (
    AdaDelta,
    AdaGrad,
    Adam,
    Lbfgs,
    ProximalGradient,
    RmsProp,
    StochasticGradient,
)
from separatrix.solvers.stochastic.runs import ComposedRun, Recipe, start_run
from separatrix.structures.labels import FlatScores, make_design

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 5)) + 1
SIGNS = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=90) > 0, 1.0, -1.0)
CODES = RNG.integers(0, 3, 90)
COST = np.array([[0, 1, 4.0], [2, 0, 1], [1, 1, 0]])
LOSSES = {
    **{name: loss for name, loss in MARGIN_LOSSES.items() if name != "zero_one"},
    "multiclass_perceptron": multiclass_perceptron_loss(),
    "multiclass_hinge": multiclass_hinge(),
    "cost": multiclass_hinge(COST),
    "multiclass_logistic": multiclass_logistic(),
}
SOLVERS = [StochasticGradient, AdaGrad, AdaDelta, RmsProp, Adam]
RULES = {
    "plain": ("plain", 0.0, 0.0, 0.0),
    "adagrad": ("adagrad", 0.0, 0.0, 1e-8),
    "adadelta": ("adadelta", 0.0, 0.95, 1e-6),
    "rmsprop": ("rmsprop", 0.0, 0.9, 1e-8),
    "adam": ("adam", 0.9, 0.999, 1e-8),
}


def objective(loss="logistic", penalty=None, *, rows=X, intercept=True, exempt=True, C=0.5):
    loss = LOSSES[loss] if isinstance(loss, str) else loss
    margin = loss.n_scores == 1
    score_map = FlatScores(
        make_design(rows, 1), 1 if margin else 3, intercept=intercept, dtype=rows.dtype
    )
    weights = RNG.integers(1, 3, 90) / 2
    targets = SIGNS if margin else CODES
    return Objective(
        score_map,
        loss,
        penalty or L2(),
        targets,
        C=C,
        sample_weight=weights,
        exempt=exempt and intercept,
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rule", RULES)
def test_kernel_and_composition_are_the_same_method(loss, rule):
    # Without an intercept there is nothing to center, so that the steps agree to the last digits.
    problem = objective(loss, intercept=False)
    recipe = Recipe(RULES[rule], "inverse", 7, True, None)
    w0 = np.full(problem.weight_shape, 0.1)
    kernel, composed = start_run(problem, recipe, w0, 0.05), ComposedRun(problem, recipe, w0, 0.05)
    assert type(kernel) is not ComposedRun
    for _ in range(3):
        assert kernel.run(90) == pytest.approx(composed.run(90))
    np.testing.assert_allclose(kernel.mean(), composed.mean(), atol=1e-10)


@pytest.mark.parametrize("penalty", [L1(), ElasticNet(0.3), L2(), Unpenalized()])
@pytest.mark.parametrize("rule", RULES)
def test_kernel_and_composition_share_their_penalties(penalty, rule):
    problem = objective("logistic", penalty, exempt=False)
    problem.exempt = rule == "never"
    recipe = Recipe(RULES[rule], "constant", 4, False, None)
    w0 = np.zeros(problem.weight_shape)
    kernel, composed = start_run(problem, recipe, w0, 0.02), ComposedRun(problem, recipe, w0, 0.02)
    kernel.run(90), composed.run(90)
    np.testing.assert_allclose(kernel.mean(), composed.mean(), atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_and_single_precision_come_to_the_same(solver):
    values = []
    for rows in (X, sp.csr_array(X), X.astype(np.float32)):
        problem = objective(rows=rows, C=0.3)
        problem.sample_weight = None
        found = solver().minimize(problem, None, Monitor(tol=1e-6, max_passes=100))
        values.append(found.objective)
    np.testing.assert_allclose(values, values[0], rtol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_columns_far_from_zero_do_not_slow_it_down(solver, offset):
    rows = X + offset
    problem = objective(rows=rows, C=1.0)
    best = Lbfgs().minimize(problem, None, Monitor(tol=1e-9, max_passes=5000)).objective
    found = solver().minimize(problem, None, Monitor(tol=1e-7, max_passes=300)).objective
    assert found <= best * (1 + 1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_l1_is_minimized_too(solver):
    problem = objective("logistic", L1(), C=0.3)
    best = ProximalGradient().minimize(problem, None, Monitor(tol=1e-8, max_passes=20_000))
    found = solver(batch_size=8).minimize(problem, None, Monitor(tol=1e-7, max_passes=400))
    assert found.objective <= best.objective * (1 + 2e-3)
    assert found.objective - best.objective <= found.gap


class Huberized:
    """A user's loss: the hinge with its corner rounded."""

    n_scores = 1
    smooth = True

    def value_and_grad(self, scores, targets):
        m = scores[:, 0] * targets
        value = np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, (1 - m) ** 2 / 2))
        slope = np.where(m >= 1, 0, np.where(m <= 0, -1, m - 1))
        return value, (slope * targets)[:, None]


class Quartic:
    """A user's penalty: smooth, without a name."""

    smooth = True

    def value(self, w):
        return float((w**4).sum() / 4 + (w**2).sum() / 2)

    def grad(self, w):
        return w**3 + w

    def prox(self, w, step):
        raise NotImplementedError


class Box:
    """A user's penalty without a gradient: |w| <= 0.2."""

    smooth = False

    def value(self, w):
        return 0.0 if (np.abs(w) <= 0.2 + 1e-12).all() else float("inf")

    def grad(self, w):
        raise NotImplementedError

    def prox(self, w, step):
        return np.clip(w, -0.2, 0.2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_losses_and_penalties_of_users(solver):
    problem = objective(Huberized(), Quartic(), C=0.2)
    best = Lbfgs().minimize(problem, None, Monitor(tol=1e-9, max_passes=2000)).objective
    found = solver(batch_size=8).minimize(problem, None, Monitor(tol=1e-7, max_passes=150))
    assert found.objective <= best * (1 + 1e-3)


def test_a_prox_of_a_user_needs_the_plain_rule():
    problem = objective("logistic", Box())
    found = StochasticGradient(batch_size=8, averaging=False).minimize(
        problem, None, Monitor(tol=1e-5, max_passes=30)
    )
    assert np.abs(found.w[:-1]).max() == pytest.approx(0.2)
    with pytest.raises(SolverError, match="StochasticGradient"):
        Adam().minimize(problem, None, Monitor(tol=1e-5, max_passes=3))


def test_schedules_and_shares():
    assert scheduled_rate("constant", 2.0, 9, 3, 1.0) == 2
    assert scheduled_rate("inverse", 2.0, 9, 3, 1.0) == 0.5
    assert scheduled_rate("inverse_sqrt", 2.0, 9, 3, 1.0) == 1
    assert scheduled_rate("bottou", 2.0, 9, 3, 1.0) == pytest.approx(2 / 19)
    assert 0 < newest_share(1e6) < newest_share(1) < 1


def test_settings_are_checked():
    monitor = Monitor(tol=1e-3, max_passes=3)
    for wrong in ({"schedule": "other"}, {"batch_size": 0}, {"learning_rate": -1.0}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            StochasticGradient(**wrong).minimize(objective(), None, monitor)


def test_a_rate_that_is_too_large_is_cut():
    problem = objective("exponential")
    found = StochasticGradient(learning_rate=1e4).minimize(
        problem, None, Monitor(tol=1e-6, max_passes=100)
    )
    assert np.isfinite(found.w).all()
    assert found.objective < problem.value(np.zeros(problem.weight_shape))


def test_the_record_is_honest():
    data, labels = load_breast_cancer(return_X_y=True)
    model = LinearClassifier("logistic", solver="sgd", C=0.01, tol=1e-5, random_state=0)
    solution = model.fit(scale(data), labels).solution_
    proven = solution.gap <= 1e-5 * solution.objective
    assert solution.stopped is (StopReason.CONVERGED if proven else StopReason.STATIONARY)
    assert solution.certificate == "duality gap"
    assert solution.objective == pytest.approx(solution.trace.objective.min(), rel=1e-3)
    exact = LinearClassifier("logistic", C=0.01, tol=1e-9).fit(scale(data), labels).solution_
    assert solution.objective - exact.objective <= solution.gap


def test_an_interrupt_keeps_the_best(monkeypatch):
    problem = objective()
    monitor = Monitor(tol=0.0, max_passes=50)
    record = monitor.record

    def interrupted(n_passes, *rest, **options):
        if n_passes == 4:
            raise KeyboardInterrupt
        return record(n_passes, *rest, **options)

    monkeypatch.setattr(monitor, "record", interrupted)
    found = StochasticGradient().minimize(problem, None, monitor)
    assert found.stopped is StopReason.INTERRUPTED
    assert found.objective == problem.value(found.w) < problem.value(np.zeros_like(found.w))


def wide(n=400, d=600, per_row=20, dtype=np.float64):
    """Sparse rows whose label a few columns tell; columns are not sorted."""
    rng = np.random.default_rng(1)
    columns = np.concatenate([rng.permutation(d)[:per_row] for _ in range(n)])
    starts = np.arange(0, n * per_row + 1, per_row)
    rows = sp.csr_array((rng.random(n * per_row).astype(dtype), columns, starts), shape=(n, d))
    direction = rng.normal(size=d)
    return rows, (rows @ direction > 0).astype(int)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared", "exponential"])
def test_a_single_pass_learns_and_calls_its_estimate_one(loss):
    rows, labels = wide()
    model = LinearClassifier(loss, solver="sgd", max_iter=1, random_state=0)
    with pytest.warns(match="stopped after 1 pass"):
        solution = model.fit(rows, labels).solution_
    assert solution.stopped is StopReason.BUDGET
    assert solution.n_passes == len(solution.trace) == 1
    assert solution.gap == np.inf
    assert "objective estimated" in solution.certificate
    assert model.score(rows, labels) > 0.75
    exact = model._objective(model._take(rows, labels, None), 1.0).value(solution.w)
    # Rows early in the pass met weights that knew less.
    assert exact < solution.objective < 5 * exact


def test_a_single_pass_is_not_fooled_by_a_rate_that_is_too_large():
    rows, labels = wide()
    solver = StochasticGradient(learning_rate=1e6)
    with pytest.warns(match="stopped after 1 pass"):
        model = LinearClassifier("exponential", solver=solver, max_iter=1).fit(rows, labels)
    assert "estimated" not in model.solution_.certificate
    assert model.solution_.objective <= len(labels)


def test_a_single_pass_survives_rows_of_very_different_norms():
    rows, labels = wide(2000)
    sizes = np.ones(2000)
    sizes[1::199] = 10.0
    model = LinearClassifier(solver="sgd", max_iter=1, random_state=0)
    with pytest.warns(match="stopped after 1 pass"):
        model.fit(sp.csr_array(sp.diags_array(sizes) @ rows), labels)
    assert model.score(rows, labels) > 0.6


def test_the_scale_of_the_rows_does_not_matter_to_a_single_pass():
    rows, labels = wide()
    scores = []
    for scale_of_rows in (1e-3, 1.0, 1e3):
        model = LinearClassifier(
            solver="sgd", max_iter=1, C=1 / scale_of_rows**2, fit_intercept=False, random_state=0
        )
        with pytest.warns(match="stopped after 1 pass"):
            scores.append(model.fit(rows * scale_of_rows, labels).score(rows, labels))
    np.testing.assert_allclose(scores, scores[0], atol=1e-2)


@pytest.mark.parametrize("max_iter", [1, 5])
@pytest.mark.parametrize("loss", ["logistic", Huberized()])
def test_rows_read_in_place_are_checked_on_the_way(loss, max_iter):
    rows, labels = wide()
    model = LinearClassifier(loss, solver=StochasticGradient(batch_size=8), max_iter=max_iter)
    wrong = rows.copy()
    wrong.data[[17 * 20 + 3, 300 * 20]] = np.nan
    column = wrong.indices[17 * 20 + 3]
    with pytest.raises(DataError, match=f"NaN at row 17, column {column}"):
        model.fit(wrong, labels)
    wrong = rows.copy()
    wrong.indices[17 * 20 + 3] = 600
    with pytest.raises(DataError, match="column index 600 in row 17"):
        model.fit(wrong, labels)
