"""Bayesian linear regression: the formulas of the notes, and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge

from separatrix import BayesianLinearRegression
from tests.checks import check, each
from tests.unit.bayes.regression_problems import KNOWN, MODES, covariance, problem


@each(
    [
        BayesianLinearRegression(),
        BayesianLinearRegression(noise="known", noise_variance=1.0),
        BayesianLinearRegression(noise="conjugate", intercept_prior=(0.0, 10.0)),
        BayesianLinearRegression(fit_intercept=False),
    ]
)
def test_scikit_learn_checks(estimator):
    check(estimator)


# -- closed forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 4), (3, 6), (1, 2)])
@pytest.mark.parametrize("full", [False, True])
def test_posterior_is_the_formula_of_the_notes(shape, full):
    X, y = problem(*shape)
    d = shape[1]
    prior = covariance(d) if full else np.eye(d) / 2
    mean = np.arange(d) / 3
    model = BayesianLinearRegression(mean, prior_covariance=prior, fit_intercept=False, **KNOWN)
    model.fit(X, y)
    precision = X.T @ X / 0.3 + np.linalg.inv(prior)
    expected = np.linalg.solve(precision, X.T @ y / 0.3 + np.linalg.solve(prior, mean))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    posterior = model.posterior()
    np.testing.assert_allclose(posterior.mean, expected, rtol=1e-9)
    np.testing.assert_allclose(posterior.cov, np.linalg.inv(precision), rtol=1e-8, atol=1e-12)
    other = BayesianLinearRegression(
        mean, prior_precision=np.linalg.inv(prior), fit_intercept=False, **KNOWN
    ).fit(X, y)
    np.testing.assert_allclose(other.coef_, expected, rtol=1e-8)
    np.testing.assert_allclose(other.posterior().cov, posterior.cov, rtol=1e-7, atol=1e-12)
    intervals = model.credible_interval(0.9).coef
    ends = stats.norm(expected, np.sqrt(np.diagonal(posterior.cov))).interval(0.9)
    np.testing.assert_allclose(intervals, np.stack(ends, axis=-1), rtol=1e-7)


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
@pytest.mark.parametrize("intercept", [False, True])
def test_map_is_ridge(settings, intercept):
    X, y = problem()
    model = BayesianLinearRegression(ridge=2.5, fit_intercept=intercept, **settings).fit(X, y)
    ridge = Ridge(alpha=2.5, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-10)
    assert model.intercept_ == pytest.approx(ridge.intercept_, rel=1e-10)
    assert model.ridge_ == 2.5
    assert model.prior_scale_ == pytest.approx(model.noise_variance_ / 2.5)


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
def test_predictive_variance_is_parameter_part_plus_noise_part(settings):
    X, y = problem()
    model = BayesianLinearRegression(**settings).fit(X, y)
    new = np.random.default_rng(3).standard_normal((5, 4))
    parameter, noise = model.variance_parts(new)
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(std**2, parameter + noise, rtol=1e-12)
    np.testing.assert_allclose(model.predictive(new).var(), parameter + noise, rtol=1e-12)
    np.testing.assert_allclose(model.predictive(new, noise=False).var(), parameter, rtol=1e-12)
    np.testing.assert_allclose(model.predictive(new).mean(), mean)
    posterior = model.posterior()
    cov = posterior.cov if settings["noise"] != "conjugate" else posterior.shape
    rows = np.column_stack([new, np.ones(5)])
    direct = np.einsum("ni,ij,nj->n", rows, cov, rows) * model.posterior_.inflation
    np.testing.assert_allclose(parameter, direct, rtol=1e-9)
    if settings["noise"] == "known":
        np.testing.assert_allclose(noise, 0.3)


def test_flat_intercept_is_the_limit_of_wide_ones_and_no_intercept_of_tight_ones():
    X, y = problem()
    settings = {"prior_covariance": 2.0, **KNOWN}
    flat = BayesianLinearRegression(**settings).fit(X, y)
    wide = BayesianLinearRegression(intercept_prior=(5.0, 1e9), **settings).fit(X, y)
    np.testing.assert_allclose(wide.posterior().mean, flat.posterior().mean, rtol=1e-7)
    np.testing.assert_allclose(wide.posterior().cov, flat.posterior().cov, rtol=1e-6)
    none = BayesianLinearRegression(fit_intercept=False, **settings).fit(X, y)
    tight = BayesianLinearRegression(intercept_prior=(0.0, 0.0), **settings).fit(X, y)
    np.testing.assert_allclose(tight.coef_, none.coef_, rtol=1e-10)
    assert tight.intercept_ == pytest.approx(0)


@pytest.mark.parametrize("noise", ["known", "conjugate"])
def test_a_proper_intercept_is_one_more_weight(noise):
    X, y = problem()
    settings = {"noise": noise} | ({"noise_variance": 0.3} if noise == "known" else {})
    diagonal = np.array([1.0, 2.0, 0.5, 1.0])
    model = BayesianLinearRegression(
        prior_covariance=diagonal, intercept_prior=(0.7, 3.0), **settings
    ).fit(X, y)
    ones = BayesianLinearRegression(
        [0, 0, 0, 0, 0.7], prior_covariance=[*diagonal, 3.0], fit_intercept=False, **settings
    ).fit(np.column_stack([X, np.ones(len(X))]), y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], ones.coef_, rtol=1e-10)
    assert model.log_evidence() == pytest.approx(ones.log_evidence(), rel=1e-12)
    mine, theirs = model.credible_interval(), ones.credible_interval()
    np.testing.assert_allclose([*mine.coef, mine.intercept], theirs.coef, rtol=1e-9)
    new = np.ones((1, 4))
    np.testing.assert_allclose(
        model.prior_predictive(new).std(), ones.prior_predictive(np.ones((1, 5))).std()
    )


# -- brute force -------------------------------------------------------------------------------


def test_evidence_is_the_density_of_y():
    X, y = problem(n=6)
    model = BayesianLinearRegression(
        0.5, prior_covariance=covariance(4), intercept_prior=(1.0, 2.0), **KNOWN
    ).fit(X, y)
    cov = X @ covariance(4) @ X.T + 2.0 + 0.3 * np.eye(6)
    expected = stats.multivariate_normal(X.sum(axis=1) * 0.5 + 1.0, cov).logpdf(y)
    assert model.log_evidence() == pytest.approx(expected, rel=1e-10)
    conjugate = BayesianLinearRegression(
        0.5,
        prior_covariance=covariance(4),
        intercept_prior=(1.0, 2.0),
        noise="conjugate",
        noise_shape=2.0,
        noise_scale=0.7,
    ).fit(X, y)
    unit = X @ covariance(4) @ X.T + 2.0 + np.eye(6)
    expected = stats.multivariate_t(X.sum(axis=1) * 0.5 + 1.0, unit * 0.35, df=4).logpdf(y)
    assert conjugate.log_evidence() == pytest.approx(expected, rel=1e-10)


def test_chain_of_predictives_is_the_evidence():
    X, y = problem(n=12)
    for settings in ({**KNOWN, "ridge": 1.5}, {"noise": "conjugate", "ridge": 1.5}):
        model = BayesianLinearRegression(intercept_prior=(0.0, 4.0), **settings)
        total = float(model.prior_predictive(X[:1]).logpdf(y[:1])[0])
        for i in range(1, 12):
            model.partial_fit(X[i - 1 : i], y[i - 1 : i])
            total += float(model.predictive(X[i : i + 1]).logpdf(y[i : i + 1])[0])
        model.partial_fit(X[11:], y[11:])
        assert model.log_evidence() == pytest.approx(total, rel=1e-10)


def test_conjugate_posterior_against_quadrature():
    # One weight, no intercept: integrate over w and sigma^2 on a grid.
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1.2, 1.7, -0.4])
    model = BayesianLinearRegression(
        0.3, ridge=0.5, noise="conjugate", noise_shape=2.0, noise_scale=1.0, fit_intercept=False
    ).fit(X, y)

    w = np.linspace(-12, 13, 4001)[:, None]
    s2 = np.exp(np.linspace(-6, 9, 1501))
    density = stats.invgamma.pdf(s2, 2.0, scale=1.0) * s2
    density = density * stats.norm.pdf(w, 0.3, np.sqrt(s2 / 0.5))
    for x_i, y_i in zip(X[:, 0], y, strict=True):
        density = density * stats.norm.pdf(y_i, w * x_i, np.sqrt(s2))

    def expect(values):
        return (values * density).sum() * (w[1, 0] - w[0, 0]) * math.log(s2[1] / s2[0])

    z = expect(1.0)
    assert model.log_evidence() == pytest.approx(math.log(z), abs=1e-6)
    mean = expect(w) / z
    assert model.coef_[0] == pytest.approx(mean, abs=1e-6)
    variance = expect((w - mean) ** 2) / z
    assert model.variance_parts([[1.0]])[0][0] == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
@pytest.mark.parametrize("shape", [(30, 3), (4, 7)])
def test_long_monte_carlo(settings, shape):
    X, y = problem(*shape)
    model = BayesianLinearRegression(**settings).fit(X, y)
    draws = model.sample_weights(200_000, random_state=0)
    assert draws.shape == (200_000, shape[1] + 1)
    joint = model.posterior()
    conjugate = settings["noise"] == "conjugate"
    shape_matrix = joint.shape if conjugate else joint.cov
    covariance = shape_matrix * model.posterior_.inflation
    scale = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(
        (draws.mean(axis=0) - [*model.coef_, model.intercept_]) / scale, 0, atol=0.015
    )
    np.testing.assert_allclose(
        np.cov(draws.T) / np.outer(scale, scale),
        covariance / np.outer(scale, scale),
        atol=0.06 if conjugate else 0.02,
    )
    functions = model.sample_functions(X, 50_000, random_state=1)
    assert functions.shape == (50_000, shape[0])
    parameter, _ = model.variance_parts(X)
    np.testing.assert_allclose(functions.var(axis=0), parameter, rtol=0.08)
    np.testing.assert_allclose(
        functions.mean(axis=0), model.predict(X), atol=0.03 * np.sqrt(parameter).max()
    )


@pytest.mark.parametrize(
    ("count", "margin"), [(500, 0.03), pytest.param(2000, 0.02, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("noise", ["known", "conjugate"])
def test_simulation_based_calibration(noise, count, margin):
    # Draw the truth from the prior, data from the truth: intervals of 95 % hold it 95 times of 100.
    generator = np.random.default_rng(7)
    settings = {"noise": noise, "ridge": 0.8, "intercept_prior": (0.5, 2.0)}
    if noise == "known":
        settings["noise_variance"] = 0.25
        settings["intercept_prior"] = (0.5, 0.5)
    else:
        settings |= {"noise_shape": 3.0, "noise_scale": 1.0}
    inside, predicted = 0, 0
    for _ in range(count):
        X = generator.standard_normal((8, 3))
        s2 = 0.25 if noise == "known" else stats.invgamma.rvs(3.0, random_state=generator)
        w = generator.standard_normal(3) * math.sqrt(s2 / 0.8)
        b = 0.5 + generator.standard_normal() * math.sqrt(2.0 * s2)
        y = X @ w + b + math.sqrt(s2) * generator.standard_normal(8)
        model = BayesianLinearRegression(**settings).fit(X[:7], y[:7])
        intervals = model.credible_interval(0.95)
        inside += intervals.coef[0, 0] <= w[0] <= intervals.coef[0, 1]
        low, high = model.predictive(X[7:]).interval(0.95)
        predicted += low[0] <= y[7] <= high[0]
    assert abs(inside / count - 0.95) < margin
    assert abs(predicted / count - 0.95) < margin
