"""Bayesian linear regression: what does not exist is said."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import BayesianLinearRegression
from separatrix.errors import DataError, NotFittedError, ParameterError
from tests.unit.bayes.regression_problems import KNOWN, problem


def test_flat_priors_have_no_evidence_and_no_prior_predictive():
    X, y = problem()
    model = BayesianLinearRegression().fit(X, y)
    for call in (model.log_evidence, lambda: model.prior_predictive(X), model.prior):
        with pytest.raises(ParameterError, match="intercept_prior"):
            call()
    jeffreys = BayesianLinearRegression(
        noise="conjugate", noise_shape=0.0, noise_scale=0.0, fit_intercept=False
    ).fit(X, y)
    for call in (jeffreys.log_evidence, lambda: jeffreys.prior_predictive(X)):
        with pytest.raises(ParameterError, match="noise_shape"):
            call()


def test_prior_predictive_before_and_after_fit():
    X, y = problem()
    model = BayesianLinearRegression(1.0, prior_covariance=2.0, intercept_prior=(3.0, 0.5), **KNOWN)
    before = model.prior_predictive(X)
    np.testing.assert_allclose(before.mean(), X.sum(axis=1) + 3)
    np.testing.assert_allclose(before.var(), 2 * (X**2).sum(axis=1) + 0.5 + 0.3)
    np.testing.assert_allclose(model.fit(X, y).prior_predictive(X).std(), before.std())
    np.testing.assert_allclose(model.prior().mean, [1, 1, 1, 1, 3])
    with pytest.raises(NotFittedError, match="fit"):
        BayesianLinearRegression(fit_intercept=False).prior_predictive(X)
    conjugate = BayesianLinearRegression(noise="conjugate", noise_shape=3.0, fit_intercept=False)
    assert conjugate.prior_predictive(X).kwds == {}
    np.testing.assert_allclose(conjugate.prior_predictive(X).var(), ((X**2).sum(axis=1) + 1) * 0.5)


@pytest.mark.parametrize(
    "parameters",
    [
        {"noise": "nonsense"},
        {"noise": "known"},
        {"noise": "known", "noise_variance": -1.0},
        {"noise": "conjugate", "noise_variance": 1.0},
        {"noise": "conjugate", "noise_shape": -1.0},
        {"ridge": 0.0},
        {"ridge": 1.0, "prior_covariance": 1.0},
        {"prior_covariance": 1.0, "prior_precision": 1.0},
        {"prior_covariance": -np.eye(4)},
        {"prior_covariance": np.eye(3)},
        {"prior_covariance": np.triu(np.ones((4, 4)))},
        {"prior_precision": 0.0},
        {"prior_precision": np.zeros((4, 4))},
        {"prior_mean": [1.0, 2.0]},
        {"prior_mean": np.nan},
        {"intercept_prior": 3.0},
        {"intercept_prior": (0.0, -1.0)},
        {"intercept_prior": (0.0, 1.0), "fit_intercept": False},
    ],
)
def test_bad_parameters(parameters):
    X, y = problem()
    with pytest.raises(ParameterError):
        BayesianLinearRegression(**parameters).fit(X, y)


def test_bad_calls():
    X, y = problem()
    model = BayesianLinearRegression(fit_intercept=False).fit(X, y)
    with pytest.raises(ParameterError, match="level"):
        model.credible_interval(1.5)
    with pytest.raises(ParameterError, match="ridges"):
        model.ridge_path([1.0, -1.0])
    with pytest.raises(ParameterError, match="noise"):
        model.merge(BayesianLinearRegression(noise="conjugate", fit_intercept=False).fit(X, y))
    with pytest.raises(ParameterError, match="n_features"):
        BayesianLinearRegression(**KNOWN, fit_intercept=False).prior()
    with pytest.raises(ValueError, match="zero"):
        BayesianLinearRegression().fit(X, y, np.zeros(40))
    with pytest.raises(DataError, match="negative at row 2"):
        BayesianLinearRegression().fit(X, y, np.where(np.arange(40) == 2, -1.0, 1.0))
    single = BayesianLinearRegression(**KNOWN).fit(X[:1], y[:1])
    with pytest.raises(DataError, match="left out"):
        single.leave_one_out(X[:1], y[:1])
