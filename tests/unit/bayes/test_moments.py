"""Summaries of rows: any path to them gives the same numbers, and merging is exact."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.bayes.regression import moments as module
from separatrix.bayes.regression.moments import Moments
from separatrix.errors import DataError


def rows(n, d, seed=0, offset=0.0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) + offset
    return X, X @ generator.standard_normal(d) + generator.standard_normal(n)


def plain(X, y, weights):
    z = np.column_stack([X, y])
    mean = np.average(z, axis=0, weights=weights)
    return mean, (z - mean).T @ np.diag(weights) @ (z - mean)


@pytest.mark.parametrize("shape", [(1, 3), (4, 9), (40, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_definition(shape, weighted):
    X, y = rows(*shape)
    weights = np.random.default_rng(1).uniform(0, 2, len(y)) if weighted else np.ones(len(y))
    found = Moments.of(X, y, weights if weighted else None)
    mean, scatter = plain(X, y, weights)
    np.testing.assert_allclose(found.mean, mean, atol=1e-14)
    np.testing.assert_allclose(found.scatter(), scatter, atol=1e-12)
    assert found.total == pytest.approx(weights.sum())
    assert len(found.root) <= min(shape[0], shape[1] + 1)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_one_squared_pass_agrees_with_the_rows(monkeypatch, offset):
    X, y = rows(3000, 6, offset=offset)
    X[:, 2] = 7.0  # constant
    exact = Moments.of(X, y)
    monkeypatch.setattr(module, "_SMALL", 0)
    for dtype in (np.float64, np.float32):
        data = (X - offset).astype(dtype).astype(np.float64) + offset
        if dtype == np.float32 and offset:
            continue
        found = Moments._squared(data.astype(dtype), y, None, 2)
        assert found is not None
        expected = exact if dtype == np.float64 else Moments.of(data, y)
        np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(found.scatter(), expected.scatter(), atol=1e-8)
    weights = np.arange(len(y)) % 3.0
    found, expected = Moments._squared(X, y, weights, 1), Moments.of(X, y, weights)
    assert found.n_rows == 2000
    np.testing.assert_allclose(found.scatter(), plain(X, y, weights)[1], rtol=1e-7, atol=1e-7)


def test_lost_digits_are_noticed_and_avoided(monkeypatch):
    X, y = rows(500, 3)
    X = np.column_stack([X, X[:, 0] + 1e-7 * rows(500, 1, seed=5)[1]])
    assert Moments._squared(X, y, None, 1) is None
    assert Moments._squared(np.column_stack([X, X[:, 0]]), y, None, 1) is None
    monkeypatch.setattr(module, "_SMALL", 0)
    root = Moments.of(X, y).root
    # The smallest singular value survives, which squaring would have drowned.
    centered = np.column_stack([X, y]) - np.column_stack([X, y]).mean(axis=0)
    expected = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(np.linalg.svd(root, compute_uv=False), expected, rtol=1e-8)


def test_merging_any_split_in_any_order_and_sparse_rows(monkeypatch):
    X, y = rows(200, 5, offset=50)
    whole = Moments.of(X, y)
    parts = [Moments.of(X[i : i + 7], y[i : i + 7]) for i in range(0, 200, 7)]
    for order in (parts, parts[::-1]):
        merged = order[0]
        for part in order[1:]:
            merged = merged.merge(part)
        np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-14)
        np.testing.assert_allclose(merged.scatter(), whole.scatter(), rtol=1e-12, atol=1e-11)
        assert (merged.n_rows, merged.total) == (200, 200)
    monkeypatch.setattr(module, "_BLOCK", 60)
    blocked = Moments.of(sp.csr_array(X), y)
    np.testing.assert_allclose(blocked.scatter(), whole.scatter(), rtol=1e-12, atol=1e-11)


def test_a_cell_that_is_not_finite_is_named_on_every_path(monkeypatch):
    X, y = rows(300, 3)
    X[17, 2] = np.nan
    for small in (module._SMALL, 0):
        monkeypatch.setattr(module, "_SMALL", small)
        with pytest.raises(DataError, match="row 17, column 2"):
            Moments.of(X, y, None, 2)
    with pytest.raises(DataError, match="overflow"):
        Moments.of(np.array([[1e200], [-1e200]]), np.zeros(2))
