"""Settings chosen by folds: every row is held out once, and scores are those of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import Experiment
from separatrix.errors import ParameterError
from separatrix.experiment import Grouped
from separatrix.experiment.folding import folds_of
from separatrix.experiment.source import as_dataset
from separatrix.tasks import find_task
from separatrix.tasks.rows import Rows


def blobs(n=240, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return random.normal(size=(n, 4)) + y[:, None] * [1.0, 0.5, 0, 0], np.array(list("abc"))[y]


def test_every_row_is_held_out_once_and_classes_are_even():
    X, y = blobs(200)
    X[:, 0] = np.arange(200)
    task = find_task(as_dataset((X, y)), "auto")
    folds = folds_of(Rows(X[:150], y[:150]), Rows(X[150:], y[150:]), task, 5, 0)
    held = [fold.held_out.X[:, 0] for fold in folds]
    assert sorted(np.concatenate(held).tolist()) == list(range(200))
    np.testing.assert_array_equal(held[0], np.arange(150, 200))
    for fold in folds:
        assert set(fold.train.X[:, 0]) | set(fold.held_out.X[:, 0]) == set(range(200))
        assert not set(fold.train.X[:, 0]) & set(fold.held_out.X[:, 0])
    for fold in folds[1:]:
        counts = np.unique(fold.held_out.y, return_counts=True)[1]
        assert counts.max() - counts.min() <= 1


def test_few_rows_take_folds_and_the_score_is_that_of_all_rows():
    data, names = blobs(), ["logistic_regression", "linear_svm", "naive_bayes"]
    result = Experiment(data, learners=names).run()
    assert any("5 folds of the train and held-out rows" in step for step in result.steps)
    n = result.sizes["train"] + result.sizes["held-out"]
    row = next(row for row in result.leaderboard if not row.baseline)
    # A share of all rows that are held out in some fold, not of those of the first alone.
    assert round(row.held_out * n) == pytest.approx(row.held_out * n, abs=1e-6)
    one = Experiment(data, learners=names, folds=1).run()
    assert not any("folds" in step for step in one.steps)
    held = [round(row.held_out * one.sizes["held-out"], 6) % 1 for row in one.leaderboard]
    assert max(held) == 0
    again = Experiment(data, learners=names).run()
    assert [r.held_out for r in again.leaderboard] == [r.held_out for r in result.leaderboard]


def test_seeds_are_summed_up():
    data, given = blobs(), {"learners": ["logistic_regression"], "features": "plain", "folds": 1}
    result = Experiment(data, repeats=3, **given).run()
    found = result.repeats
    assert found.seeds == (0, 1, 2)
    alone = [Experiment(data, random_state=seed, **given).run().test_score for seed in range(3)]
    assert list(found.scores) == alone
    assert found.mean == pytest.approx(np.mean(alone))
    # Student's t of two degrees, and the variance of Nadeau and Bengio.
    reach = 4.302653 * np.std(alone, ddof=1) * np.sqrt(1 / 3 + 48 / 192)
    assert found.high - found.mean == pytest.approx(reach, rel=1e-5)
    assert "Over 3 seeds: accuracy" in str(result)
    assert result.to_dict()["repeats"]["champions"] == ["logistic_regression"] * 3
    with pytest.raises(ParameterError, match="repeats must be a number"):
        Experiment(data, repeats=0)
    with pytest.raises(ParameterError, match="exclude each other"):
        Experiment(data, repeats=2, budget=9)


def test_folds_that_cannot_be_are_refused():
    X, y = blobs()
    table = {f"x{j}": X[:, j] for j in range(4)} | {"g": np.arange(len(y)) % 12, "class": y}
    for options, told in (
        ({"split": Grouped("g")}, "not split at random"),
        ({"budget": 60}, "with a budget"),
        ({"metric": "f1", "learners": ["perceptron"]}, "threshold"),
    ):
        data = dict(table)
        if "metric" in options:
            data["class"] = np.where(y == "a", "a", "b")
        with pytest.raises(ParameterError, match=told):
            Experiment(data, "class", folds=5, **options).run()
    with pytest.raises(ParameterError, match="folds must be a number"):
        Experiment((X, y), folds=0).run()
    assert Experiment((X, y), learners=["perceptron"], folds=3, features="plain").run().steps
