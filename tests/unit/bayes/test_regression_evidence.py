"""Bayesian linear regression: the evidence, its optimum, and every ridge value at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from separatrix import BayesianLinearRegression
from tests.unit.bayes.regression_problems import KNOWN, problem


@pytest.mark.parametrize("shape", [(60, 5), (200, 30), (20, 40)])
def test_same_optimum_as_bayesian_ridge(shape):
    X, y = problem(*shape, offset=0.5)
    model = BayesianLinearRegression(fit_intercept=False).fit(X, y)
    peer = BayesianRidge(
        alpha_1=0,
        alpha_2=0,
        lambda_1=0,
        lambda_2=0,
        fit_intercept=False,
        tol=1e-13,
        max_iter=100_000,
    ).fit(X, y)
    mine = model.log_evidence()
    at_peer = BayesianLinearRegression(
        prior_precision=peer.lambda_,
        noise="known",
        noise_variance=1 / peer.alpha_,
        fit_intercept=False,
    ).fit(X, y)
    assert mine >= at_peer.log_evidence() - 1e-9
    if shape[0] > shape[1]:
        np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-5, atol=1e-7)
        assert model.noise_variance_ == pytest.approx(1 / peer.alpha_, rel=1e-5)
        assert model.prior_scale_ == pytest.approx(1 / peer.lambda_, rel=1e-5)
        new = np.random.default_rng(5).standard_normal((4, shape[1]))
        std = peer.predict(new, return_std=True)[1]
        np.testing.assert_allclose(model.predict(new, return_std=True)[1], std, rtol=1e-5)


@pytest.mark.parametrize("given", [{}, {"noise_variance": 0.3}, {"ridge": 2.0}])
@pytest.mark.parametrize("intercept_prior", [None, (1.0, 5.0)])
def test_evidence_is_highest_at_the_fit(given, intercept_prior):
    X, y = problem()
    model = BayesianLinearRegression(intercept_prior=intercept_prior, **given).fit(X, y)
    spectrum = model.posterior_.spectrum
    best = spectrum.log_evidence(np.array(model.ridge_), model.noise_variance_)
    for factor in (0.9, 1.1):
        if "ridge" not in given:
            ridge = np.array(model.ridge_ * factor)
            assert spectrum.log_evidence(ridge, model.noise_variance_) < best
        if "noise_variance" not in given:
            ridge = np.array(model.ridge_)
            assert spectrum.log_evidence(ridge, model.noise_variance_ * factor) < best


def test_ridge_path_and_leave_one_out_equal_fits():
    X, y = problem(n=15)
    weights = np.random.default_rng(2).uniform(0.5, 2, 15)
    grid = [0.01, 1.0, 30.0]
    for settings in ({**KNOWN, "intercept_prior": (0.0, 3.0)}, {"noise": "conjugate"}):
        model = BayesianLinearRegression(ridge=1.0, **settings).fit(X, y, weights)
        path = model.ridge_path(grid)
        left = model.leave_one_out(X, y, weights, grid)
        for k, ridge in enumerate(grid):
            single = BayesianLinearRegression(ridge=ridge, **settings).fit(X, y, weights)
            np.testing.assert_allclose(path.coefs[k], single.coef_, rtol=1e-9)
            assert path.intercepts[k] == pytest.approx(single.intercept_)
            if "intercept_prior" in settings:
                assert path.log_evidences[k] == pytest.approx(single.log_evidence())
            for i in (0, 7):
                others = np.arange(15) != i
                without = BayesianLinearRegression(ridge=ridge, **settings)
                without.fit(X[others], y[others], weights[others])
                distribution = without.predictive(X[i : i + 1])
                assert left.means[k, i] == pytest.approx(without.predict(X[i : i + 1])[0])
                density = distribution.logpdf(y[i])[0]
                assert left.log_densities[k, i] == pytest.approx(density, rel=1e-8)
        errors = np.average((y - left.means) ** 2, axis=1, weights=weights)
        np.testing.assert_allclose(left.mean_squared_errors, errors)
    evidence = BayesianLinearRegression(fit_intercept=False).fit(X, y)
    path = evidence.ridge_path([evidence.ridge_ * f for f in (0.8, 1.0, 1.25)])
    assert path.log_evidences.argmax() == 1
    assert path.log_evidences[1] == pytest.approx(evidence.log_evidence())
