"""A setting is chosen on held-out rows, the simplest among equals, and used again."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix import registry
from separatrix.experiment import tuning
from separatrix.experiment.candidates import candidates
from separatrix.experiment.tuning import PATIENCE, ROUGH, WORSE, Rows, describe, refit, tune
from separatrix.learners.linear import LogisticRegression, regularization_path
from separatrix.metrics import Outcome
from separatrix.registry import C_GRID
from separatrix.results import StopReason
from separatrix.tasks import all_metrics, task_named
from tests.unit.experiment.problems import PEER, blobs, line

ACCURACY = all_metrics()["accuracy"]
RMSE = all_metrics()["rmse"]


class Fixed(ClassifierMixin, BaseEstimator):
    """Right on a share of the rows that depends on the number of passes."""

    scores = (0.5, 0.7, 0.7, 0.6, 0.6, 0.6, 0.6, 0.9)

    def partial_fit(self, X, y, classes):
        self.n_passes_ = getattr(self, "n_passes_", 0) + 1
        return self

    def predict(self, X):
        right = round(self.scores[self.n_passes_ - 1] * X.shape[0])
        return np.arange(X.shape[0]) >= right


class Late(Fixed):
    """Its best pass comes within the patience."""

    scores = (0.5, 0.7, 0.7, 0.6, 0.6, 0.8, 0.1, 0.1)


FALSE = Rows(np.zeros((10, 1)), np.zeros(10, dtype=bool))


def test_early_stopping_keeps_the_first_best_pass(monkeypatch):
    monkeypatch.setattr(tuning, "load", lambda target: Fixed)
    steps = []
    found = tune(PEER, FALSE, FALSE, ACCURACY, report=lambda *step: steps.append(step))
    assert (found.value, found.held_out) == (2.0, 0.7)
    # Pass 2 was best; after PATIENCE passes without a better one the search ends.
    assert found.passes == 2 + PATIENCE == len(steps) == len(found.curve)
    assert steps[1] == (2, "2 passes", 0.7)
    assert found.complete
    assert refit(PEER, found.value, FALSE).n_passes_ == 2


def test_a_better_pass_within_the_patience_is_found(monkeypatch):
    monkeypatch.setattr(tuning, "load", lambda target: Late)
    assert tune(PEER, FALSE, FALSE, ACCURACY).value == 6.0


def test_the_curve_holds_train_and_held_out_scores_of_every_setting():
    X, y = blobs(300, spread=2.0)
    train, held_out = Rows(X[:200], y[:200]), Rows(X[200:], y[200:])
    learner = registry.get("logistic_regression")
    found = tune(learner, train, held_out, ACCURACY)
    tried = learner.grid[: len(found.curve)]
    path = regularization_path(LogisticRegression(tol=ROUGH), train.X, train.y, tried)
    for point, model in zip(found.curve, path.estimators, strict=True):
        assert point.held_out == np.mean(model.predict(held_out.X) == held_out.y)
        assert point.train == np.mean(model.predict(train.X) == train.y)
    assert [point.value for point in found.curve] == list(tried)
    best = max(point.held_out for point in found.curve)
    if len(tried) < len(learner.grid):
        assert all(point.held_out < best for point in found.curve[-WORSE:])
    assert found.held_out == best
    # The simplest of the best.
    assert found.value == next(p.value for p in found.curve if p.held_out == best)
    assert found.passes == sum(solution.n_passes for solution in path.solutions)
    np.testing.assert_array_equal(
        found.estimator.coef_, path.estimators[learner.grid.index(found.value)].coef_
    )


class Bent(LogisticRegression):
    """Right on a share of the rows that depends on C."""

    scores: ClassVar = dict(zip(C_GRID, (0.5, 0.4, 0.6, 0.6, 0.5, 0.5, 0.5, 0.9), strict=True))

    def predict(self, X):
        return np.arange(X.shape[0]) >= round(self.scores[self.C] * X.shape[0])


def test_a_path_is_left_where_it_gets_worse(monkeypatch):
    """One setting that is worse, or as good, is no reason; two in a row are."""
    monkeypatch.setattr(tuning, "load", lambda target: Bent)
    X = np.random.default_rng(0).normal(size=(10, 1))
    y = np.arange(10) == 9
    rows, judged = Rows(X, y), Rows(X, np.zeros(10, dtype=bool))
    found = tune(registry.get("logistic_regression"), rows, judged, ACCURACY)
    assert [point.held_out for point in found.curve] == [0.5, 0.4, 0.6, 0.6, 0.5, 0.5]
    assert len(found.curve) == 4 + WORSE
    assert found.value == C_GRID[2]
    assert found.complete


class CutShort(LogisticRegression):
    """Stopped by its budget from some C on; right on a share of the rows that depends on C."""

    right: ClassVar = {0.1: 70, 1.0: 72, 10.0: 74}
    settled: ClassVar = (0.1, 1.0)

    def _solve(self, data, C, start=None):
        found = super()._solve(data, C, start)
        stopped = StopReason.CONVERGED if C in self.settled else StopReason.BUDGET
        return found._replace(stopped=stopped)

    def predict(self, X):
        return np.arange(X.shape[0]) >= self.right[self.C]


@pytest.mark.parametrize(("right", "chosen"), [(74, 1.0), (90, 10.0)])
def test_a_fit_that_was_cut_short_must_lead_by_more_than_the_noise(monkeypatch, right, chosen):
    """Of 100 rows two more are within a standard error, sqrt(2) of them; eighteen are not."""
    monkeypatch.setattr(tuning, "load", lambda target: CutShort)
    monkeypatch.setitem(CutShort.right, 10.0, right)
    X = np.random.default_rng(0).normal(size=(100, 2))
    learner = replace(registry.get("logistic_regression"), grid=(0.1, 1.0, 10.0))
    truth = np.zeros(100, dtype=bool)
    # The two settings are wrong on other rows as well.
    monkeypatch.setattr(
        CutShort,
        "predict",
        lambda self, X: np.roll(np.arange(len(X)) >= self.right[self.C], int(self.C)),
    )
    found = tune(learner, Rows(X, np.arange(100) % 2), Rows(X, truth), ACCURACY)
    assert [point.settled for point in found.curve] == [True, True, False]
    assert (found.value, found.settled) == (chosen, chosen == 1.0)
    assert found.held_out == CutShort.right[chosen] / 100


def test_without_a_settled_fit_the_best_is_taken_and_marked(monkeypatch):
    monkeypatch.setattr(tuning, "load", lambda target: CutShort)
    monkeypatch.setattr(CutShort, "settled", ())
    X = np.random.default_rng(0).normal(size=(100, 2))
    learner = replace(registry.get("logistic_regression"), grid=(0.1, 1.0, 10.0))
    rows = Rows(X, np.arange(100) % 2)
    found = tune(learner, rows, Rows(X, np.zeros(100, dtype=bool)), ACCURACY)
    assert (found.value, found.settled, found.converged) == (10.0, False, False)


def test_settings_of_a_path_are_fitted_until_they_converge():
    """A dual solver needs hundreds of passes here; after 25 its scores are not those of its C."""
    random = np.random.default_rng(0)
    X = sp.random(300, 300, 0.05, random_state=0, format="csr")
    X.data[:] = 10 ** random.uniform(-1, 1.5, size=X.nnz)
    W = random.normal(size=(300, 3))
    y = (np.log1p(X.toarray()) @ W + random.normal(size=(300, 3))).argmax(axis=1)
    train, held_out = Rows(X[:200], y[:200]), Rows(X[200:], y[200:])
    found = tune(registry.get("linear_svm"), train, held_out, ACCURACY)
    assert found.passes > 25 * len(found.curve)
    assert all(point.settled for point in found.curve)


def test_noise_is_the_standard_error_of_the_difference():
    random = np.random.default_rng(0)
    first, second = (random.random(400) < share for share in (0.8, 0.7))
    outcomes = [Outcome(v.mean(), v.astype(float), None) for v in (first, second)]
    spread = np.std(first.astype(float) - second, ddof=1) / 20
    assert ACCURACY.noise(*outcomes, None) == pytest.approx(spread)
    assert ACCURACY.noise(outcomes[0], outcomes[0], None) == 0
    # A root is as uncertain as its slope says.
    errors = random.normal(size=(2, 400)) * [[1.0], [2.0]]
    outcomes = [Outcome(0.0, e**2, None) for e in errors]
    roots = [np.sqrt(np.mean(e**2)) for e in errors]
    influence = errors[0] ** 2 / (2 * roots[0]) - errors[1] ** 2 / (2 * roots[1])
    assert RMSE.noise(*outcomes, None) == pytest.approx(influence.std() / 20, rel=0.02)
    y = np.arange(400) % 4
    said = [np.where(random.random(400) < share, y, 0) for share in (0.8, 0.5)]
    outcomes = [Outcome(0.0, None, one) for one in said]
    means = [np.mean([[(one == y)[y == k][random.integers(0, 100, 100)].mean() for k in range(4)]
                      for _ in range(300)], axis=1) for one in said]  # fmt: skip
    rough = np.hypot(*(m.std() for m in means))
    assert all_metrics()["balanced_accuracy"].noise(*outcomes, y) == pytest.approx(rough, rel=0.5)


def test_ties_go_to_the_strongest_regularization():
    X, y = blobs(90, n_classes=2, spread=0.01)
    found = tune(registry.get("linear_svm"), Rows(X, y), Rows(X, y), ACCURACY)
    assert found.held_out == 1.0
    assert found.value == next(point.value for point in found.curve if point.held_out == 1.0)


def test_a_lower_rmse_wins():
    rows = line()
    y = rows.pop("price")
    X = np.column_stack(list(rows.values()))
    train, held_out = Rows(X[:200], y[:200] ** 2), Rows(X[200:], y[200:] ** 2)
    found = tune(registry.get("polynomial_regression"), train, held_out, RMSE)
    assert [point.value for point in found.curve] == [2, 3]
    assert found.held_out == min(point.held_out for point in found.curve)
    model = refit(found.learner, found.value, train)
    assert RMSE(model, *held_out) == pytest.approx(found.held_out)


@pytest.mark.parametrize("name", registry.names("binary"))
def test_every_learner_is_tuned_and_fitted_again(name):
    X, y = blobs(120, n_classes=2)
    learner = registry.get(name)
    train, held_out = Rows(X[:80], y[:80]), Rows(X[80:], y[80:])
    found = tune(learner, train, held_out, ACCURACY)
    assert (found.value is None) == (learner.kind == "none")
    words = describe(learner, found.value)
    if learner.kind == "counts":
        assert found.value.var_smoothing in registry.VARIANCE_GRID
        assert words == f"var_smoothing = {found.value.var_smoothing:g}"
    elif learner.kind == "none":
        assert words == "-"
    else:
        assert found.value in learner.grid
        passes = f"{found.value:g} pass{'es' * (found.value != 1)}"
        named = f"{learner.parameter} = {found.value:g}"
        assert words == (passes if learner.kind == "passes" else named)
    model = refit(learner, found.value, train)
    # Warm starts and one-step fits end near each other, and counts and passes are the same.
    assert ACCURACY(model, *held_out) == pytest.approx(found.held_out, abs=0.03)
    if not learner.baseline:
        assert found.held_out > 0.8
    if learner.kind == "path":
        assert np.isfinite(found.gap)
    else:
        assert np.isnan(found.gap)


def test_counts_are_shared_among_the_settings(monkeypatch):
    from separatrix.learners.generative import NaiveBayes

    fits = []
    genuine = NaiveBayes.fit
    monkeypatch.setattr(
        NaiveBayes, "fit", lambda self, *args: fits.append(1) or genuine(self, *args)
    )
    X, y = blobs()
    found = tune(registry.get("naive_bayes"), Rows(X, y), Rows(X, y), ACCURACY)
    assert len(fits) == found.passes == 1
    assert len(found.curve) == len(registry.VARIANCE_GRID)


def test_the_same_seed_gives_the_same_passes():
    X, y = blobs(spread=3.0)
    first, again, other = (
        refit(PEER, 3.0, Rows(X, y), random_state=seed).coef_ for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def names(wanted, task, n_features):
    return [entry.name for entry in candidates(wanted, task_named(task), n_features)]


def test_baselines_come_first_then_the_order_of_the_registry():
    assert names(["mira", "naive_bayes"], "binary", 4) == [
        "majority_class",
        "prior_sampling",
        "naive_bayes",
        "mira",
    ]
    assert names([], "regression", 4) == ["mean_value", "median_value"]
    usual = [name for name in registry.names("multiclass") if not registry.get(name).many]
    assert names("auto", "multiclass", 4) == usual


@pytest.mark.parametrize("name", ["gaussian_discriminant", "sparse_logistic", "voted_perceptron"])
def test_slow_learners_are_left_out_of_wide_data_unless_asked_for(name):
    assert name in names("auto", "binary", 20)
    assert name not in names("auto", "binary", 20_000)
    assert name in names([name], "binary", 20_000)


def test_very_many_classes_have_learners_of_their_own():
    task = task_named("multiclass")
    few = {entry.name for entry in candidates("auto", task, 4, 100, 999)}
    many = [entry.name for entry in candidates("auto", task, 4, 100, 1000)]
    assert "logistic_regression" in few
    for_many = {"many_class", "label_index", "joint_features", "sampled_softmax"}
    assert {*many} == {"majority_class", "prior_sampling"} | for_many
    assert not for_many & few
    sets = [entry.name for entry in candidates("auto", task_named("label_sets"), 4, 100, 1000)]
    assert sets == ["frequent_labels", "many_labels"]


def test_learners_that_keep_their_rows_are_left_out_of_long_data():
    task = task_named("binary")
    for n_rows in (100, 100_000):
        taken = {entry.name for entry in candidates("auto", task, 4, n_rows)}
        assert ("voted_perceptron" in taken) == (n_rows == 100)
        assert "perceptron" in taken


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("all", '"auto" or a list'),
        (["nonsense"], "no learner 'nonsense'; for this task: majority_class"),
        (["squared_hinge_svm"], "learns binary tasks; this one is multiclass"),
        (["bayesian_regression"], "learns regression tasks"),
    ],
)
def test_learners_that_cannot_take_part(wanted, words):
    with pytest.raises(ValueError, match=words):
        names(wanted, "multiclass", 4)
