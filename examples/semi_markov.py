"""
A structure of your own
=======================

Segments with a maximum length (a semi-Markov model), in a hundred lines of Python.

A structure says what an output is: here a sequence is cut into segments, each with a label, and a
segment scores by the sum of its tokens' features and by its length. A class that keeps the contract
`separatrix.protocols.Structure` is all that CRF, structured SVM and structured perceptron need.
"""

from dataclasses import dataclass

import numpy as np

from separatrix import CRF, StructuredPerceptron, StructuredSVM
from separatrix.data import as_attribute_sequences
from separatrix.structures import Best, CodedLabels, Sums


@dataclass(frozen=True)
class SegmentFeatures:
    """Weights of (feature, label), then of (length, label).

    Parts of a sequence of T tokens are an array (T, longest, K): segments by start, length, label.
    A token has the number 2 k + 1 where a segment with label k begins, and 2 k inside.
    """

    n_classes: int
    n_features: int
    longest: int

    @property
    def n_labels(self):
        return 2 * self.n_classes

    @property
    def n_weights(self):
        return (self.n_features + self.longest) * self.n_classes

    def _ends(self, T):
        """Ends of the segments, shape (T, longest), and whether they are within the sequence."""
        ends = np.arange(T)[:, None] + np.arange(1, self.longest + 1)
        return np.minimum(ends, T), (ends <= T)[..., None]

    def _segments(self, tokens):
        """Sums over the tokens of every segment, from shape (T, K) to (T, longest, K)."""
        total = np.concatenate([np.zeros((1, tokens.shape[1])), tokens.cumsum(axis=0)])
        ends, inside = self._ends(len(tokens))
        return np.where(inside, total[ends] - total[: len(tokens), None], -np.inf)

    def _part(self, codes):
        part = np.zeros((len(codes), self.longest, self.n_classes))
        starts = np.append(np.flatnonzero(codes % 2), len(codes))
        part[starts[:-1], np.diff(starts) - 1, codes[starts[:-1]] // 2] = 1.0
        return part

    def scores(self, w, inputs, n_threads=1):
        table = w.reshape(-1, self.n_classes)
        tokens, by_length = np.split(table, [self.n_features])
        rows = np.split(inputs.matrix @ tokens, inputs.offsets[1:-1])
        return [self._segments(row) + by_length for row in rows]

    def parts(self, inputs, labels):
        return [self._part(codes) for codes in np.split(labels, inputs.offsets[1:-1])]

    def adjoint(self, inputs, parts, weights=None):
        tokens = np.zeros((inputs.matrix.shape[0], self.n_classes))
        by_length = np.zeros((self.longest, self.n_classes))
        for i, (first, part) in enumerate(zip(inputs.offsets[:-1], parts, strict=True)):
            part = part if weights is None else weights[i] * part
            by_length += part.sum(axis=0)
            for start, length in np.argwhere(part.any(axis=2)):
                tokens[first + start : first + start + length + 1] += part[start, length]
        return np.concatenate([inputs.matrix.T @ tokens, by_length]).ravel()

    def values(self, scores, labels):
        own = np.split(labels, np.cumsum([len(table) for table in scores])[:-1])
        return np.array([t[self._part(o) > 0].sum() for t, o in zip(scores, own, strict=True)])

    def augmented(self, scores, labels, cost, scale=None):
        costs = cost[labels] if scale is None else cost[labels] * scale[:, None]
        own = np.split(costs, np.cumsum([len(table) for table in scores])[:-1])
        return [
            table + self._segments(c[:, ::2]) + (c[:, 1::2] - c[:, ::2])[:, None]
            for table, c in zip(scores, own, strict=True)
        ]

    def _forward(self, table, add):
        """Over segmentations of the first t tokens: max or log-sum-exp, and the last segment."""
        total, last = np.zeros(len(table) + 1), [None]
        for end in range(1, len(table) + 1):
            starts = np.arange(max(0, end - self.longest), end)
            values = total[starts, None] + table[starts, end - starts - 1]
            total[end] = add(values, axis=None)
            row, label = divmod(int(values.argmax()), self.n_classes)
            last.append((starts[row], label))
        return total, last

    def best(self, scores, n_threads=1):
        labels, values = [], []
        for table in scores:
            total, last = self._forward(table, np.max)
            codes, end = np.zeros(len(table), dtype=np.int64), len(table)
            while end:
                start, label = last[end]
                codes[start:end] = 2 * label
                codes[start] += 1
                end = start
            labels.append(codes)
            values.append(total[-1])
        return Best(np.concatenate(labels), np.array(values))

    def log_sum_exp(self, scores, *, edges=False, n_threads=1):
        logs, parts = [], []
        for table in scores:
            T = len(table)
            before, _ = self._forward(table, np.logaddexp.reduce)
            after = np.zeros(T + 1)
            ends, _ = self._ends(T)
            for start in range(T - 1, -1, -1):
                values = table[start] + after[ends[start], None]
                after[start] = np.logaddexp.reduce(values, axis=None)
            logs.append(before[T])
            parts.append(
                np.exp(table + before[:T, None, None] + after[ends][..., None] - before[T])
            )
        return Sums(np.array(logs), parts)

    def reach(self, inputs):
        """How far two segmentations of a sequence can lie apart: for proofs of optimality."""
        sizes = 1.0 + np.sqrt(inputs.matrix.multiply(inputs.matrix).sum(axis=1))
        return 2.0 * max(size.sum() for size in np.split(np.asarray(sizes), inputs.offsets[1:-1]))


@dataclass(frozen=True)
class Segments:
    """Sequences of tokens cut into segments; labels are lists of (label, length)."""

    longest: int = 4

    def read(self, X, features=None):
        return as_attribute_sequences(X)

    def codes(self, y, inputs, classes=None):
        classes = (
            np.unique([label for row in y for label, _ in row]) if classes is None else classes
        )
        segments = [(2 * np.searchsorted(classes, label), n) for row in y for label, n in row]
        codes = np.concatenate([[code + 1] + [code] * (n - 1) for code, n in segments])
        return CodedLabels(classes, codes, inputs.offsets, node_classes=np.arange(2 * len(classes)))

    def layout(self, inputs, labels):
        return SegmentFeatures(len(labels.classes), inputs.matrix.shape[1], self.longest)

    def labels(self, codes, inputs, classes):
        result = []
        for own in np.split(codes, inputs.offsets[1:-1]):
            starts = np.append(np.flatnonzero(own % 2), len(own))
            labels = classes[own[starts[:-1]] // 2].tolist()
            result.append(list(zip(labels, np.diff(starts).tolist(), strict=True)))
        return result


def sentences(n, seed):
    """Segments of "A" have three tokens, those of "B" one or two; tokens tell them with noise."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        row = [
            ("A", 3) if random.random() < 0.5 else ("B", int(random.integers(1, 3))) for _ in "1234"
        ]
        truth = np.concatenate([np.full(length, label == "A") for label, length in row])
        X.append(np.stack([truth + random.normal(size=len(truth)), np.ones(len(truth))], axis=1))
        y.append(row)
    return X, y


def per_token(y):
    return [[label for label, length in row for _ in range(length)] for row in y]


def accuracy(found, y):
    pairs = zip(np.concatenate(per_token(found)), np.concatenate(per_token(y)), strict=True)
    return np.mean([a == b for a, b in pairs])


if __name__ == "__main__":
    # Share of the tokens that are labelled right in new sequences.
    X, y = sentences(60, seed=0)
    X_test, y_test = sentences(200, seed=1)
    for learner in (
        CRF(Segments(3)),
        StructuredSVM(Segments(3), C=1.0, tol=1e-2, random_state=0),
        StructuredPerceptron(Segments(3), random_state=0),
    ):
        learner.fit(X, y)
        name, right = type(learner).__name__, accuracy(learner.predict(X_test), y_test)
        print(f"{name:20s} on segments: {right:.3f}, {learner.solution_.stopped.value}")
    chain = CRF().fit(X, per_token(y))
    print(f"{'CRF':20s} on a chain:  {chain.score(X_test, per_token(y_test)):.3f}")
