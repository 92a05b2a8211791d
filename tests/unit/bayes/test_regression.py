"""Bayesian linear regression: the formulas of the notes, brute force, and every way to the data."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import BayesianLinearRegression
from separatrix.errors import DataError, NotFittedError, ParameterError

KNOWN = {"noise": "known", "noise_variance": 0.3}
MODES = [KNOWN, {"noise": "conjugate"}, {"noise": "evidence"}]


def problem(n=40, d=4, seed=0, offset=1.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) + offset
    y = X @ generator.standard_normal(d) + 2 + 0.5 * generator.standard_normal(n)
    return X, y


def covariance(d, seed=1):
    root = np.random.default_rng(seed).standard_normal((d, d))
    return root @ root.T + 0.1 * np.eye(d)


@parametrize_with_checks(
    [
        BayesianLinearRegression(),
        BayesianLinearRegression(noise="known", noise_variance=1.0),
        BayesianLinearRegression(noise="conjugate", intercept_prior=(0.0, 10.0)),
        BayesianLinearRegression(fit_intercept=False),
    ]
)
def test_scikit_learn_check(estimator, check):
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


@pytest.mark.parametrize("noise", ["known", "conjugate"])
def test_simulation_based_calibration(noise):
    # Draw the truth from the prior, data from the truth: intervals of 95 % hold it 95 times of 100.
    generator = np.random.default_rng(7)
    settings = {"noise": noise, "ridge": 0.8, "intercept_prior": (0.5, 2.0)}
    if noise == "known":
        settings["noise_variance"] = 0.25
        settings["intercept_prior"] = (0.5, 0.5)
    else:
        settings |= {"noise_shape": 3.0, "noise_scale": 1.0}
    inside, predicted, count = 0, 0, 2000
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
    assert abs(inside / count - 0.95) < 0.02
    assert abs(predicted / count - 0.95) < 0.02


# -- evidence ----------------------------------------------------------------------------------


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


# -- streaming, merging, weights ---------------------------------------------------------------


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
@pytest.mark.parametrize("shape", [(60, 5), (12, 20)])
def test_streaming_and_merging_equal_batch(settings, shape):
    X, y = problem(*shape, offset=10.0)
    weights = np.random.default_rng(4).uniform(0.5, 2, shape[0])
    batch = BayesianLinearRegression(**settings).fit(X, y, weights)
    stream = BayesianLinearRegression(**settings)
    for i in range(shape[0]):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], weights[i : i + 1])
    parts = [
        BayesianLinearRegression(**settings).fit(X[k::2], y[k::2], weights[k::2]) for k in (0, 1)
    ]
    before = parts[0].coef_.copy()
    merged = parts[0].merge(parts[1])
    np.testing.assert_array_equal(parts[0].coef_, before)
    for model in (stream, merged):
        np.testing.assert_allclose(model.coef_, batch.coef_, rtol=1e-10, atol=1e-10)
        assert model.intercept_ == pytest.approx(batch.intercept_, rel=1e-10)
        np.testing.assert_allclose(
            model.predict(X, return_std=True)[1], batch.predict(X, return_std=True)[1], rtol=1e-9
        )


def test_refit_forgets_and_partial_fit_under_evidence_waits_for_rows():
    X, y = problem()
    model = BayesianLinearRegression()
    model.partial_fit(X[:1], y[:1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[1:], y[1:])
    np.testing.assert_allclose(model.coef_, BayesianLinearRegression().fit(X, y).coef_, rtol=1e-9)
    again = model.fit(X[:10], y[:10])
    np.testing.assert_array_equal(again.coef_, BayesianLinearRegression().fit(X[:10], y[:10]).coef_)


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
def test_a_weight_of_two_is_a_row_seen_twice(settings):
    X, y = problem()
    weights = np.arange(40) % 3
    weighted = BayesianLinearRegression(**settings).fit(X, y, weights)
    repeated = BayesianLinearRegression(**settings).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.noise_variance_ == pytest.approx(repeated.noise_variance_)
    np.testing.assert_allclose(weighted.variance_parts(X), repeated.variance_parts(X), rtol=1e-9)


# -- hard data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", MODES, ids=lambda s: s["noise"])
def test_duplicate_and_constant_columns(settings):
    X, y = problem()
    doubled = BayesianLinearRegression(ridge=1.0, **settings)
    doubled.fit(np.column_stack([X, X[:, 0], np.full(40, 5.0)]), y)
    # Two equal columns share a weight whose prior variance is twice as large.
    single = BayesianLinearRegression(
        prior_covariance=np.array([2.0, 1, 1, 1]) * (0.3 if settings == KNOWN else 1.0),
        **({"ridge": None} | settings),
    )
    if settings["noise"] == "evidence":
        assert doubled.coef_[0] == pytest.approx(doubled.coef_[4])
    else:
        single.fit(X, y)
        assert doubled.coef_[0] + doubled.coef_[4] == pytest.approx(single.coef_[0])
        np.testing.assert_allclose(doubled.coef_[1:4], single.coef_[1:])
    # A flat intercept takes all of a constant column; its weight keeps the prior.
    assert doubled.coef_[5] == pytest.approx(0, abs=1e-10)
    spread = doubled.posterior_.unit_marginals()[5] * doubled.noise_variance_
    assert spread == pytest.approx(doubled.prior_scale_)


def test_one_observation():
    model = BayesianLinearRegression(**KNOWN, ridge=1.0).fit([[2.0, 1.0]], [3.0])
    np.testing.assert_allclose(model.coef_, 0)
    assert model.intercept_ == pytest.approx(3)
    conjugate = BayesianLinearRegression(noise="conjugate").fit([[2.0, 1.0]], [3.0])
    assert conjugate.predict([[2.0, 1.0]])[0] == pytest.approx(3)
    with pytest.raises(DataError, match="n_samples = 1"):
        BayesianLinearRegression().fit([[2.0, 1.0]], [3.0])
    alone = BayesianLinearRegression(fit_intercept=False).fit([[2.0, 1.0]], [3.0])
    assert np.isfinite(alone.predict([[2.0, 1.0]], return_std=True)).all()


def test_wide_data_costs_rows_not_columns():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((20, 20_000)).astype(np.float32)
    y = X[:, 0] * 3.0
    model = BayesianLinearRegression().fit(X, y)
    assert model.moments_.root.shape == (20, 20_001)
    mean, std = model.predict(X[:3], return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert model.credible_interval().coef.shape == (20_000, 2)
    assert model.sample_functions(X, 3, random_state=0).shape == (3, 20)
    dual = X.astype(float) @ X.T.astype(float)
    centering = np.eye(20) - 1 / 20
    gram = centering @ dual @ centering
    alpha = np.linalg.solve(gram + model.ridge_ * np.eye(20), centering @ y)
    np.testing.assert_allclose(model.coef_, X.T @ (centering @ alpha), rtol=1e-5, atol=1e-9)


def test_perfect_and_constant_targets():
    X, _ = problem()
    exact = BayesianLinearRegression().fit(X, X @ [1.0, 2, 3, 4] + 5)
    np.testing.assert_allclose(exact.coef_, [1, 2, 3, 4], rtol=1e-6)
    constant = BayesianLinearRegression().fit(X, np.full(40, 3.0))
    np.testing.assert_allclose(constant.predict(X), 3.0)
    assert np.isfinite(constant.predict(X, return_std=True)).all()


def test_frames_and_sparse_rows_give_the_same():
    X, y = problem()
    X[X < 0.5] = 0
    dense = BayesianLinearRegression().fit(X, y)
    sparse = BayesianLinearRegression().fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10)
    np.testing.assert_allclose(
        sparse.predict(sp.csr_matrix(X), return_std=True), dense.predict(X, return_std=True)
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    framed = BayesianLinearRegression().fit(frame, y)
    np.testing.assert_allclose(framed.coef_, dense.coef_)
    np.testing.assert_allclose(framed.predictive(frame).std(), dense.predictive(X).std())
    frame.loc[3, "c"] = np.nan
    with pytest.raises(DataError, match="'c'"):
        BayesianLinearRegression().fit(frame, y)
    other = BayesianLinearRegression().fit(pd.DataFrame(X, columns=list("abce")), y)
    with pytest.raises(DataError, match="different features"):
        framed.merge(other)


# -- what does not exist is said ---------------------------------------------------------------


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
