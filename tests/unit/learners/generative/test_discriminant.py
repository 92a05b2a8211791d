"""Gaussian discriminant analysis: parity, moments that merge, its softmax, singular data."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.special import softmax
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from separatrix import LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.learners.generative import GaussianDiscriminant

SETTINGS = [
    {"shared_covariance": shared, "shrinkage": shrinkage}
    for shared in (True, False)
    for shrinkage in (None, 0.3, "auto")
]
X, Y = load_iris(return_X_y=True)


def logs(model, rows=X):
    return model.predict_log_proba(rows)


@pytest.mark.parametrize("shrinkage", [None, 0.3, 1.0, "auto"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_parity_with_scikit_learn(load, shrinkage):
    X, y = load(return_X_y=True)
    ours = GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage, store_covariance=True)
    peer.fit(X, y)
    np.testing.assert_allclose(ours.covariance_, peer.covariance_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(logs(ours, X), peer.predict_log_proba(X), rtol=1e-7, atol=1e-7)
    own = GaussianDiscriminant(shared_covariance=False, shrinkage=shrinkage).fit(X, y)
    other = QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage=shrinkage, store_covariance=True
    ).fit(X, y)
    np.testing.assert_allclose(own.covariance_, np.stack(other.covariance_), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(logs(own, X), other.predict_log_proba(X), rtol=1e-6, atol=1e-6)
    assert (own.predict(X) == other.predict(X)).all()


def test_default_solvers_of_scikit_learn_agree_too():
    for shared, peer in (
        (True, LinearDiscriminantAnalysis()),
        (False, QuadraticDiscriminantAnalysis()),
    ):
        ours = GaussianDiscriminant(shared_covariance=shared).fit(X, Y)
        np.testing.assert_allclose(
            ours.predict_proba(X), peer.fit(X, Y).predict_proba(X), atol=1e-8
        )


@pytest.mark.parametrize("setting", SETTINGS)
def test_partial_fit_and_merge_are_one_fit(setting):
    weights = np.random.default_rng(0).random(len(Y))
    order = np.random.default_rng(1).permutation(len(Y))
    whole = GaussianDiscriminant(**setting).fit(X, Y, weights)
    stream = GaussianDiscriminant(**setting)
    for part in np.array_split(order, 7):
        stream.partial_fit(X[part], Y[part], classes=[0, 1, 2], sample_weight=weights[part])
    first, second = order[:60], order[60:]
    merged = (
        GaussianDiscriminant(**setting)
        .fit(X[first], Y[first], weights[first])
        .merge(GaussianDiscriminant(**setting).fit(X[second], Y[second], weights[second]))
    )
    for other in (stream, merged):
        np.testing.assert_allclose(other.covariance_, whole.covariance_, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(other.means_, whole.means_, rtol=1e-12)
        np.testing.assert_allclose(logs(other), logs(whole), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("setting", SETTINGS)
def test_weight_two_is_the_row_twice(setting):
    weights = np.arange(len(Y)) % 3
    weighted = GaussianDiscriminant(**setting).fit(X, Y, weights)
    repeated = GaussianDiscriminant(**setting).fit(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights)
    )
    np.testing.assert_allclose(logs(weighted), logs(repeated), rtol=1e-8, atol=1e-9)


def test_ledoit_and_wolf_from_merged_moments():
    parts = [
        GaussianDiscriminant(shared_covariance=False, shrinkage="auto").fit(X[i::2], Y[i::2])
        for i in (0, 1)
    ]
    found = parts[0].merge(parts[1]).covariance_
    for k in range(3):
        rows = X[np.equal(Y, k)]
        scale = rows.std(axis=0)
        expected = ledoit_wolf(rows / scale)[0] * np.outer(scale, scale)
        np.testing.assert_allclose(found[k], expected, rtol=1e-10)


def test_merging_models_of_different_classes():
    few, many = Y < 2, Y > 0
    first, second = (GaussianDiscriminant().fit(X[rows], Y[rows]) for rows in (few, many))
    rows = np.concatenate([np.flatnonzero(few), np.flatnonzero(many)])
    whole = GaussianDiscriminant().fit(X[rows], Y[rows])
    np.testing.assert_allclose(logs(first.merge(second)), logs(whole), rtol=1e-9, atol=1e-9)
    with pytest.raises(ParameterError, match="different statistics"):
        first.merge(GaussianDiscriminant(shared_covariance=False).fit(X, Y))
    with pytest.raises(DataError, match="columns"):
        first.merge(GaussianDiscriminant().fit(X[:, :2], Y))


@pytest.mark.parametrize("two", [False, True])
def test_the_posterior_is_a_softmax_of_linear_scores(two):
    rows = Y < 2 if two else Y < 3
    frame = pd.DataFrame(X[rows], columns=list("abcd"))
    model = GaussianDiscriminant(shrinkage=0.2).fit(frame, Y[rows])
    equal = model.to_softmax()
    assert isinstance(equal, LogisticRegression)
    assert equal.coef_.shape == model.coef_.shape == ((1, 4) if two else (3, 4))
    np.testing.assert_allclose(
        equal.predict_proba(frame), model.predict_proba(frame), atol=1e-12, rtol=1e-9
    )
    assert (equal.predict(frame) == model.predict(frame)).all()
    if not two:
        scores = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(softmax(scores, axis=1), model.predict_proba(frame), atol=1e-12)
        np.testing.assert_allclose(equal.coef_.sum(axis=0), 0, atol=1e-9)
    with pytest.raises(ParameterError, match="shared_covariance"):
        GaussianDiscriminant(shared_covariance=False).fit(X, Y).to_softmax()


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_joint_is_prior_times_density(setting):
    model = GaussianDiscriminant(priors=[0.5, 0.2, 0.3], **setting).fit(X, Y)
    for k in range(3):
        covariance = model.covariance_ if model.shared_covariance else model.covariance_[k]
        density = stats.multivariate_normal(model.means_[k], covariance).logpdf(X)
        expected = np.log([0.5, 0.2, 0.3][k]) + density
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X)[:, k], expected, rtol=1e-8, atol=1e-8
        )


def test_sparse_single_precision_and_threads():
    X, y = load_digits(return_X_y=True)
    for setting in ({"shrinkage": 0.1}, {"shared_covariance": False, "shrinkage": 0.1}):
        model = GaussianDiscriminant(**setting).fit(X, y)
        lean = clone(model).fit(sp.csr_array(X), y)
        np.testing.assert_array_equal(logs(lean, sp.csr_array(X)), logs(model, X))
        single = clone(model).fit(X.astype(np.float32), y)
        np.testing.assert_allclose(logs(single, X), logs(model, X), rtol=1e-3, atol=1e-3)
        big = np.tile(X, (20, 1)), np.tile(y, 20)
        fits = [clone(model).set_params(n_jobs=n).fit(*big) for n in (1, 2, 3)]
        for other in fits[1:]:
            assert (other.covariance_ == fits[0].covariance_).all()
    with pytest.raises(DataError, match="5000 columns"):
        GaussianDiscriminant().fit(sp.csr_array((4, 6000)), [0, 1, 0, 1])


@pytest.mark.parametrize("shared", [True, False])
def test_constant_columns_change_nothing(shared):
    model = GaussianDiscriminant(shared_covariance=shared)
    wide = np.column_stack([X, np.full(len(X), 1e6 / 3), np.zeros(len(X))])
    np.testing.assert_allclose(
        logs(clone(model).fit(wide, Y), wide), logs(clone(model).fit(X, Y)), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicate_columns(dtype):
    X32 = X.astype(dtype)
    twice = np.hstack([X32, X32[:, :2]])
    shared = GaussianDiscriminant().fit(twice, Y)
    plain = GaussianDiscriminant().fit(X32, Y)
    tolerance = 1e-2 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(logs(shared, twice), logs(plain, X32), rtol=tolerance, atol=1e-5)
    np.testing.assert_allclose(
        shared.to_softmax().predict_proba(twice), plain.predict_proba(X32), atol=1e-3
    )
    with pytest.raises(DataError, match=r"class 0 .*rank is 4.*shrinkage"):
        GaussianDiscriminant(shared_covariance=False).fit(twice, Y)
    shrunk = GaussianDiscriminant(shared_covariance=False, shrinkage="auto").fit(twice, Y)
    assert shrunk.score(twice, Y) > 0.95


def test_more_columns_than_rows():
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(10, 30)), np.arange(10) % 2
    with pytest.raises(DataError, match="no class varies"):
        GaussianDiscriminant().fit(rows, labels)
    with pytest.raises(DataError, match="singular"):
        GaussianDiscriminant(shared_covariance=False).fit(rows, labels)
    assert GaussianDiscriminant(shrinkage="auto").fit(rows, labels).score(rows, labels) == 1


def test_a_class_without_variance_and_a_single_observation():
    random = np.random.default_rng(0)
    rows = random.normal(size=(20, 2))
    labels = np.repeat([0, 1], 10)
    rows[labels == 1] = [3.0, 4.0]
    shared = GaussianDiscriminant().fit(rows, labels)  # the other class varies
    assert shared.score(rows, labels) == 1
    with pytest.raises(DataError, match=r"class 1 \(10 rows\) is singular"):
        GaussianDiscriminant(shared_covariance=False).fit(rows, labels)
    apart = np.column_stack([rows[:, 0], labels])  # constant within, different between
    with pytest.raises(DataError, match="no class varies"):
        GaussianDiscriminant().fit(apart, labels)
    with pytest.raises(DataError, match="one class"):
        GaussianDiscriminant().fit(rows[:1], labels[:1])
    alone = GaussianDiscriminant().fit(rows[:11], labels[:11])
    assert alone.predict([[3.0, 4.0]]).tolist() == [1]


def test_a_stream_may_begin_with_too_little():
    order = np.random.default_rng(0).permutation(len(Y))
    model = GaussianDiscriminant(shared_covariance=False)
    model.partial_fit(X[order[:2]], Y[order[:2]], classes=[0, 1, 2])
    with pytest.raises(DataError):
        model.predict(X)
    model.partial_fit(X[order[2:]], Y[order[2:]])
    np.testing.assert_allclose(
        logs(model), logs(GaussianDiscriminant(shared_covariance=False).fit(X, Y)), rtol=1e-8
    )
    assert (logs(pickle.loads(pickle.dumps(model))) == logs(model)).all()


def test_a_class_that_has_not_come_yet():
    rows = Y < 2
    model = GaussianDiscriminant().partial_fit(X[rows], Y[rows], classes=[0, 1, 2])
    shares = model.predict_proba(X)
    assert (shares[:, 2] == 0).all()
    np.testing.assert_allclose(
        shares[:, :2], GaussianDiscriminant().fit(X[rows], Y[rows]).predict_proba(X), atol=1e-12
    )
    with pytest.raises(DataError, match="no rows of class 2"):
        model.set_params(priors="uniform").merge(model).predict(X)
    with pytest.raises(DataError, match="prior probability zero"):
        GaussianDiscriminant().partial_fit(X[rows], Y[rows], classes=[0, 1, 2]).to_softmax()


@pytest.mark.parametrize(
    "change", [{"shrinkage": 2}, {"shrinkage": "best"}, {"shared_covariance": 3}, {"priors": "no"}]
)
def test_bad_parameters(change):
    with pytest.raises(ParameterError):
        GaussianDiscriminant(**change).fit(X, Y)


def test_what_is_not_finite_is_named():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[3, "b"] = np.nan
    with pytest.raises(DataError, match=r"NaN at row 3, column 'b'"):
        GaussianDiscriminant().fit(frame, Y)
    with pytest.raises(AttributeError, match="linear"):
        _ = GaussianDiscriminant(shared_covariance=False).fit(X, Y).coef_
