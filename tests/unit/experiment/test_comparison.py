"""The record of a comparison: its interval, its text and its JSON."""

from __future__ import annotations

import json
import math

import pytest
from scipy.stats import binom

from separatrix.experiment import Comparison, LeaderboardRow
from separatrix.experiment.comparison import credible_interval


def make_comparison():
    rows = (
        LeaderboardRow("linear_svm", "C = 0.1", 0.1, 0.9625, 0.0512, 61.7, 9.5e-06, "dual", True),
        LeaderboardRow(
            "majority_class", "-", None, 0.1, 0.001, 1, math.nan, "counting", True, True
        ),
    )
    return Comparison(
        leaderboard=rows,
        champion=rows[0],
        test_accuracy=0.95,
        test_interval=credible_interval(95, 100),
        test_correct=95,
        n_train=300,
        n_held_out=100,
        n_test=100,
        n_features=64,
        n_classes=10,
        steps=("Features are scaled.",),
        seconds=0.1,
        random_state=0,
        model=object(),
    )


@pytest.mark.parametrize(("right", "n"), [(0, 10), (10, 10), (95, 100), (7, 13)])
def test_interval_ends_have_the_tails_of_the_posterior(right, n):
    low, high = credible_interval(right, n)
    assert 0 < low < high < 1
    # P(Beta(1 + k, 1 + n - k) <= p) = P(Binomial(n + 1, p) > k)
    assert binom.sf(right, n + 1, low) == pytest.approx(0.025)
    assert binom.sf(right, n + 1, high) == pytest.approx(0.975)


def test_text_has_a_line_per_learner_and_ends_with_the_verdict():
    lines = str(make_comparison()).splitlines()
    assert lines[0] == "300 train, 100 held-out and 100 test rows, 64 features, 10 classes"
    assert lines[1] == "Features are scaled."
    assert lines[3].split() == [
        "learner", "setting", "held-out", "seconds", "passes", "gap", "solver",
    ]  # fmt: skip
    assert lines[4].split() == [
        "linear_svm", "C", "=", "0.1", "0.9625", "0.051", "62", "9.5e-06", "dual",
    ]  # fmt: skip
    assert lines[-1].startswith("Champion: linear_svm (C = 0.1), test accuracy 0.9500 (95 of 100;")


def test_dictionary_is_strict_json():
    record = json.loads(json.dumps(make_comparison().to_dict(), allow_nan=False))
    assert record["champion"] == "linear_svm"
    assert record["leaderboard"][1]["gap"] is None
    assert record["leaderboard"][0]["held_out"] == 0.9625
    assert "model" not in record
