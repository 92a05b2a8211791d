"""Rows that are kept as examples of their labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import ManyClass
from separatrix.errors import DataError
from separatrix.learners.extreme.examples import Examples
from separatrix.learners.extreme.index import PairCounts, starts_of


def kept_rows(X, y, k, most):
    """The examples of rows, and their places."""
    counts = PairCounts.of(X.astype(np.float32), y.astype(np.uint32), k)
    return Examples.of(X, y, counts, most, np.random.RandomState(0))


def rows_of(examples, label):
    """The kept rows of a label as sets of features."""
    rows = starts_of(examples.rows)
    starts = starts_of(examples.lengths)[rows]
    lengths = examples.lengths[rows[label] : rows[label + 1]]
    features = examples.features[starts[label] : starts[label + 1]]
    return [set(part.tolist()) for part in np.split(features, np.cumsum(lengths)[:-1])]


def made(n=200, d=30, k=7, seed=0):
    random = np.random.default_rng(seed)
    X = sp.csr_array(random.random((n, d)) * (random.random((n, d)) < 0.2)).astype(np.float32)
    y = random.integers(0, k, size=n)
    full = np.diff(X.indptr) > 0
    return sp.csr_array(X[full]), y[full]


def test_all_rows_of_a_label_are_kept_where_there_is_room():
    X, y = made()
    examples, places = kept_rows(X, y, 7, 1000)
    assert len(examples.lengths) == len(y)
    for label in range(7):
        expected = [set(X[[i]].indices.tolist()) for i in np.flatnonzero(y == label)]
        assert rows_of(examples, label) == expected
    ends = np.cumsum(examples.lengths)
    for i in range(len(y)):
        features = examples.features[
            ends[places[i]] - examples.lengths[places[i]] : ends[places[i]]
        ]
        np.testing.assert_array_equal(features, X[[i]].indices)


def test_a_draw_of_rows_is_kept_where_there_are_too_many():
    X, y = made()
    examples, places = kept_rows(X, y, 7, 5)
    np.testing.assert_array_equal(examples.rows, np.minimum(np.bincount(y), 5))
    kept = np.flatnonzero(places != 2**32 - 1)
    assert len(kept) == len(examples.lengths)
    np.testing.assert_array_equal(np.sort(places[kept]), np.arange(len(kept)))
    np.testing.assert_array_equal(np.diff(X.indptr)[kept], examples.lengths[places[kept]])


def test_worths_are_inverse_document_frequencies():
    X, y = made(n=500)
    worths = kept_rows(X, y, 7, 64)[0].worths
    frequency = np.bincount(X.indices, minlength=30)
    expected = np.log(X.shape[0] / frequency)
    relative = sp.diags_array(np.diff(X.indptr) / X.sum(axis=1)) @ X
    expected *= 12 / np.mean(relative @ expected)
    np.testing.assert_allclose(worths / 16, expected, atol=1 / 32 + 1e-6)


def test_long_rows_keep_their_rarest_features():
    X = sp.csr_array(np.vstack([np.ones((3, 100)), np.eye(100)[:40], np.eye(100)[:40]]))
    y = np.arange(83) % 2
    examples, _ = kept_rows(X, y, 2, 100)
    assert examples.lengths.max() == 64
    assert set(range(40, 100)) < rows_of(examples, 0)[0]


def test_features_that_all_rows_share_are_worth_nothing():
    X = sp.csr_array(np.hstack([np.ones((6, 1)), np.eye(6)]))
    examples, _ = kept_rows(X, np.arange(6) % 3, 3, 10)
    assert examples.worths[0] == 0
    assert 0 not in examples.features


def test_what_occurs_together_is_learned_from_examples():
    """Label 0 has (a, b) or (c, d), label 1 has (a, c) or (b, d): counts cannot tell them apart."""
    random = np.random.default_rng(0)
    pairs = np.array([[[0, 1], [2, 3]], [[0, 2], [1, 3]]])
    codes = random.integers(0, 2, size=4000)
    columns = pairs[codes, random.integers(0, 2, size=4000)]
    noise = 4 + random.integers(0, 3, size=(4000, 1))
    columns = np.hstack([columns, noise]).ravel()
    X = sp.csr_array((np.ones(12_000), (np.repeat(np.arange(4000), 3), columns)), shape=(4000, 7))
    train, test = slice(0, 2000), slice(2000, None)
    scores = [
        ManyClass(n_examples=n).fit(X[train], codes[train]).score(X[test], codes[test])
        for n in (0, 64)
    ]
    assert scores[0] < 0.7
    assert scores[1] > 0.95


def test_arrays_of_a_model_must_fit():
    X, y = made()
    model = ManyClass(n_examples=5).fit(X, y)
    model.__sx_check__()
    model.examples_ = Examples.none(30, 6)
    with pytest.raises(DataError, match="rows of the examples"):
        model.__sx_check__()
