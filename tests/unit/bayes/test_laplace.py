"""Laplace posterior of logistic regression: numeric Hessians, quadrature, laws of its forms."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit, log_softmax
from sklearn.datasets import make_classification

from separatrix import (
    LaplaceLogisticRegression,
)
from separatrix.bayes.laplace.curvature import basis_of
from separatrix.bayes.laplace.moderation import monte_carlo, normal_points, probit
from tests.checks import check, each
from tests.unit.bayes.laplace_problems import grid_posterior, problem


@each(
    [
        LaplaceLogisticRegression(tol=1e-12),
        LaplaceLogisticRegression(tol=1e-12, prediction="monte_carlo", random_state=0),
        LaplaceLogisticRegression(tol=1e-12, covariance="diagonal"),
    ]
)
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_scikit_learn_checks(estimator):
    check(estimator)


def log_posterior(theta, X, y, C, weights, classes, intercept, exempt):
    """log p(y | theta) + log p(theta) without the prior's constant, theta of shape (D, m)."""
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else X
    basis = basis_of(1 if classes == 2 else classes)
    scores = rows @ theta @ basis.T
    if classes == 2:
        scores = np.hstack([np.zeros_like(scores), scores])
    value = weights @ log_softmax(scores, axis=1)[np.arange(len(y)), y]
    penalized = theta[:-1] if exempt else theta
    return value - 0.5 * (penalized**2).sum() / C


def numeric_hessian(f, x, step=1e-4):
    size = len(x)
    result = np.empty((size, size))
    unit = np.eye(size) * step
    for i in range(size):
        for j in range(size):
            result[i, j] = (
                f(x + unit[i] + unit[j])
                - f(x + unit[i] - unit[j])
                - f(x - unit[i] + unit[j])
                + f(x - unit[i] - unit[j])
            ) / (4 * step**2)
    return result


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "sparse", "no_intercept", "penalized"])
def test_covariance_is_the_inverse_of_the_numeric_hessian(classes, form):
    X, y = problem(classes)
    weights = np.random.default_rng(1).uniform(0.2, 2, len(y))
    options = {
        "no_intercept": {"fit_intercept": False},
        "penalized": {"penalize_intercept": True},
    }.get(form, {})
    model = LaplaceLogisticRegression(0.7, tol=1e-12, **options)
    if form == "sparse":
        # Wide enough to stay sparse, narrow in what matters.
        wide = np.hstack([X, np.zeros((len(X), 300))])
        model.fit(sp.csr_matrix(wide), y, weights)
    else:
        model.fit(X, y, weights)
    posterior = model.posterior_
    intercept = model.fit_intercept
    keep = np.r_[:3, -1] if intercept else np.r_[:3]
    mean = posterior.center[keep]
    shape = mean.shape

    def f(flat):
        exempt = intercept and not model.penalize_intercept
        theta = flat.reshape(shape)
        return log_posterior(theta, X, y, 0.7, weights, classes, intercept, exempt)

    gradient = [f(mean.ravel() + e) - f(mean.ravel() - e) for e in 1e-5 * np.eye(mean.size)]
    np.testing.assert_allclose(gradient, 0, atol=1e-9)
    expected = np.linalg.inv(-numeric_hessian(f, mean.ravel()))
    root = posterior.covariance.root[:, keep]
    flat = root.transpose(1, 0, 2).reshape(mean.size, -1)
    np.testing.assert_allclose(flat @ flat.T, expected, rtol=2e-4, atol=1e-5)
    sign, log_determinant = np.linalg.slogdet(expected)
    assert sign > 0
    others = 0.0 if form != "sparse" else 300 * shape[1] * np.log(1 / 0.7)
    assert posterior.covariance.log_determinant == pytest.approx(
        -log_determinant + others, rel=1e-4, abs=1e-3
    )


def test_quadrature_in_two_dimensions():
    X, y = problem(n=150, d=1, seed=3)
    model = LaplaceLogisticRegression(4.0, penalize_intercept=True, tol=1e-12).fit(X, y)
    w, b, density, log_evidence = grid_posterior(X, y, 4.0)
    density = density / density.sum()
    mean = (w * density).sum()
    std = np.sqrt((w**2 * density).sum() - mean**2)
    low, high = model.credible_interval(0.95).coef[0, 0]
    assert (low + high) / 2 == pytest.approx(mean, abs=0.25 * std)
    assert (high - low) / (2 * 1.96) == pytest.approx(std, rel=0.08)
    assert model.log_evidence() == pytest.approx(log_evidence, abs=0.05)
    rows = np.array([[-3.0], [0.0], [0.5], [4.0]])
    exact = np.array([(expit(w * x + b) * density).sum() for x in rows[:, 0]])
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], exact, atol=0.015)
    sampled = model.set_params(prediction="monte_carlo").predict_proba(rows)[:, 1]
    np.testing.assert_allclose(sampled, exact, atol=0.015)
    inside = model.probability_interval(rows, 0.9)[:, 1]
    for x, (low, high) in zip(rows[:, 0], inside, strict=True):
        p = expit(w * x + b)
        assert density[(p > low) & (p < high)].sum() == pytest.approx(0.9, abs=0.03)


def test_probit_and_monte_carlo_against_quadrature():
    points = normal_points(20_000, 1, seed=0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    for mean, variance in ((0.3, 0.1), (-1.5, 2.0), (2.0, 9.0)):
        exact = weights @ expit(mean + np.sqrt(variance) * nodes) / weights.sum()
        arguments = (np.array([[mean]]), np.array([[[variance]]]), np.ones((1, 1)))
        assert probit(*arguments)[0, 1] == pytest.approx(exact, abs=0.02)
        assert monte_carlo(*arguments, points)[0, 1] == pytest.approx(exact, abs=0.003)


def test_two_classes_of_softmax_are_moderated_like_the_sigmoid():
    # s_2 - s_1 = sqrt(2) theta for the basis of two classes.
    mean, variance = np.array([[0.8], [-2.0]]), np.array([[[1.5]], [[4.0]]])
    sigmoid = probit(mean * np.sqrt(2), variance * 2, np.ones((1, 1)))
    basis = basis_of(2)
    turned = probit(mean * np.sign(basis[1, 0]), variance, basis)
    np.testing.assert_allclose(turned, sigmoid, rtol=1e-12)


def test_softmax_moderation_against_long_monte_carlo():
    X, y = problem(4, n=80)
    model = LaplaceLogisticRegression(1.0, random_state=0, n_draws=20_000).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    draws = model.sample_weights(40_000, random_state=1)
    assert draws.shape == (40_000, 4, 4)
    np.testing.assert_allclose(draws.sum(axis=1), 0, atol=1e-10)
    np.testing.assert_allclose(draws.mean(axis=0)[:, :3], model.coef_, atol=0.02)
    scores = np.einsum("skd,nd->nsk", draws, np.column_stack([X, np.ones(80)]))
    p = np.exp(log_softmax(scores, axis=2))
    sampled = model.set_params(prediction="monte_carlo").predict_proba(X)
    np.testing.assert_allclose(sampled, p.mean(axis=1), atol=0.01)
    np.testing.assert_allclose(probabilities, p.mean(axis=1), atol=0.03)
    quantiles = np.moveaxis(np.quantile(p, [0.05, 0.95], axis=1), 0, -1)
    np.testing.assert_allclose(model.probability_interval(X, 0.9), quantiles, atol=0.02)


def test_intervals_hold_the_truth():
    # Truth from the prior, labels from the truth; Laplace is close to exact with 60 rows.
    generator = np.random.default_rng(0)
    inside, count = 0, 400
    for _ in range(count):
        X = generator.standard_normal((60, 2))
        w = generator.standard_normal(2)
        y = generator.random(60) < expit(X @ w)
        if y.all() or not y.any():
            inside += 1
            continue
        model = LaplaceLogisticRegression(1.0, fit_intercept=False).fit(X, y)
        low, high = model.credible_interval(0.95).coef[0, 0]
        inside += low <= w[0] <= high
    assert abs(inside / count - 0.95) < 0.03


@pytest.mark.parametrize("classes", [2, 3])
def test_diagonal_and_low_rank_against_full(classes):
    X, y = problem(classes, n=12, d=40)
    fits = {
        kind: LaplaceLogisticRegression(2.0, tol=1e-12, covariance=kind, rank=36).fit(X, y)
        for kind in ("full", "low_rank", "diagonal")
    }
    full, low = fits["full"], fits["low_rank"]
    # Twelve rows have at most 12 (K - 1) directions of curvature: low rank is exact.
    # But for a flat intercept, which is taken as very wide.
    np.testing.assert_allclose(low.predict_proba(X), full.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(
        low.credible_interval().coef, full.credible_interval().coef, atol=1e-3
    )
    np.testing.assert_allclose(
        low.credible_interval().intercept, full.credible_interval().intercept, atol=1e-2
    )
    assert low.posterior_.log_evidence == pytest.approx(full.posterior_.log_evidence, abs=1e-2)
    proper = [
        LaplaceLogisticRegression(
            2.0, tol=1e-12, covariance=kind, rank=36, penalize_intercept=True
        ).fit(X, y)
        for kind in ("full", "low_rank")
    ]
    np.testing.assert_allclose(*[model.predict_proba(X) for model in proper], atol=1e-8)
    assert proper[0].log_evidence() == pytest.approx(proper[1].log_evidence(), abs=1e-7)
    np.testing.assert_allclose(
        low.sample_weights(40_000, 0).std(axis=0),
        full.sample_weights(40_000, 0).std(axis=0),
        rtol=0.05,
    )
    # Dropping directions leaves them to the prior, which is never surer.
    few = LaplaceLogisticRegression(2.0, tol=1e-12, covariance="low_rank", rank=5).fit(X, y)
    widths = [np.diff(model.credible_interval().coef).ravel() for model in (few, full)]
    assert (widths[0] >= widths[1] - 1e-6).all()
    # A diagonal precision gives the variance of a weight given all others: never wider.
    diagonal = fits["diagonal"]
    if classes == 2:
        width = np.diff(diagonal.credible_interval().coef).ravel()
        assert (width <= widths[1] + 1e-9).all()
        p = expit(X @ full.coef_[0] + full.intercept_)
        precision = (X**2).T @ (p * (1 - p)) + 0.5
        np.testing.assert_allclose(width, 2 * 1.959964 / np.sqrt(precision), rtol=1e-5)
    draws = diagonal.sample_weights(40_000, 0)
    if classes == 3:
        np.testing.assert_allclose(draws.sum(axis=1), 0, atol=1e-10)
    reach = np.diff(diagonal.credible_interval().coef)[..., 0] / (2 * 1.959964)
    np.testing.assert_allclose(draws.std(axis=0)[:, :40], reach, rtol=0.05)
    np.testing.assert_allclose(diagonal.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("kind", ["full", "diagonal", "low_rank"])
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_equals_dense(kind, classes):
    X, y = problem(classes, n=50, d=300)
    X[np.abs(X) < 1] = 0
    options = {"covariance": kind, "rank": 20, "tol": 1e-12}
    dense = LaplaceLogisticRegression(**options).fit(X, y)
    sparse = LaplaceLogisticRegression(**options).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.predict_proba(sp.csr_matrix(X)), dense.predict_proba(X), atol=1e-5
    )
    np.testing.assert_allclose(
        sparse.credible_interval().coef, dense.credible_interval().coef, atol=1e-4
    )


def test_auto_takes_the_diagonal_beyond_the_limit(monkeypatch):
    X, y = problem()
    assert LaplaceLogisticRegression().fit(X, y).posterior_.covariance.root.shape == (1, 4, 4)
    monkeypatch.setattr("separatrix.bayes.laplace.posterior.FULL_LIMIT", 3)
    assert LaplaceLogisticRegression().fit(X, y).posterior_.covariance.blocks.shape == (4, 1, 1)


def test_more_data_is_surer_and_far_from_data_is_less_sure():
    X, y = make_classification(400, 5, random_state=0)
    few, many = (LaplaceLogisticRegression().fit(X[:n], y[:n]) for n in (40, 400))
    assert (np.diff(many.credible_interval().coef) < np.diff(few.credible_interval().coef)).all()
    row = X[:1]
    map_score = np.abs(many.coef_ @ row.T + many.intercept_)[0, 0]
    assert np.abs(many.decision_function(row))[0] < map_score
    # Along a ray the MAP grows sure without bound; the average does not.
    far = many.predict_proba(1e6 * row)
    assert 0.5 < far.max() < 1 - 1e-6


def test_weights_are_frequencies():
    X, y = problem(3)
    weights = np.arange(len(y)) % 3
    weighted = LaplaceLogisticRegression(tol=1e-12).fit(X, y, weights)
    repeated = LaplaceLogisticRegression(tol=1e-12).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(
        weighted.credible_interval().coef, repeated.credible_interval().coef, atol=1e-5
    )
    assert weighted.posterior_.log_evidence == pytest.approx(repeated.posterior_.log_evidence)
