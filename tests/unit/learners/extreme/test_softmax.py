"""Softmax regression in blocks against the optimum, and its memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn.datasets import load_digits

from separatrix import LogisticRegression, SampledSoftmax
from separatrix.errors import ParameterError

X, Y = load_digits(return_X_y=True)
X = X / 16


def objective(model, C=1.0):
    Z = X @ model.coef_.T.astype(float) + model.intercept_
    loss = logsumexp(Z, axis=1) - Z[np.arange(len(Y)), Y]
    return 0.5 * (model.coef_.astype(float) ** 2).sum() + C * loss.sum()


@pytest.mark.parametrize("negatives", ["all", 4])
def test_it_comes_close_to_the_optimum(negatives):
    best = objective(LogisticRegression(C=1.0, tol=1e-10).fit(X, Y))
    model = SampledSoftmax(negatives, max_iter=100, random_state=0).fit(X, Y)
    assert best <= objective(model) < 1.005 * best


def clusters(n_classes, n_rows, seed):
    centers = np.random.default_rng(0).normal(size=(n_classes, 32)).astype(np.float32)
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_rows)
    return centers[y] + 0.5 * random.normal(size=(n_rows, 32)).astype(np.float32), y


def test_drawn_classes_stand_for_all():
    rows, labels = clusters(3000, 15_000, 1)
    model = SampledSoftmax(random_state=0, max_iter=4)
    assert model._n_drawn(3000) == 1024
    model.fit(rows, labels)
    new, expected = clusters(3000, 500, 2)
    assert model.score(new, expected) > 0.9
    top, shares = model.predict_top(new, 3)
    assert np.array_equal(top[:, 0], model.predict(new))
    largest = -np.sort(-model.predict_proba(new[:20]), axis=1)[:, :3]
    np.testing.assert_allclose(shares[:20], largest, rtol=1e-4)


def test_scores_are_never_larger_than_allowed():
    rows, labels = clusters(4000, 8000, 1)
    model = SampledSoftmax("all", max_iter=1, memory=4.0, random_state=0, n_jobs=1)
    tracemalloc.start()
    model.fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    model.predict(rows)
    predicting = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    weights = model.coef_.nbytes
    # Weights, two moments, a gradient and what is made of it; and a few arrays of scores.
    assert peak < 8 * weights + 4 * 4 * 2**20
    assert predicting < 8 * weights + 4 * 4 * 2**20 < labels.size * 4000 * 4


def test_blocks_do_not_change_predictions():
    small, large = (SampledSoftmax(memory=m, random_state=0).fit(X, Y) for m in (64.0, 64.0))
    small.memory = 0.001
    np.testing.assert_allclose(small.predict_proba(X), large.predict_proba(X), atol=1e-6)
    assert np.array_equal(small.predict_top(X, 3).labels, large.predict_top(X, 3).labels)


def test_sparse_rows_are_learned_as_dense_ones_are():
    dense, sparse = (SampledSoftmax(random_state=0).fit(rows, Y) for rows in (X, sp.csr_array(X)))
    found, expected = sparse.predict_proba(sp.csr_array(X)), dense.predict_proba(X)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


def test_bad_input():
    with pytest.raises(ParameterError, match="negatives"):
        SampledSoftmax(0).fit(X, Y)
    with pytest.raises(ParameterError, match="learning_rate"):
        SampledSoftmax(learning_rate=0).fit(X, Y)
    with pytest.raises(ParameterError, match="k must be"):
        SampledSoftmax(max_iter=1).fit(X, Y).predict_top(X, 11)
