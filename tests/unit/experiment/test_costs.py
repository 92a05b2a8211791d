"""Costs are read by name, decide the selection, and rule the predictions."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import BayesDecision, load
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import Experiment
from separatrix.tasks.classes import read_costs
from tests.unit.experiment.problems import QUICK, blobs, line

CLASSES = np.array(["a", "b", "c"])
COST = np.array([[0, 1, 1], [1, 0, 1], [20, 20, 0.0]])


def test_rows_and_columns_are_found_by_name():
    text = b"truth,c,a,b\nb,1,1,0\nc,0,20,20\na,1,0,1\n"
    np.testing.assert_array_equal(read_costs(text, CLASSES), COST)
    numbers = read_costs(b"truth,0,1\n1,5,0\n0,0,2\n", np.array([0.0, 1.0]))
    np.testing.assert_array_equal(numbers, [[0, 2], [5, 0]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"truth,a,b\na,0,1\nb,1,0\nc,1,1\n", "one column for each class .*'c' is missing"),
        (b"truth,a,b,c\na,0,1,1\nb,1,0,1\n", "one row for each class .*'c' is missing"),
        (b"truth,a,b,d\na,0,1,1\nb,1,0,1\nc,1,1,1\n", "'d' is not one"),
        (b"truth,a,b,c\na,0,1,1\nb,1,0,1\nc,1,x,1\n", "costs must be numbers"),
        (b"truth,a,b,c\na,0,1,1\nb,1,0,1\nc,1,,1\n", "[Nn]aN|finite|missing"),
    ],
)
def test_what_is_wrong_is_said(text, words):
    with pytest.raises((DataError, ParameterError), match=words):
        read_costs(text, CLASSES)


@pytest.mark.parametrize("learners", [QUICK, ["linear_svm"]])
def test_costs_decide_and_the_champion_minimizes_them(learners, tmp_path):
    X, y = blobs(300, spread=2.0)
    result = Experiment((X, y), cost=COST, learners=learners).run()
    assert result.metric.name == "cost"
    held = [row.held_out for row in result.leaderboard]
    assert held == sorted(held)
    assert isinstance(result.model[-1], BayesDecision)
    shares = result.model.predict_proba(X)
    np.testing.assert_array_equal(result.model.predict(X), CLASSES[(shares @ COST).argmin(axis=1)])
    plain = Experiment((X, y), learners=learners).run()
    dear = y == "c"
    assert np.mean(result.model.predict(X)[dear] == "c") > np.mean(
        plain.model.predict(X)[dear] == "c"
    )
    result.save(tmp_path / "model.sx")
    np.testing.assert_array_equal(load(tmp_path / "model.sx").predict(X), result.model.predict(X))


def test_the_test_score_is_the_mean_cost_of_the_predictions():
    X, y = blobs(300, spread=2.0)
    fresh, truth = blobs(200, seed=1, spread=2.0)
    from separatrix.experiment import Given

    result = Experiment((X, y), cost=COST, learners=QUICK, split=Given((fresh, truth))).run()
    said = np.searchsorted(CLASSES, result.model.predict(fresh))
    paid = COST[np.searchsorted(CLASSES, truth), said].mean()
    assert result.test_score == pytest.approx(paid)
    score = result.test.scores[0]
    assert score.low < paid < score.high
    assert 0 <= result.test.probability_better <= 1


def test_another_metric_may_decide_while_costs_rule_the_predictions():
    X, y = blobs(300, spread=2.0)
    result = Experiment((X, y), cost=COST, metric="accuracy", learners=QUICK).run()
    assert result.metric.name == "accuracy"
    assert isinstance(result.model[-1], BayesDecision)


def test_scores_become_probabilities_even_if_no_calibration_is_wanted():
    result = Experiment(blobs(), cost=COST, calibration="none", learners=["linear_svm"]).run()
    assert result.model[-1].estimator_.method == "temperature"
    assert any("Temperature" in note for note in result.notes)


def test_what_costs_cannot_do():
    with pytest.raises(ParameterError, match="costs are for classes, but this is a regression"):
        Experiment(line(), "price", cost=COST).run()
    with pytest.raises((ParameterError, DataError), match=r"cost|shape"):
        Experiment(blobs(), cost=COST[:2, :2]).run()
    with pytest.raises(ParameterError, match="needs a cost matrix"):
        Experiment(blobs(), metric="cost").run()
