"""A structure, all that there is to write: labels in an order, such as grades.

Label k of a row x scores k <w, x> + b_1 + ... + b_k: one weight per feature, and one per step.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from separatrix.structures import STRUCTURES, Best, CodedLabels, Sums
from separatrix.structures.labels import feature_matrix
from separatrix.structures.labels.structure import Rows


@dataclass(frozen=True)
class OrderedFeatures:
    """Weights of the features, then of the steps; scores and parts have the shape (n, K)."""

    n_labels: int
    n_features: int

    @property
    def n_weights(self):
        return self.n_features + self.n_labels - 1

    def scores(self, w, inputs, n_threads=1):
        slope, steps = np.split(w, [self.n_features])
        slopes = np.outer(inputs.matrix @ slope, np.arange(self.n_labels))
        return slopes + np.append(0.0, np.cumsum(steps))

    def parts(self, inputs, labels):
        return np.eye(self.n_labels)[labels]

    def adjoint(self, inputs, parts, weights=None):
        parts = parts if weights is None else parts * weights[:, None]
        above = parts.sum(axis=0)[::-1].cumsum()[::-1][1:]
        return np.append(inputs.matrix.T @ (parts @ np.arange(self.n_labels)), above)

    def values(self, scores, labels):
        return scores[np.arange(len(scores)), labels]

    def augmented(self, scores, labels, cost, scale=None):
        return scores + (cost[labels] if scale is None else cost[labels] * scale[:, None])

    def best(self, scores, n_threads=1):
        labels = scores.argmax(axis=1)
        return Best(labels, self.values(scores, labels))

    def log_sum_exp(self, scores, *, edges=False, n_threads=1):
        log_z = logsumexp(scores, axis=1)
        p = np.exp(scores - log_z[:, None])
        return Sums(log_z, p, p)

    def reach(self, inputs):
        squares = np.square(inputs.matrix).sum(axis=1).max() + 1.0
        return float(2 * self.n_labels * np.sqrt(squares))


@dataclass(frozen=True)
class Ordered:
    """One of K labels in an order."""

    def read(self, X, features=None):
        return X if isinstance(X, Rows) else Rows(feature_matrix(X))

    def codes(self, y, inputs, classes=None):
        classes = np.unique(y) if classes is None else classes
        return CodedLabels(classes, np.searchsorted(classes, y), inputs.offsets)

    def layout(self, inputs, labels):
        return OrderedFeatures(len(labels.classes), inputs.matrix.shape[1])

    def labels(self, codes, inputs, classes):
        return classes[codes]


STRUCTURES["toy"] = Ordered
