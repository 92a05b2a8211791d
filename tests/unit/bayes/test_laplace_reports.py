"""Laplace posterior of logistic regression: what is reported, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from separatrix import (
    BayesianLinearRegression,
    LaplaceLogisticRegression,
    LogisticRegression,
)
from separatrix.bayes import credible_interval, posterior_mean, posterior_median, posterior_mode
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import top_weights
from tests.unit.bayes.laplace_problems import problem


def test_odds_ratios_of_two_classes():
    X, y = problem()
    frame = pd.DataFrame(X, columns=["age", "dose", "weight"])
    labels = np.array(["healthy", "ill"])[y]
    model = LaplaceLogisticRegression().fit(frame, labels)
    odds = model.odds_ratios(level=0.9)
    np.testing.assert_allclose(odds.ratios, np.exp(model.coef_))
    np.testing.assert_allclose(np.log(odds.lower), model.credible_interval(0.9).coef[..., 0])
    assert odds.classes == ("ill",)
    against = model.odds_ratios(level=0.9, reference="ill")
    assert against.classes == ("healthy",)
    np.testing.assert_allclose(against.ratios, 1 / odds.ratios)
    np.testing.assert_allclose(against.lower, 1 / odds.upper)
    text = str(model.odds_ratios(top=2))
    assert "odds of ill" in text
    assert len(text.splitlines()) == 4
    table = odds.table()
    assert {row["feature"] for row in table} == {"age", "dose", "weight"}
    assert pd.DataFrame(table).shape == (3, 5)


def test_odds_ratios_of_many_classes():
    X, y = load_iris(return_X_y=True)
    model = LaplaceLogisticRegression(10.0).fit(X, y)
    odds = model.odds_ratios()
    np.testing.assert_allclose(np.log(odds.ratios), model.coef_, atol=1e-7)
    against = model.odds_ratios(reference=1)
    np.testing.assert_allclose(np.log(against.ratios), model.coef_ - model.coef_[1], atol=1e-7)
    np.testing.assert_allclose(against.lower[1], 1)
    draws = model.sample_weights(60_000, 0)[..., :4]
    contrast = draws[:, 2] - draws[:, 1]
    reach = np.log(against.upper[2] / against.ratios[2]) / stats.norm.isf(0.025)
    np.testing.assert_allclose(contrast.std(axis=0), reach, rtol=0.03)


def test_from_estimator():
    X, y = problem(3)
    estimator = LogisticRegression(C=0.5, tol=1e-12).fit(X, y)
    model = LaplaceLogisticRegression.from_estimator(estimator, X, y, prediction="monte_carlo")
    np.testing.assert_array_equal(model.coef_, estimator.coef_)
    assert (model.C_, model.prediction) == (0.5, "monte_carlo")
    direct = LaplaceLogisticRegression(0.5, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(
        model.credible_interval().coef, direct.credible_interval().coef, atol=1e-5
    )
    with pytest.raises(ParameterError, match="penalty"):
        LaplaceLogisticRegression.from_estimator(LogisticRegression("l1").fit(X, y), X, y)
    with pytest.raises(ParameterError, match="option"):
        LaplaceLogisticRegression.from_estimator(estimator, X, y, C=3.0)
    with pytest.raises(ParameterError, match="LogisticRegression"):
        LaplaceLogisticRegression.from_estimator("no", X, y)
    with pytest.raises(DataError, match="classes"):
        LaplaceLogisticRegression.from_estimator(estimator, X, y % 2)
    with pytest.raises(DataError, match="features"):
        LaplaceLogisticRegression.from_estimator(estimator, X[:, :2], y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": "nonsense"},
        {"C": -1.0},
        {"covariance": "nonsense"},
        {"prediction": "nonsense"},
        {"rank": 0},
        {"n_draws": 0},
    ],
)
def test_bad_parameters(parameters):
    X, y = problem()
    with pytest.raises(ParameterError):
        LaplaceLogisticRegression(**parameters).fit(X, y)


def test_bad_calls():
    X, y = problem()
    model = LaplaceLogisticRegression().fit(X, y)
    with pytest.raises(ParameterError, match="level"):
        model.credible_interval(0.0)
    with pytest.raises(ParameterError, match="reference"):
        model.odds_ratios(reference="nobody")
    with pytest.raises(DataError, match="row 0, column 1"):
        model.predict_proba([[0.0, np.nan, 0.0]])


def test_arviz_gets_named_draws(monkeypatch):
    X, y = problem(3)
    handed = {}

    def keep(draws, *, coords, dims):
        handed.update(draws=draws, coords=coords, dims=dims)
        return handed

    monkeypatch.setattr("separatrix.bayes.interchange.draws_to_arviz", keep)
    LaplaceLogisticRegression().fit(X, y).to_arviz(10, random_state=0)
    assert handed["draws"]["coef"].shape == (1, 10, 3, 3)
    assert handed["draws"]["intercept"].shape == (1, 10, 3)
    assert handed["coords"]["class"] == ["0", "1", "2"]
    assert handed["dims"] == {"coef": ["class", "feature"], "intercept": ["class"]}
    LaplaceLogisticRegression().fit(X, y == 1).to_arviz(10, random_state=0)
    assert handed["coords"]["class"] == ["True"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    BayesianLinearRegression().fit(frame, y).to_arviz(10, random_state=0)
    assert handed["draws"]["coef"].shape == (1, 10, 3)
    assert handed["coords"]["feature"] == ["a", "b", "c"]
    assert handed["dims"] == {"coef": ["feature"]}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_estimates_of_the_posterior_are_those_of_the_weights(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = LaplaceLogisticRegression().fit(X, y)
    weights = np.column_stack([model.coef_, model.intercept_])
    for estimate in (posterior_mean, posterior_mode, posterior_median):
        np.testing.assert_allclose(estimate(model.posterior_), weights, atol=1e-9)
    ends = model.credible_interval(0.9)
    both = np.concatenate([ends.coef, ends.intercept[:, None]], axis=1)
    for kind in ("equal", "highest"):
        found = credible_interval(model.posterior_, 0.9, kind)
        np.testing.assert_allclose(found, both, rtol=1e-4, atol=1e-6)
    line = BayesianLinearRegression().fit(X, y)
    for estimate in (posterior_mean, posterior_mode, posterior_median):
        found = estimate(line.posterior_)
        np.testing.assert_allclose(found, [*line.coef_, line.intercept_], atol=1e-9)


def test_odds_ratios_of_one_class():
    X, y = load_iris(return_X_y=True)
    model = LaplaceLogisticRegression().fit(X, y)
    every, one = model.odds_ratios(), model.odds_ratios(1, feature_names=list("abcd"))
    assert (one.classes, one.features) == (("1",), ("a", "b", "c", "d"))
    np.testing.assert_allclose(one.ratios, every.ratios[1:2])
    np.testing.assert_allclose(one.upper, every.upper[1:2])
    two = LaplaceLogisticRegression().fit(X[:100], y[:100])
    np.testing.assert_allclose(two.odds_ratios(0).ratios, 1 / two.odds_ratios(1).ratios)
    with pytest.raises(ParameterError, match="label must be one of"):
        model.odds_ratios(0.9)
    with pytest.raises(ParameterError, match="both 1"):
        two.odds_ratios(1, reference=1)
    with pytest.raises(ParameterError, match="4 columns"):
        model.odds_ratios(feature_names=["a"])


def test_top_weights_are_weights():
    X, y = load_iris(return_X_y=True)
    (found, *_) = top_weights(LaplaceLogisticRegression().fit(X, y), top=1)
    assert found.kind == "weight"
