"""Naive Bayes: laws of its counts, in parts, sparse, in threads, with weights."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from separatrix.errors import DataError
from separatrix.learners.generative import NaiveBayes
from tests.unit.learners.generative.naive_bayes_models import (
    IDS,
    MODELS,
    counts,
    logs,
    with_gaps,
)


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
