"""Metrics of the rarer of two classes, and thresholds chosen on held-out rows for them."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from separatrix import Experiment
from separatrix.errors import DataError, ParameterError
from separatrix.models import load


def _rare(n=1500, seed=0):
    """One row in twelve is a fraud, seen through noise."""
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(n) < 1 / 12, "fraud", "ok")
    X = generator.normal(size=(n, 3))
    X[:, 0] += 1.5 * (y == "fraud")
    return X, y


def _run(metric, learner="logistic_regression", **given):
    given = {"features": "plain", "learners": [learner]} | given
    return Experiment(_rare(), metric=metric, **given).run()


@pytest.mark.parametrize("learner", ["logistic_regression", "linear_svm"])
def test_a_threshold_is_chosen_for_f1(learner, tmp_path):
    plain = _run("accuracy", learner)
    found = _run("f1", learner)
    X, y = _rare(4000, 1)
    scores = [f1_score(y, one.model.predict(X), pos_label="fraud") for one in (plain, found)]
    assert scores[1] > scores[0] + 0.1
    assert found.metric.title == "F1 of class fraud"
    assert any("its probability is above" in note for note in found.notes)
    found.save(tmp_path / "model.sx")
    np.testing.assert_array_equal(load(tmp_path / "model.sx").predict(X), found.model.predict(X))


def test_the_threshold_is_chosen_on_held_out_rows():
    # Were it chosen on test rows, no threshold could do better there.
    found = _run("balanced_accuracy")
    assert found.champion.held_out > 0.65
    assert 0.6 < found.test_score < 0.85


@pytest.mark.parametrize(
    ("metric", "score"),
    [("roc_auc", roc_auc_score), ("average_precision", average_precision_score)],
)
@pytest.mark.parametrize("learner", ["logistic_regression", "linear_svm"])
def test_metrics_of_rankings(metric, score, learner):
    found = _run(metric, learner)
    X, y = _rare(3000, 2)
    chances = found.model.predict_proba(X)[:, 0]
    assert found.metric(found.model, X, y) == pytest.approx(score(y == "fraud", chances))
    assert found.leaderboard[0].learner == learner


@pytest.mark.parametrize("metric", ["f1", "roc_auc", "average_precision"])
def test_they_are_for_two_classes(metric):
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(ParameterError, match=f"{metric} is for two classes, and there are 3"):
        Experiment((X, np.arange(60) % 3), metric=metric).run()


@pytest.mark.parametrize("weights", ["balanced", {"fraud": 12, "ok": 1}])
def test_class_weights_find_more_of_the_rarer_class(weights):
    X, y = _rare(3000, 3)
    # A metric that does not see where the threshold lies.
    plain = _run("roc_auc", calibration="none")
    found = _run("roc_auc", calibration="none", class_weight=weights)
    recalls = [np.mean(one.model.predict(X)[y == "fraud"] == "fraud") for one in (plain, found)]
    assert recalls[1] > recalls[0] + 0.2


def test_learners_that_cannot_weigh_classes_are_left_out():
    given = {"learners": ["naive_bayes", "logistic_regression"], "class_weight": "balanced"}
    found = _run("accuracy", **given)
    assert "naive_bayes" not in [row.learner for row in found.leaderboard]
    assert any("naive_bayes" in note for note in found.notes)
    with pytest.raises(ParameterError, match="naive_bayes cannot weigh classes"):
        _run("accuracy", "naive_bayes", class_weight="balanced")
    with pytest.raises(ParameterError, match="'theft', which is no class"):
        _run("accuracy", class_weight={"theft": 2})


def test_many_classes_of_one_row_are_told():
    y = np.repeat(np.arange(40), 3)
    X = np.random.default_rng(0).normal(size=(120, 2))
    found = Experiment((X, y), learners=["naive_bayes"], task="classification").run()
    told = next(one for one in found.serious if one.kind == "few rows")
    assert "40 classes, and 40 of these have one or two rows each" in told.message
    assert "Merge rare classes" in told.message
    with pytest.raises(DataError, match="classes of one or two rows cannot be split"):
        Experiment((X[:80], np.repeat(np.arange(40), 2)), task="classification").run()
