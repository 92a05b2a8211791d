"""A target of many numbers is a regression: baselines, errors, densities, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.experiment import Experiment, Given
from separatrix.experiment.source import as_dataset
from separatrix.report.parts import RegressionReport
from tests.unit.experiment.problems import line

BEST = ["bayesian_regression"]


def report_of(result):
    return next(part for part in result.parts if isinstance(part, RegressionReport))


def test_it_is_found_and_said():
    result = Experiment(line(), "price", learners=BEST).run()
    assert result.task.name == "regression"
    assert "Task: regression ('price' holds 300 different numbers)" in str(result)
    assert "decided by root mean squared error" in str(result)
    assert "classes" not in result.sizes


def test_baselines_are_mean_and_median_and_the_line_beats_them():
    result = Experiment(line(150), "price", reference=False).run()
    names = [row.learner for row in result.leaderboard]
    assert set(names) == {
        "mean_value",
        "median_value",
        "bayesian_regression",
        "polynomial_regression",
        "radial_regression",
    }
    assert set(names[-2:]) == {"mean_value", "median_value"}
    assert result.champion.learner == "bayesian_regression"
    assert result.champion.solver == "closed form"
    assert result.test_score == pytest.approx(0.5, rel=0.3)
    score = result.test.scores[0]
    assert score.low < result.test_score < score.high


def test_errors_density_and_coverage_are_those_of_the_champion():
    rows, fresh = line(400), line(2000, seed=1)
    data = as_dataset(fresh, "price")
    result = Experiment(rows, "price", learners=BEST, split=Given(data)).run()
    found = report_of(result)
    mean = result.model.predict(result.inputs.take(data))
    assert result.test_score == found.rmse == pytest.approx(np.sqrt(np.mean((mean - data.y) ** 2)))
    assert found.mean_absolute_error == pytest.approx(np.mean(np.abs(mean - data.y)))
    # The density of the truth, a normal of standard deviation 1/2, is hard to beat.
    entropy = -0.5 * np.log(2 * np.pi * np.e * 0.25)
    assert found.log_predictive_density == pytest.approx(entropy, abs=0.05)
    for one in found.coverage:
        # Three standard deviations of a share of 2000 rows, and some for 400 rows of training.
        assert one.observed == pytest.approx(one.level, abs=0.06)


def test_the_baselines_cover_what_they_say():
    rows, fresh = line(400), as_dataset(line(2000, seed=1), "price")
    result = Experiment(rows, "price", learners=[], split=Given(fresh)).run()
    assert result.champion.learner in ("mean_value", "median_value")
    for one in report_of(result).coverage:
        assert one.observed == pytest.approx(one.level, abs=0.08)


def test_bent_lines_are_won_by_bent_learners():
    random = np.random.default_rng(0)
    x, z = random.uniform(-2, 2, (2, 200))
    rows = {"x": x, "z": z, "y": np.sin(3 * x) + z**2 + 0.1 * random.normal(size=200)}
    result = Experiment(rows, "y").run()
    scores = {row.learner: row.held_out for row in result.leaderboard}
    assert result.champion.learner == "radial_regression"
    assert result.champion.setting.startswith("gamma = ")
    assert scores["radial_regression"] < 0.3
    plain = Experiment(rows, "y", learners=["bayesian_regression"], features="plain").run()
    assert scores["radial_regression"] < scores["bayesian_regression"] < 0.5
    assert plain.leaderboard[0].held_out > 0.5
    assert np.isfinite(report_of(result).log_predictive_density)


def test_log_density_decides_where_it_is_asked_for():
    result = Experiment(
        line(150), "price", metric="log_density", learners=["polynomial_regression", *BEST],
        folds=1,
    ).run()  # fmt: skip
    scores = [row.held_out for row in result.leaderboard]
    assert scores == sorted(scores, reverse=True)
    assert result.champion.learner == "bayesian_regression"
    assert 0.5 < result.test.probability_better <= 1


def test_a_regression_can_be_asked_for():
    rows = line()
    rows["price"] = np.round(rows["price"])
    assert Experiment(rows, "price", learners=[]).run().task.name == "multiclass"
    assert Experiment(rows, "price", task="regression", learners=BEST).run().test_score < 0.8


def test_a_constant_test_set_and_few_rows():
    rows = {name: values[:20] for name, values in line().items()}
    result = Experiment(rows, "price", learners=BEST).run()
    assert [result.sizes[part] for part in ("train", "held-out", "test")] == [12, 4, 4]
    assert result.to_html()
