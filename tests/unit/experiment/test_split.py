"""The parts are disjoint and stratified, and the seal opens once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.experiment import Rows, SealedTest, split_rows
from separatrix.experiment.split import SealError


def row_numbers(n):
    return np.arange(n, dtype=float)[:, None]


@given(
    st.lists(st.integers(0, 4), min_size=15, max_size=200),
    st.sampled_from([(0.6, 0.2, 0.2), (0.5, 0.25, 0.25), (0.8, 0.1, 0.1), (0.2, 0.4, 0.4)]),
    st.integers(0, 3),
)
@settings(max_examples=100, deadline=None)
def test_parts_are_a_partition_in_the_right_shares(labels, shares, seed):
    y = np.array(labels)
    try:
        parts = split_rows(row_numbers(len(y)), y, shares, seed)
    except ValueError:
        # Only classes too small to leave a row for each part are refused.
        assert max(np.bincount(y) * min(shares[1:])) < 1
        return
    test = parts.test.open("someone")
    everyone = np.concatenate([parts.train.X, parts.held_out.X, test.X]).ravel()
    assert sorted(everyone) == list(range(len(y)))
    for part, share in zip((parts.train, parts.held_out, test), shares, strict=True):
        np.testing.assert_array_equal(y[part.X.ravel().astype(int)], part.y)
        for label in np.unique(y):
            expected = share * np.count_nonzero(y == label)
            assert abs(np.count_nonzero(part.y == label) - expected) <= 1.5
    assert set(parts.train.y) == set(y)


def test_the_seed_decides_the_split():
    y = np.arange(60) % 3
    first, again, other = (split_rows(row_numbers(60), y, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.train.X, again.train.X)
    assert not np.array_equal(first.train.X, other.train.X)


def test_sparse_rows_and_string_labels():
    y = np.array(["a", "b"] * 20)
    parts = split_rows(sp.csr_array(row_numbers(40)), y)
    assert sp.issparse(parts.train.X)
    assert parts.train.X.shape == (24, 1)
    assert parts.test.n_rows == 8


def test_the_seal_opens_once():
    sealed = SealedTest(Rows(row_numbers(3), np.zeros(3)))
    assert sealed.opened_for is None
    assert len(sealed.open("svm").y) == 3
    assert sealed.opened_for == "svm"
    with pytest.raises(SealError, match="opened before, for 'svm'"):
        sealed.open("other")
    with pytest.raises(SealError, match="opened before"):
        sealed.open("svm")


def test_the_seal_cannot_be_copied_around():
    sealed = SealedTest(Rows(row_numbers(3), np.zeros(3)))
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(SealError, match="copied"):
            attempt(sealed)
    assert not hasattr(sealed, "__dict__")


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5), (0.6, 0.2, 0.3), (1.0, 0.0, 0.0), (1.2, -0.1, -0.1)]
)
def test_bad_shares(shares):
    with pytest.raises(ValueError, match="three positive shares"):
        split_rows(row_numbers(10), np.arange(10) % 2, shares)


def test_too_few_rows():
    with pytest.raises(ValueError, match="no held-out rows are left"):
        split_rows(row_numbers(4), np.array([0, 0, 1, 1]))
