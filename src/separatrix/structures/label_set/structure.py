"""Sets of labels as the structure of a learner."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.errors import ParameterError
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.graph.node_labels import encode_sets
from separatrix.structures.graph.operations import METHODS, method_for
from separatrix.structures.label_set.features import LabelGraph, LabelRows, chow_liu
from separatrix.structures.labels import feature_matrix
from separatrix.validation import check_choice

__all__ = ["LabelSet"]

Integers = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


@dataclass(frozen=True)
class LabelSet:
    """Sets of labels: rows of features, any number of labels each, that tend to occur together.

    Parameters
    ----------
    edges : {"tree", "full"} or sequence of pairs
        Labels whose co-occurrence has a weight: the tree of greatest mutual information (Chow &
        Liu 1968), all pairs, or given pairs of columns; none makes labels independent.
    inference : {"auto", "forest", "junction", "loopy", "tree_reweighted"}
        As for `Graph`.
    damping, max_sweeps
        As for `Graph`.

    Examples
    --------
    >>> from separatrix import CRF
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> crf = CRF(LabelSet(), C=10.0).fit(X, Y)
    >>> crf.predict(X).tolist()
    [[0, 0], [0, 0], [1, 1], [1, 1]]
    >>> crf.predict_proba(X).shape
    (4, 2)
    """

    edges: Any = "tree"
    inference: str = "auto"
    damping: float | None = None
    max_sweeps: int = 200

    def _edges(self, Y: Integers) -> Integers:
        L = Y.shape[1]
        if isinstance(self.edges, str):
            check_choice("edges", self.edges, ("tree", "full"))
            if self.edges == "tree":
                return chow_liu(Y)
            return np.array(list(combinations(range(L), 2)), dtype=np.int64).reshape(-1, 2)
        edges = np.asarray(self.edges)
        if edges.size == 0:
            return np.zeros((0, 2), dtype=np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ParameterError("edges must be 'tree', 'full' or pairs of numbers of labels")
        for a, b in edges.tolist():
            if not (0 <= a < L and 0 <= b < L) or a == b:
                raise ParameterError(
                    f"edges name the labels {a} and {b}; expected two of 0..{L - 1}"
                )
        if len({(min(a, b), max(a, b)) for a, b in edges.tolist()}) < len(edges):
            raise ParameterError("edges name a pair of labels twice")
        return edges.astype(np.int64)

    def check(self) -> None:
        """Raise ParameterError where a parameter is not one of its values."""
        check_choice("inference", self.inference, ("auto", *METHODS))

    def read(self, X: Any, features: LabelGraph | None = None) -> LabelRows:
        """The rows of X, checked; with fitted features, with a graph over the labels each."""
        if features is None:
            return LabelRows.of(feature_matrix(X), 0, np.zeros((0, 2), dtype=np.int64))
        rows = features.rows(X.matrix if isinstance(X, LabelRows) else feature_matrix(X))
        features._check(rows)
        return rows

    def codes(self, y: Any, inputs: LabelRows, classes: AnyArray | None = None) -> CodedLabels:
        """Which labels are present, one number per row and label; columns are labels."""
        Y = encode_sets(y, len(inputs), None if classes is None else len(classes))
        n, L = Y.shape
        offsets = np.arange(n + 1, dtype=np.int64) * L
        return CodedLabels(np.arange(L), Y.ravel(), offsets, node_classes=np.arange(2))

    def layout(self, inputs: LabelRows, labels: CodedLabels) -> LabelGraph:
        """The features of rows with sets of labels."""
        L, d = len(labels.classes), inputs.matrix.shape[1]
        edges = self._edges(labels.codes.reshape(-1, L))
        method = method_for(Graphs.of([L], [edges]), 2, self.inference)
        return LabelGraph(L, d, edges, method, self.damping, self.max_sweeps)

    def labels(self, codes: Integers, X: LabelRows, classes: AnyArray) -> Any:
        """A matrix of 0 and 1, shape (n, L)."""
        return codes.reshape(len(X), len(classes))

    def marginals(self, nodes: AnyArray, X: LabelRows) -> Any:
        """Probabilities that labels are present, shape (n, L)."""
        return np.ascontiguousarray(nodes[:, 1]).reshape(len(X), -1)
