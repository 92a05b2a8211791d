"""Naive Bayes: laws of its counts, parity with scikit-learn, missing and impossible values."""

from __future__ import annotations

import pickle
import warnings

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

from separatrix.errors import DataError, ParameterError, ZeroProbabilityWarning
from separatrix.generative import Interpolation, Laplace, MaximumLikelihood, NaiveBayes

KINDS = ["multinomial", "bernoulli", "gaussian", "categorical"]
MIXED = {0: "gaussian", 1: "gaussian", 2: "categorical", 3: "bernoulli", 4: "multinomial"}


def counts(n=200, d=6, k=3, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(k, size=n)
    rates = random.gamma(1.0, size=(k, d))
    return random.poisson(rates[y]).astype(float).clip(max=5), y


def with_gaps(X, share=0.15, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def models():
    yield from (NaiveBayes(kind, n_categories=6) for kind in KINDS)
    yield NaiveBayes(MIXED | {5: "multinomial"}, n_categories=6)
    yield NaiveBayes("multinomial", smoothing=Interpolation(0.6))


MODELS = list(models())
IDS = [*KINDS, "mixed", "interpolation"]


def logs(model, X):
    return model.predict_log_proba(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (NaiveBayes("multinomial", smoothing=0.7), MultinomialNB(alpha=0.7)),
        (NaiveBayes("bernoulli", binarize=1.0), BernoulliNB(binarize=1.0)),
        (NaiveBayes("categorical", smoothing=Laplace(2)), CategoricalNB(alpha=2)),
        (NaiveBayes("multinomial", complement=True), ComplementNB()),
        (NaiveBayes("multinomial", prior="uniform"), MultinomialNB(fit_prior=False)),
        (
            NaiveBayes("bernoulli", prior=[0.2, 0.3, 0.5]),
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


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_partial_fit_and_merge_are_one_fit(model, gaps):
    X, y = counts()
    X = with_gaps(X) if gaps else X
    weights = np.random.default_rng(2).random(len(y))
    whole = clone(model).fit(X, y, weights)
    stream = clone(model)
    for part in np.array_split(np.arange(len(y)), 5):
        stream.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weights[part])
    half = len(y) // 2
    first = clone(model).fit(X[:half], y[:half], weights[:half])
    merged = first.merge(clone(model).fit(X[half:], y[half:], weights[half:]))
    for other in (stream, merged):
        np.testing.assert_allclose(other.class_count_, whole.class_count_, rtol=1e-12)
        np.testing.assert_allclose(logs(other, X), logs(whole, X), rtol=1e-8, atol=1e-10)
    assert first.class_count_.sum() == pytest.approx(weights[:half].sum())


def test_merging_whole_counts_is_exact_to_the_bit():
    X, y = counts(300)
    parts = [NaiveBayes("multinomial").fit(X[i::3], y[i::3]) for i in range(3)]
    merged = parts[2].merge(parts[0]).merge(parts[1])
    assert (merged.feature_log_prob_ == NaiveBayes("multinomial").fit(X, y).feature_log_prob_).all()


def test_merging_models_of_different_classes_and_categories():
    X, y = counts()
    few, many = y < 2, y > 0
    model = NaiveBayes("categorical")
    X[few] = X[few].clip(max=2)
    first, second = clone(model).fit(X[few], y[few]), clone(model).fit(X[many], y[many])
    rows = np.concatenate([np.flatnonzero(few), np.flatnonzero(many)])
    whole = clone(model).fit(X[rows], y[rows])
    merged = first.merge(second)
    assert merged.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(logs(merged, X), logs(whole, X), rtol=1e-12)
    with pytest.raises(DataError, match="different kinds"):
        first.merge(NaiveBayes("gaussian").fit(X, y))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_sparse_equals_dense(model, dtype, gaps):
    X, y = counts()
    X = (with_gaps(X) if gaps else X).astype(dtype)
    dense = clone(model).fit(X, y)
    for form in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        lean = clone(model).fit(form(X), y)
        for rows in (X, form(X)):
            np.testing.assert_allclose(logs(lean, rows), logs(dense, X), rtol=1e-5, atol=1e-6)
            assert (lean.predict(rows) == dense.predict(X)).all()


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_rows_out_of_order_and_repeated_columns(model):
    X, y = counts()
    tidy = sp.csr_array(X)
    halves = np.where(tidy.data > 1, tidy.data - 1, tidy.data)
    rest = tidy.data - halves
    # Each value as two entries, columns falling.
    messy = sp.csr_array(
        (
            np.concatenate(
                [
                    np.ravel(np.column_stack([halves[a:b][::-1], rest[a:b][::-1]]))
                    for a, b in zip(tidy.indptr, tidy.indptr[1:], strict=False)
                ]
            ),
            np.concatenate(
                [
                    np.repeat(tidy.indices[a:b][::-1], 2)
                    for a, b in zip(tidy.indptr, tidy.indptr[1:], strict=False)
                ]
            ),
            2 * tidy.indptr,
        ),
        shape=tidy.shape,
    )
    before = messy.indices.copy()
    expected = clone(model).fit(tidy, y)
    found = clone(model).set_params(n_categories=6).fit(messy, y)
    np.testing.assert_allclose(logs(found, messy), logs(expected, tidy), rtol=1e-9, atol=1e-12)
    assert (messy.indices == before).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_any_number_of_threads_counts_to_the_same_bit(model, sparse):
    random = np.random.default_rng(0)
    X = random.poisson(0.8, size=(60_000, 6)).clip(max=5).astype(np.float32)
    y = random.integers(3, size=len(X))
    weights = random.random(len(X))
    X = sp.csr_array(X) if sparse else X
    fits = [clone(model).set_params(n_jobs=n).fit(X, y, weights) for n in (1, 2, 3)]
    for other in fits[1:]:
        for name in ("classes", "value", "scatter", "table"):
            assert (getattr(other.counts_, name) == getattr(fits[0].counts_, name)).all()
        assert (logs(other, X) == logs(fits[0], X)).all()


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_one_row_and_a_batch_score_alike_to_the_bit(model):
    X, y = counts()
    model.fit(X, y)
    batch = logs(model, X)
    assert (np.vstack([logs(model, row[None]) for row in X[:20]]) == batch[:20]).all()


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(model):
    X, y = counts()
    weights = np.arange(len(y)) % 3
    weighted = clone(model).fit(X, y, weights)
    repeated = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(logs(weighted, X), logs(repeated, X), rtol=1e-9, atol=1e-11)


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
    frame = pd.DataFrame({"flag": X[:, 0] > 0, "length": X[:, 1] * 1.5, "holes": X[:, 2] > 1})
    frame["holes"] = frame["holes"].astype(float)
    frame.loc[3, "holes"] = np.nan
    model = NaiveBayes().fit(frame, y)
    assert model.kinds_.tolist() == ["bernoulli", "gaussian", "bernoulli"]
    assert NaiveBayes().fit(sp.csr_array(X), y).kinds_[0] == "multinomial"
    assert NaiveBayes().fit(sp.csr_array(-X), y).kinds_[0] == "gaussian"
    named = NaiveBayes({"flag": "categorical"}).fit(frame, y)
    assert named.kinds_.tolist() == ["categorical", "gaussian", "bernoulli"]
    listed = NaiveBayes(["gaussian", "auto", "categorical"]).fit(frame, y)
    assert listed.kinds_.tolist() == ["gaussian", "gaussian", "categorical"]
    with pytest.raises(DataError, match=r"column 'flag'.*name the kinds"):
        model.partial_fit(frame.assign(flag=0.5), y)


def test_maximum_likelihood_reports_its_zeros():
    X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    with pytest.warns(ZeroProbabilityWarning, match="2 estimated probabilities are zero"):
        model = NaiveBayes("multinomial", smoothing=MaximumLikelihood()).fit(X, ["a", "b"])
    assert model.zero_probabilities_ == 2
    np.testing.assert_array_equal(model.predict_proba([[1, 0, 5]]), [[1.0, 0.0]])
    assert np.isneginf(model.predict_joint_log_proba([[1, 0, 5]])[0, 1])
    with pytest.warns(ZeroProbabilityWarning, match="1 rows .* row 1"):
        impossible = model.predict_proba([[1, 0, 0], [1, 1, 0]])
    np.testing.assert_allclose(impossible, [[1, 0], [0.5, 0.5]])


@pytest.mark.parametrize("kind", ["bernoulli", "categorical", "multinomial"])
def test_zeros_rule_classes_out_dense_and_sparse(kind):
    X = np.array([[0.0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 0, 0]])
    y = [0, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroProbabilityWarning)
        for smoothing in (MaximumLikelihood(), Laplace(0), Interpolation(1.0)):
            model = NaiveBayes(kind, smoothing=smoothing).fit(X, y)
            assert model.zero_probabilities_ > 0
            for rows in (X, sp.csr_array(X)):
                shares = model.predict_proba(rows)
                np.testing.assert_allclose(shares, np.eye(2)[y], atol=1e-15)
                assert model.predict(rows).tolist() == y


def test_smoothing_leaves_no_zeros_and_no_warning():
    X, y = counts()
    X[y == 0, 0] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for smoothing in (None, 1e-6, Interpolation(0.999)):
            for kind in KINDS:
                model = NaiveBayes(kind, smoothing=smoothing).fit(X, y)
                assert model.zero_probabilities_ == 0
                assert np.isfinite(model.predict_joint_log_proba(X)).all()


def test_interpolation_at_alpha_zero_gives_the_prior():
    X, y = counts()
    prior = np.bincount(y) / len(y)
    for kind in ("multinomial", "bernoulli", "categorical"):
        model = NaiveBayes(kind, smoothing=Interpolation(0.0)).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), np.tile(prior, (len(X), 1)), rtol=1e-9)


def test_tune_picks_the_best_setting_without_counting_again(monkeypatch):
    X, y = counts(600, 40)
    held, held_y = counts(300, 40, seed=0)[0][::-1], counts(300, 40, seed=0)[1][::-1]
    model = NaiveBayes("multinomial").fit(X[:30], y[:30])
    monkeypatch.setattr("separatrix.generative.counts.count", None)
    grid = [1e-3, 0.1, 1.0, 30.0]
    assert model.tune(held, held_y, grid) is model
    scores = []
    for k in grid:
        fresh = clone(model).set_params(smoothing=k)
        fresh.classes_, fresh.n_features_in_ = model.classes_, model.n_features_in_
        fresh._estimate(model.counts_)
        scores.append((fresh.predict(held) == held_y).mean())
    assert model.tuning_["accuracy"] == pytest.approx(scores)
    assert model.smoothing.k in np.array(grid)[np.array(scores) == max(scores)]
    assert (model.predict(held) == held_y).mean() == max(scores)
    by_loss = model.tune(held, held_y, scoring="log_loss")
    assert by_loss.tuning_["log_loss"][
        by_loss.tuning_["smoothing"].index(by_loss.smoothing)
    ] == min(by_loss.tuning_["log_loss"])
    model.smoothing = Interpolation(0.5)
    model.tune(held, held_y)
    assert isinstance(model.smoothing, Interpolation)
    monkeypatch.undo()
    again = NaiveBayes("multinomial", smoothing=model.smoothing).fit(X[:30], y[:30])
    np.testing.assert_array_equal(logs(model, held), logs(again, held))


def test_set_params_after_the_fit_takes_effect():
    X, y = counts()
    model = NaiveBayes("multinomial").fit(X, y).set_params(smoothing=50.0)
    np.testing.assert_array_equal(
        logs(model, X), logs(NaiveBayes("multinomial", smoothing=50.0).fit(X, y), X)
    )


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
        ({"prior": "flat"}, ParameterError, "prior"),
        ({"prior": [0.5, 0.5]}, ParameterError, "3 classes"),
        ({"prior": [0.5, 0.2, 0.2]}, ParameterError, "sum to 1"),
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
