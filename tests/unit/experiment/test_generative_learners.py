"""The generative classifiers take part in comparisons."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from separatrix import registry
from separatrix.experiment import compare
from separatrix.experiment.run import _entries

NAMES = ("naive_bayes", "gaussian_discriminant", "quadratic_discriminant")


def test_they_are_compared():
    X, y = load_wine(return_X_y=True)
    seen = []
    result = compare(X, y, learners=NAMES, progress=lambda p: seen.append((p.learner, p.step)))
    rows = {row.learner: row for row in result.leaderboard}
    assert result.champion.learner in NAMES
    assert all(rows[name].held_out > 0.9 for name in NAMES)
    assert rows["naive_bayes"].setting.startswith("smoothing = ")
    assert rows["naive_bayes"].passes == 1
    assert rows["naive_bayes"].solver == "counting"
    assert rows["naive_bayes"].converged
    assert ("naive_bayes", len(registry.K_GRID)) in seen


def test_smoothing_is_chosen_on_held_out_rows_and_kept():
    random = np.random.default_rng(0)
    y = random.integers(2, size=400)
    rates = random.gamma(0.3, size=(2, 300))
    X = sp.csr_array(random.poisson(rates[y] * 0.2).astype(float))
    result = compare(X, y, learners=["naive_bayes"])
    assert result.champion.value in registry.K_GRID
    assert result.model[-1].smoothing == result.champion.value
    assert result.test_accuracy > 0.8


@pytest.mark.parametrize("name", NAMES[1:])
def test_wide_data_is_left_to_others(name):
    entries = {entry.name for entry in _entries("auto", "binary", 20_000)}
    assert name not in entries
    assert "naive_bayes" in entries
    assert name in {entry.name for entry in _entries("auto", "binary", 20)}
    assert name in {entry.name for entry in _entries([name], "binary", 20_000)}
