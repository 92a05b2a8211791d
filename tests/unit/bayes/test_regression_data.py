"""Bayesian linear regression: streaming, merging, weights, and data that are hard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from separatrix import BayesianLinearRegression
from separatrix.errors import DataError, NotFittedError
from tests.unit.bayes.regression_problems import KNOWN, MODES, problem

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
