"""The weight of the data that label trees of label sets choose for themselves."""

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LabelTree
from separatrix.learners.extreme.tree_strength import _gain

K, D = 20, 60


def sets_of_labels(n, noise, length=1.0, seed=0):
    """Rows with three features of each of two labels; some labels are wrong."""
    random = np.random.default_rng(seed)
    own = np.random.default_rng(7).integers(0, D, (K, 6))
    labels = random.integers(0, K, (n, 2))
    columns = own[labels[:, :, None], random.integers(0, 6, (n, 2, 3))].reshape(n, 6)
    shown = np.where(random.random((n, 2)) < noise, random.integers(0, K, (n, 2)), labels)
    rows = np.arange(n)[:, None]
    X, Y = np.zeros((n, D)), np.zeros((n, K), dtype=int)
    X[rows, columns] = length / 6**0.5
    Y[rows, shown] = 1
    return sp.csr_array(X), sp.csr_array(Y)


@pytest.mark.parametrize(("noise", "length", "best"), [(0.6, 1.0, 1.0), (0.0, 0.1, 10.0)])
def test_noisy_labels_want_a_small_weight_and_short_rows_a_large_one(noise, length, best):
    X, Y = sets_of_labels(1600, noise, length)
    tree = LabelTree(5, random_state=0).fit(X, Y)
    assert best == tree.C_
    same = LabelTree(5, random_state=0, C=best).fit(X, Y)
    assert np.array_equal(tree.weights_.values, same.weights_.values)


def test_few_rows_and_rare_labels_take_the_usual_weight():
    X, Y = sets_of_labels(1200, 0.0)
    assert LabelTree(5, random_state=0).fit(X, Y).C_ == 3.0  # 960 rows would be left to learn from
    X, Y = sets_of_labels(1600, 0.0)
    rare = sp.csr_array(sp.hstack([Y, sp.eye_array(1600, 600, dtype=int)]))
    assert LabelTree(random_state=0).fit(X, rare).C_ == 3.0
    assert LabelTree(5, C=0.5).fit(X, Y).C_ == 0.5
    assert LabelTree(5, loss="svm").fit(X, Y).C_ == 1.0


def test_empty_rows_and_rows_without_weight_are_left_out_of_the_trials():
    X, Y = sets_of_labels(1800, 0.0, 0.1)
    only = np.zeros((1800, 1), dtype=int)
    only[:400] = 1  # of this label some rows are empty, some weigh nothing
    rows = X.tolil()
    rows[:200] = 0
    weights = np.ones(1800)
    weights[200:399] = 0
    tree = LabelTree(5, random_state=0)
    tree.fit(rows.tocsr(), sp.csr_array(sp.hstack([Y, only])), sample_weight=weights)
    assert tree.C_ == 10.0


def test_gains_are_discounted():
    Y = sp.csr_array(np.array([[1, 0, 1], [0, 1, 0]]))
    X = sp.csr_array(np.eye(2))
    tree = LabelTree(C=1.0, random_state=0).fit(X, Y)
    found = tree.candidates(X, 3)
    order = found.indices.reshape(2, 3)
    expected = sum(
        Y[row, label] / np.log2(2 + place)
        for row in range(2)
        for place, label in enumerate(order[row])
    )
    assert _gain(Y, found) == pytest.approx(expected)
