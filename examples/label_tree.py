"""Thousands of labels: a tree over them, what its beam finds, and labels that come later.

Run: python examples/label_tree.py [number of labels]
"""

import sys
import time

import numpy as np
import scipy.sparse as sp

from separatrix import LabelTree
from separatrix.metrics import ndcg_at_k, precision_at_k, top_k_accuracy

n_labels = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
n_features, random = 5000, np.random.default_rng(0)

# Every label has words of its own, and shares others with the labels of its group of twenty.
own = random.integers(0, n_features, (n_labels, 8))
shared = random.integers(0, n_features, (n_labels // 20 + 1, 20))


def sample(labels):
    """Rows of five words of the label and three of its group."""
    n = len(labels)
    words = np.concatenate(
        [
            own[labels[:, None], random.integers(0, 8, (n, 5))],
            shared[labels[:, None] // 20, random.integers(0, 20, (n, 3))],
        ],
        axis=1,
    )
    rows = sp.csr_array(
        (np.full(words.size, 8**-0.5), (np.repeat(np.arange(n), 8), words.ravel())),
        shape=(n, n_features),
    )
    return rows, labels


X, y = sample(np.repeat(np.arange(n_labels), 5))
X_test, y_test = sample(random.integers(0, n_labels, 1000))

known = y < n_labels - 50  # the last fifty labels come later
start = time.perf_counter()
tree = LabelTree(random_state=0).fit(X[known], y[known])
print(f"{known.sum()} rows, {len(tree.classes_)} labels: {time.perf_counter() - start:.1f} s")
print(f"depth {tree.shape_.depth()}, {tree.weights_.nbytes / 1e6:.1f} MB of weights")

tree.partial_fit(X[~known], y[~known])
print(f"{len(tree.classes_)} labels after partial_fit")

found = tree.candidates(X_test, 5)
ranked = found.indices.reshape(-1, 5)
print(f"P@1 {precision_at_k(y_test, ranked, 1):.3f}")
print(f"among the first five {top_k_accuracy(y_test, ranked, 5):.3f}")
print(f"nDCG@5 {ndcg_at_k(y_test, ranked, 5):.3f}")

late = y_test >= n_labels - 50
print(f"P@1 of the labels that came later {precision_at_k(y_test[late], ranked[late], 1):.3f}")
best, share = tree.classes_[ranked[0, 0]], np.exp(found.log_scores[0])
print(f"first row: label {best} with probability {share:.2f}, right is {y_test[0]}")
