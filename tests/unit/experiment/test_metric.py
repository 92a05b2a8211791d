"""Metrics against scikit-learn's, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as peers
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from separatrix.bayes import BayesianLinearRegression
from separatrix.errors import ParameterError
from separatrix.learners.baselines import MeanValue, MedianValue
from separatrix.tasks import all_metrics, task_named
from separatrix.tasks.classes import probabilities
from tests.unit.experiment.problems import blobs

X, y = blobs(300, spread=2.0)
MODEL = LogisticRegression().fit(X[:150], y[:150])
COST = np.array([[0, 1, 2], [3, 0, 1], [9, 4, 0.0]])


@pytest.mark.parametrize(
    ("name", "peer"),
    [
        ("accuracy", lambda: peers.accuracy_score(y, MODEL.predict(X))),
        ("balanced_accuracy", lambda: peers.balanced_accuracy_score(y, MODEL.predict(X))),
        ("macro_f1", lambda: peers.f1_score(y, MODEL.predict(X), average="macro")),
        ("log_loss", lambda: peers.log_loss(y, MODEL.predict_proba(X))),
    ],
)
def test_classes(name, peer):
    metric = task_named("binary").metric(name, y, None)
    assert metric(MODEL, X, y) == pytest.approx(peer())
    assert metric.gain(1.0) == (-1.0 if name == "log_loss" else 1.0)
    values = metric.values(MODEL, X, y)
    if metric.whole is None:
        assert values.shape == y.shape
        assert metric.of(values) == metric(MODEL, X, y)
    if metric.each is None:
        assert metric(None, X, y, predictions=MODEL.predict(X)) == metric(MODEL, X, y)


def test_cost_is_that_of_the_cheapest_action():
    metric = task_named("binary").metric("auto", y, COST)
    shares = MODEL.predict_proba(X)
    actions = np.argmin(shares @ COST, axis=1)
    paid = COST[np.searchsorted(MODEL.classes_, y), actions]
    assert metric(MODEL, X, y) == pytest.approx(paid.mean())
    assert metric.name == "cost"
    assert not metric.higher_is_better


def test_quantities():
    truth = X[:, 0] * 2 + 1
    model = BayesianLinearRegression().fit(X, truth + np.random.default_rng(0).normal(size=300))
    rmse = task_named("regression").metric("auto", None, None)
    assert rmse(model, X, truth) == pytest.approx(
        peers.root_mean_squared_error(truth, model.predict(X))
    )
    density = task_named("regression").metric("log_density", None, None)
    assert density(model, X, truth) == pytest.approx(model.predictive(X).logpdf(truth).mean())
    assert density(MeanValue().fit(X, truth), X, truth) < density(model, X, truth)
    assert np.isfinite(density(MedianValue().fit(X, truth), X, truth))


def test_scores_alone_become_probabilities_of_the_best_temperature():
    model = RidgeClassifier().fit(X[:150], y[:150])
    shares = probabilities(model, X, y)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    loss = task_named("binary").metric("log_loss", y, None)(model, X, y)
    assert loss < peers.log_loss(y, np.tile(1 / 3, (len(y), 3)))


@pytest.mark.parametrize(
    ("name", "task", "words"),
    [
        ("cost", "binary", "needs a cost matrix"),
        ("f2", "binary", "no metric 'f2'; there are cost, chunk_f1"),
        ("rmse", "binary", "rmse scores quantities, but the target holds classes"),
        ("accuracy", "regression", "accuracy scores classes, but the target holds quantities"),
    ],
)
def test_bad_names(name, task, words):
    with pytest.raises(ParameterError, match=words):
        task_named(task).metric(name, None, None)


def test_each_metric_is_a_mean_or_a_whole():
    for metric in all_metrics().values():
        assert [metric.each, metric.judge, metric.whole].count(None) == 2
