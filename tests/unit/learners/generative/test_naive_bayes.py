"""Naive Bayes: parity with scikit-learn, products of terms, missing values, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

from separatrix.errors import DataError, ParameterError
from separatrix.learners.generative import LaplaceSmoothing, NaiveBayes
from tests.unit.learners.generative.naive_bayes_models import (
    IDS,
    MIXED,
    MODELS,
    counts,
    logs,
    with_gaps,
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (NaiveBayes("multinomial", smoothing=0.7), MultinomialNB(alpha=0.7)),
        (NaiveBayes("bernoulli", binarize=1.0), BernoulliNB(binarize=1.0)),
        (NaiveBayes("categorical", smoothing=LaplaceSmoothing(2)), CategoricalNB(alpha=2)),
        (NaiveBayes("multinomial", complement=True), ComplementNB()),
        (NaiveBayes("multinomial", priors="uniform"), MultinomialNB(fit_prior=False)),
        (
            NaiveBayes("bernoulli", priors=[0.2, 0.3, 0.5]),
            BernoulliNB(class_prior=[0.2, 0.3, 0.5]),
        ),
    ],
)
def test_parity_with_scikit_learn(ours, peer, weighted):
    X, y = counts()
    weights = np.random.default_rng(3).integers(1, 4, size=len(y)) if weighted else None
    fresh, _ = counts(seed=9)
    fresh = np.minimum(fresh, X.max(axis=0))
    ours.fit(X, y, sample_weight=weights)
    peer.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(logs(ours, fresh), logs(peer, fresh), rtol=1e-9, atol=1e-9)
    assert (ours.predict(fresh) == peer.predict(fresh)).all()
    if not isinstance(peer, CategoricalNB):
        np.testing.assert_allclose(ours.feature_log_prob_, peer.feature_log_prob_, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaussian_parity(dtype):
    X, y = load_digits(return_X_y=True)
    X = (X + np.random.default_rng(0).normal(size=X.shape)).astype(dtype)
    ours, peer = NaiveBayes("gaussian").fit(X, y), GaussianNB().fit(X.astype(float), y)
    tolerance = {"rtol": 1e-5 if dtype == np.float32 else 1e-9}
    np.testing.assert_allclose(ours.theta_, peer.theta_, **tolerance)
    np.testing.assert_allclose(ours.var_, peer.var_, **tolerance)
    joint = ours.predict_joint_log_proba(X)
    np.testing.assert_allclose(joint, peer.predict_joint_log_proba(X.astype(float)), rtol=1e-5)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_the_joint_is_the_product_of_its_terms(model, gaps):
    X, y = counts()
    X = with_gaps(X) if gaps else X
    model.fit(X, y)
    row = X[7]
    table = np.log(model.class_count_ / model.class_count_.sum())
    for j, value in enumerate(row):
        if np.isnan(value):
            continue
        kind = model.kinds_[j]
        if kind == "multinomial":
            table = table + value * model.feature_log_prob_[:, j]
        elif kind == "gaussian":
            table = table + stats.norm(model.theta_[:, j], np.sqrt(model.var_[:, j])).logpdf(value)
        else:
            state = int(value > 0) if kind == "bernoulli" else int(value)
            table = table + np.log(model.conditional_table(j)[:, state])
    np.testing.assert_allclose(model.predict_joint_log_proba(row[None])[0], table, rtol=1e-10)


def test_a_missing_value_is_a_column_left_out():
    X, y = counts()
    for kind in ("bernoulli", "gaussian", "categorical"):
        model = NaiveBayes(kind, var_smoothing=1e-300).fit(X, y)
        X_gap = X.copy()
        X_gap[:, 2] = np.nan
        rest = NaiveBayes(kind, var_smoothing=1e-300).fit(np.delete(X, 2, axis=1), y)
        np.testing.assert_allclose(
            logs(model, X_gap), logs(rest, np.delete(X, 2, axis=1)), rtol=1e-9, atol=1e-12
        )
    nothing = np.full((1, 6), np.nan)
    prior = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], prior, rtol=1e-12)


def test_a_column_that_a_class_never_showed():
    X, y = counts()
    X[y == 1, 0] = np.nan
    for kind in ("bernoulli", "gaussian", "categorical"):
        assert np.isfinite(logs(NaiveBayes(kind).fit(X, y), counts(seed=4)[0].clip(max=3))).all()


def test_auto_looks_at_the_data():
    X, y = counts()
    frame = pd.DataFrame({"flag": X[:, 0] > 0, "length": X[:, 1] + 1.5, "holes": X[:, 2] > 1})
    frame["holes"] = frame["holes"].astype(float)
    frame.loc[3, "holes"] = np.nan
    model = NaiveBayes().fit(frame, y)
    assert model.kinds_.tolist() == ["bernoulli", "gaussian", "bernoulli"]
    words = np.where(np.random.default_rng(0).random(X.shape) < 0.3, X, 0)
    for stored in (words, sp.csr_array(words)):  # what is stored how does not matter
        assert set(NaiveBayes().fit(stored, y).kinds_) == {"multinomial"}
        assert set(NaiveBayes().fit(-stored, y).kinds_) == {"gaussian"}
        assert set(NaiveBayes().fit(stored != 0, y).kinds_) == {"bernoulli"}
    named = NaiveBayes({"flag": "categorical"}).fit(frame, y)
    assert named.kinds_.tolist() == ["categorical", "gaussian", "bernoulli"]
    listed = NaiveBayes(["gaussian", "auto", "categorical"]).fit(frame, y)
    assert listed.kinds_.tolist() == ["gaussian", "gaussian", "categorical"]
    with pytest.raises(DataError, match=r"column 'flag'.*name the kinds"):
        model.partial_fit(frame.assign(flag=0.5), y)


def test_pickles_and_keeps_its_answers():
    X, y = counts()
    model = NaiveBayes(MIXED).fit(X, y)
    expected = logs(model, X)
    assert (logs(pickle.loads(pickle.dumps(model)), X) == expected).all()


def test_constant_columns_and_classes_without_variance():
    X = np.column_stack([np.full(8, 3.0), [0.1, 0.2, 0.3, 0.4, 5, 5, 5, 5]])
    y = np.repeat([0, 1], 4)
    model = NaiveBayes("gaussian").fit(X, y)
    assert (model.predict(X) == y).all()
    with pytest.raises(DataError, match=r"variance zero.*column 0"):
        NaiveBayes("gaussian", var_smoothing=0.0).fit(X, y)
    still = NaiveBayes("gaussian").fit(X[:, :1], y)
    np.testing.assert_allclose(still.predict_proba(X[:, :1]), 0.5)
    one = NaiveBayes("gaussian").fit([[0.0, 1.0], [2.0, 1.0], [0.1, 1.0]], [0, 1, 0])
    assert one.predict([[2.0, 1.0]]).tolist() == [1]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"features": "poisson"}, ParameterError, "features"),
        ({"features": {17: "gaussian"}}, ParameterError, "17"),
        ({"features": ["gaussian"]}, ParameterError, "6 columns"),
        ({"smoothing": "laplace"}, ParameterError, "smoothing"),
        ({"priors": "flat"}, ParameterError, "priors"),
        ({"priors": [0.5, 0.5]}, ParameterError, "3 classes"),
        ({"priors": [0.5, 0.2, 0.2]}, ParameterError, "sum to 1"),
        ({"complement": True, "features": "gaussian"}, ParameterError, "multinomial"),
        ({"complement": True, "smoothing": 0}, ParameterError, "divides by"),
        ({"var_smoothing": -1}, ParameterError, "var_smoothing"),
    ],
)
def test_bad_parameters(change, error, words):
    X, y = counts()
    with pytest.raises(error, match=words):
        NaiveBayes(**({"features": "multinomial"} | change)).fit(X, y)


def test_bad_data_is_named():
    X, y = counts()
    bad = pd.DataFrame(X, columns=list("abcdef"))
    bad.loc[4, "c"] = -1
    with pytest.raises(DataError, match=r"Negative values.* row 4, column 'c'"):
        NaiveBayes("multinomial").fit(bad, y)
    with pytest.raises(DataError, match=r"whole numbers.* column 'c'"):
        NaiveBayes("categorical").fit(bad, y)
    for form in (np.asarray, sp.csr_array):
        infinite = X.copy()
        infinite[5, 1] = np.inf
        for model in MODELS:
            with pytest.raises(DataError, match="infinity at row 5, column 1"):
                clone(model).fit(form(infinite), y)
            with pytest.raises(DataError, match="infinity at row 5, column 1"):
                clone(model).fit(X, y).predict(form(infinite))
    with pytest.raises(DataError, match=r"row 0, column 0: not a category"):
        NaiveBayes("categorical").fit(X, y).predict(X + 20)
    with pytest.raises(DataError, match="threshold below zero"):
        NaiveBayes("bernoulli", binarize=-1).fit(sp.csr_array(X), y)
    with pytest.raises(DataError, match="one class"):
        NaiveBayes().fit(X[:1], y[:1])
    with pytest.raises(DataError, match="not among the classes"):
        NaiveBayes("gaussian").fit(X, y).partial_fit(X[:1], [7])
