"""Baselines see labels only: their laws are about the prior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from separatrix.learners.baselines import MajorityClass, MeanValue, MedianValue, PriorSampling

BASELINES = [MajorityClass(), PriorSampling(random_state=0)]
CONSTANTS = [MeanValue(), MedianValue()]

EXPECTED_FAILURES = {
    MajorityClass: {},
    MeanValue: {},
    MedianValue: {},
    PriorSampling: {
        "check_classifiers_train": "predict draws from predict_proba instead of taking its argmax",
    },
}


@pytest.mark.parametrize("baseline", BASELINES + CONSTANTS, ids=lambda b: type(b).__name__)
def test_check_estimator(baseline):
    check_estimator(baseline, expected_failed_checks=EXPECTED_FAILURES[type(baseline)])


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: type(b).__name__)
def test_prior_is_the_relative_frequency(baseline):
    y = np.array(["b", "a", "b", "c", "b"])
    fitted = clone(baseline).fit(np.zeros((5, 2)), y)
    assert list(fitted.classes_) == ["a", "b", "c"]
    np.testing.assert_allclose(fitted.class_prior_, [0.2, 0.6, 0.2])
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((3, 2))), [[0.2, 0.6, 0.2]] * 3)
    np.testing.assert_allclose(
        fitted.predict_log_proba(np.zeros((1, 2))), np.log([[0.2, 0.6, 0.2]])
    )


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: type(b).__name__)
def test_weight_two_is_the_row_twice(baseline):
    X, y = load_iris(return_X_y=True)
    weights = np.arange(len(y)) % 4
    weighted = clone(baseline).fit(X, y, sample_weight=weights)
    repeated = clone(baseline).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.class_prior_, repeated.class_prior_)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize(
    "X",
    [
        ["one text", "two", "three"],
        np.array([["a", "b"], ["c", "d"], ["e", "f"]]),
        sp.csr_array((3, 4)),
        sp.coo_matrix((3, 4)),
        pd.DataFrame({"x": ["u", "v", "w"], "z": [1, 2, np.nan]}),
        pl.DataFrame({"x": ["u", "v", "w"]}),
    ],
    ids=["texts", "strings", "csr_array", "coo_matrix", "pandas", "polars"],
)
def test_any_features_will_do(baseline, X):
    y = ["no", "yes", "yes"]
    fitted = clone(baseline).fit(X, y)
    assert fitted.predict(X).shape == (3,)
    assert fitted.predict_proba(X).shape == (3, 2)
    assert set(fitted.predict(X)) <= {"no", "yes"}


def test_majority_tie_goes_to_the_first_class():
    assert MajorityClass().fit(np.zeros((4, 1)), [2, 1, 1, 2]).predict([[0.0]]) == [1]


def test_majority_follows_the_weights():
    baseline = MajorityClass().fit(np.zeros((3, 1)), [0, 0, 1], sample_weight=[1, 1, 5])
    assert baseline.predict([[0.0]]) == [1]


def test_prior_sampling_is_deterministic_for_an_integer_and_follows_the_prior():
    y = np.repeat([0, 1, 2], [100, 300, 600])
    X = np.zeros((1000, 1))
    baseline = PriorSampling(random_state=3).fit(X, y)
    draws = baseline.predict(X)
    np.testing.assert_array_equal(draws, baseline.predict(X))
    assert not np.array_equal(draws, PriorSampling(random_state=4).fit(X, y).predict(X))
    # 4 standard deviations of a binomial share at n = 1000.
    np.testing.assert_allclose(np.bincount(draws) / 1000, [0.1, 0.3, 0.6], atol=0.062)


def test_a_shared_generator_gives_new_draws():
    X, y = np.zeros((50, 1)), np.arange(50) % 5
    baseline = PriorSampling(random_state=np.random.RandomState(0)).fit(X, y)
    assert not np.array_equal(baseline.predict(X), baseline.predict(X))


def test_a_class_of_weight_zero_is_never_drawn():
    baseline = PriorSampling(random_state=0).fit(
        np.zeros((3, 1)), [0, 1, 2], sample_weight=[1, 0, 1]
    )
    assert 1 not in baseline.predict(np.zeros((500, 1)))
    assert baseline.predict_log_proba(np.zeros((1, 1)))[0, 1] == -np.inf


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize(
    ("X", "y", "weights", "words"),
    [
        (np.zeros((3, 1)), [0, 1], None, "inconsistent"),
        (np.zeros((2, 1)), [0.0, np.nan], None, "NaN"),
        (np.zeros((0, 1)), [], None, "0 sample"),
        (np.zeros((2, 1)), [0, 1], [0, 0], "zero"),
        (np.zeros((2, 1)), [0, 1], [1, -1], "[Nn]egative"),
        (np.zeros((2, 1)), [0, 1], [1, 1, 1], "shape"),
        (np.zeros((2, 1)), None, None, "requires y"),
    ],
)
def test_bad_input_is_a_value_error(baseline, X, y, weights, words):
    with pytest.raises(ValueError, match=words):
        clone(baseline).fit(X, y, sample_weight=weights)


def skewed(n=101, seed=0):
    return np.random.default_rng(seed).exponential(size=n)


def test_mean_and_median_are_the_best_constants():
    y = skewed()
    X = np.zeros((len(y), 2))
    for baseline, power in ((MeanValue(), 2), (MedianValue(), 1)):
        value = baseline.fit(X, y).predict(X[:3])
        assert value.tolist() == [value[0]] * 3
        others = value[0] + np.linspace(-1, 1, 201)
        losses = [np.mean(np.abs(y - other) ** power) for other in others]
        assert np.mean(np.abs(y - value[0]) ** power) <= min(losses) + 1e-12
    assert MeanValue().fit(X, y).center_ == pytest.approx(y.mean())
    assert MedianValue().fit(X, y).center_ == np.median(y)
    assert MedianValue().fit(X[:4], [4.0, 1.0, 2.0, 9.0]).center_ == 3.0


@pytest.mark.parametrize("baseline", CONSTANTS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("seed", range(5))
def test_weight_two_is_the_number_twice(baseline, seed):
    y = np.round(skewed(40, seed), 1)
    X = np.zeros((40, 1))
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weighted = clone(baseline).fit(X, y, sample_weight=weights)
    repeated = clone(baseline).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.center_ == pytest.approx(repeated.center_)
    assert weighted.spread_ == pytest.approx(repeated.spread_)


def test_predictive_distributions_are_those_of_the_highest_likelihood():
    y = skewed()
    X = np.zeros((len(y), 1))
    for baseline, family in ((MeanValue(), stats.norm), (MedianValue(), stats.laplace)):
        found = baseline.fit(X, y).predictive(X)
        best = family(*family.fit(y)).logpdf(y).sum()
        assert found.logpdf(y).sum() == pytest.approx(best, abs=1e-6)
        low, high = found.interval(0.8)
        assert low.shape == high.shape == y.shape
    # One value only: the distribution is a spike, not a division by zero.
    spike = MeanValue().fit(X[:2], [3.0, 3.0]).predictive(X[:1])
    assert np.isfinite(spike.mean()).all()
    assert spike.interval(0.95) == (pytest.approx([3.0]), pytest.approx([3.0]))


@pytest.mark.parametrize("baseline", CONSTANTS, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize(
    ("X", "y", "weights", "words"),
    [
        (np.zeros((3, 1)), [0.0, 1.0], None, "inconsistent"),
        (np.zeros((2, 1)), [0.0, np.nan], None, "NaN"),
        (np.zeros((0, 1)), [], None, "0 sample"),
        (np.zeros((2, 1)), [0.0, 1.0], [0, 0], "zero"),
        (np.zeros((2, 1)), [0.0, 1.0], [1, -1], "[Nn]egative"),
        (np.zeros((2, 1)), None, None, "requires y"),
    ],
)
def test_bad_quantities_are_a_value_error(baseline, X, y, weights, words):
    with pytest.raises(ValueError, match=words):
        clone(baseline).fit(X, y, sample_weight=weights)
