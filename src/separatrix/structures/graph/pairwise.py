"""Pairwise graphs of labels: which features there are, their scores, and inference with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data import FeatureGraphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.graph.operations import GraphOperations, weighted
from separatrix.structures.graph.scores import GraphScores
from separatrix.structures.sections import sections_of
from separatrix.validation import is_sparse

__all__ = ["PAIRS", "PairwiseGraph", "joined_rows", "pair_cells", "signed_counts"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Which pairs of labels have weights of their own.
PAIRS = ("full", "symmetric", "associative", "potts")


def pair_cells(pairs: str, K: int) -> Integers:
    """Number of the weight of every pair of labels, -1 for none, shape (K, K).

    Examples
    --------
    >>> pair_cells("symmetric", 2).tolist(), pair_cells("potts", 2).tolist()
    ([[0, 1], [1, 2]], [[0, -1], [-1, 0]])
    """
    if pairs == "full":
        return np.arange(K * K, dtype=np.int64).reshape(K, K)
    if pairs == "symmetric":
        cells = np.zeros((K, K), dtype=np.int64)
        cells[np.triu_indices(K)] = np.arange(K * (K + 1) // 2)
        return np.maximum(cells, cells.T)
    if pairs == "associative":
        return np.where(np.eye(K, dtype=bool), np.arange(K, dtype=np.int64), -1)
    if pairs == "potts":
        return np.where(np.eye(K, dtype=bool), 0, -1).astype(np.int64)
    raise ParameterError(f"pairs must be one of {', '.join(PAIRS)}, got {pairs!r}")


#: Asked for with every call.
_known_cells = lru_cache(maxsize=8)(pair_cells)


@dataclass(frozen=True, eq=False)
class PairwiseGraph(GraphOperations):
    """Features Psi(x, y) of a graph of K labels; h(x, y) = <w, Psi(x, y)>.

    The weights are one vector: those of pairs of labels by kind of edge; of (edge feature, pair of
    labels); of (node feature, label); and a bias per label, if wanted. Pairs of labels share
    weights as `pairs` says.

    Attributes
    ----------
    n_labels : int
        K.
    n_features : int
        Features of a node.
    n_kinds : int
        Kinds of edges: one for graphs, two or four directions for images.
    n_edge_features : int
        Features of an edge.
    pairs : {"full", "symmetric", "associative", "potts"}
        A weight per pair of labels, per pair in any order, per label that both nodes share, or one
        for all pairs of equal labels.
    method : {"forest", "junction", "loopy", "tree_reweighted"}
        This and the rest: see `GraphOperations`.
    bias : bool
        Whether labels have biases.

    Examples
    --------
    >>> X = FeatureGraphs.of([[[1.0], [0.2], [1.0]]], [[(0, 1), (1, 2)]])
    >>> graph = PairwiseGraph(2, 1, pairs="potts", method="forest")
    >>> w = np.array([0.8, 0.0, 1.0, 0.5, 0.0])  # equal labels, feature by label, biases
    >>> graph.best(graph.scores(w, X))[0].tolist()
    [1, 1, 1]
    """

    n_labels: int
    n_features: int
    n_kinds: int = 1
    n_edge_features: int = 0
    pairs: str = "full"
    method: str = "loopy"
    bias: bool = True
    damping: float | None = None
    max_sweeps: int = 200

    def __post_init__(self) -> None:
        self._check_method()
        _ = self._cells

    @property
    def _cells(self) -> Integers:
        return _known_cells(self.pairs, self.n_labels)

    @property
    def n_pairs(self) -> int:
        """Weights of the pairs of labels of one kind of edge, or of one edge feature."""
        return int(self._cells.max(initial=-1)) + 1

    @property
    def sections(self) -> dict[str, slice]:
        """Where the weights of every kind stand; biases, which learners leave free, come last."""
        sizes = {
            "pairs": self.n_kinds * self.n_pairs,
            "edges": self.n_edge_features * self.n_pairs,
            "state": self.n_features * self.n_labels,
            "bias": self.n_labels if self.bias else 0,
        }
        return sections_of(sizes)

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.sections["bias"].stop)

    @property
    def n_classes(self) -> int:
        """Number of labels that a node may have."""
        return self.n_labels

    def pair_weights(self, w: Floats) -> Floats:
        """Weights of pairs of labels by kind of edge, shape (n_kinds, K, K)."""
        pairs = w[self.sections["pairs"]]
        return self.tables(pairs.reshape(self.n_kinds, self.n_pairs))

    def tables(self, weights: Floats) -> Floats:
        """Weights of pairs, shape (n, n_pairs), as tables of shape (n, K, K)."""
        padded = np.concatenate([weights, np.zeros((len(weights), 1))], axis=1)
        return np.ascontiguousarray(padded[:, self._cells])

    def _pair_sums(self, tables: Floats) -> Floats:
        """The adjoint of :meth:`tables`."""
        cells = self._cells.ravel()
        flat = tables.reshape(len(tables), len(cells))
        share = np.zeros((len(cells), self.n_pairs))
        share[np.flatnonzero(cells >= 0), cells[cells >= 0]] = 1.0
        return flat @ share

    def _check(self, X: FeatureGraphs) -> None:
        found = (
            X.matrix.shape[1],
            0 if X.edge_matrix is None else X.edge_matrix.shape[1],
        )
        if found != (self.n_features, self.n_edge_features):
            raise DataError(
                f"X has {found[0]} features of nodes and {found[1]} of edges; expected "
                f"{self.n_features} and {self.n_edge_features}"
            )
        n_kinds = int(X.graphs.kinds.max(initial=-1)) + 1
        if n_kinds > self.n_kinds:
            raise DataError(f"X has {n_kinds} kinds of edges; expected at most {self.n_kinds}")

    def scores(self, w: Floats, X: FeatureGraphs, n_threads: int = 1) -> GraphScores:
        """Scores of all nodes and edges; `n_threads` is there for the sake of other structures."""
        self._check(X)
        parts = {name: w[place] for name, place in self.sections.items()}
        state = parts["state"].reshape(self.n_features, self.n_labels)
        unary = np.ascontiguousarray(X.matrix @ state + (parts["bias"] if self.bias else 0.0))
        tables = self.tables(parts["pairs"].reshape(self.n_kinds, self.n_pairs))
        own = None
        if X.edge_matrix is not None:
            weights = parts["edges"].reshape(self.n_edge_features, self.n_pairs)
            own = self.tables(np.asarray(X.edge_matrix @ weights))
        return GraphScores(X.graphs, unary, tables, own)

    def adjoint(
        self,
        X: FeatureGraphs,
        parts: tuple[Floats, Floats],
        weights: Floats | None = None,
    ) -> Floats:
        """Psi' of numbers per node and label, and per edge and pair of labels; times weights."""
        self._check(X)
        graphs = X.graphs
        nodes, edges = weighted(parts, weights, graphs.node_offsets, graphs.edge_offsets)
        sums = self._pair_sums(edges)
        kinds = X.graphs.kinds
        columns = [np.bincount(kinds, column, self.n_kinds) for column in sums.T]
        pairs = np.stack(columns, axis=1) if columns else np.zeros((self.n_kinds, 0))
        own = np.zeros(0) if X.edge_matrix is None else X.edge_matrix.T @ sums
        sums_by_kind: list[Any] = [pairs, own, X.matrix.T @ nodes]
        if self.bias:
            sums_by_kind.append(nodes.sum(axis=0))
        return np.concatenate([np.asarray(part).ravel() for part in sums_by_kind])

    def parts(self, X: FeatureGraphs, labels: Integers) -> tuple[Floats, Floats]:
        """One at the label of every node and at the pair of every edge, as marginals have them."""
        n, K, edges = X.graphs.n_nodes, self.n_labels, X.graphs.edges
        if labels.shape != (n,) or (n and not (labels.min() >= 0 and labels.max() < K)):
            raise DataError(f"expected {n} labels from 0 to {K - 1}")
        nodes, pairs = np.zeros((n, K)), np.zeros((len(edges), K, K))
        nodes[np.arange(n), labels] = 1.0
        pairs[np.arange(len(edges)), labels[edges[:, 0]], labels[edges[:, 1]]] = 1.0
        return nodes, pairs

    def features(self, X: FeatureGraphs, labels: Integers) -> Floats:
        """The sum over the graphs of Psi(x, y)."""
        return self.adjoint(X, self.parts(X, labels))

    def differences(self, X: FeatureGraphs, labels: Integers, others: Integers) -> sp.csr_matrix:
        """Psi(x, y) - Psi(x, y') of every graph as rows of a CSR matrix."""
        graphs, n, cells = X.graphs, X.graphs.n_graphs, self._cells
        of_node = np.repeat(np.arange(n), np.diff(graphs.node_offsets))
        of_edge = np.repeat(np.arange(n), np.diff(graphs.edge_offsets))
        first, second = graphs.edges.T
        pair, other = cells[labels[first], labels[second]], cells[others[first], others[second]]
        changed = np.flatnonzero(pair != other)
        ends = pair[changed], other[changed]
        kinds, rows = graphs.kinds[changed] * self.n_pairs, of_edge[changed]
        places = [np.where(cell < 0, -1, kinds + cell) for cell in ends]
        parts = [signed_counts(rows, places, (n, self.n_kinds * self.n_pairs))]
        if X.edge_matrix is not None:
            parts.append(_signed_sums(X.edge_matrix, rows, changed, ends, (n, self.n_pairs)))
        nodes = np.flatnonzero(labels != others)
        ends, rows = (labels[nodes], others[nodes]), of_node[nodes]
        parts.append(_signed_sums(X.matrix, rows, nodes, ends, (n, self.n_labels)))
        if self.bias:
            parts.append(signed_counts(rows, ends, (n, self.n_labels)))
        return joined_rows(parts)


def joined_rows(parts: list[Any]) -> sp.csr_matrix:
    """Matrices side by side as one CSR matrix."""
    if any(sp.issparse(part) for part in parts):
        return sp.csr_matrix(sp.hstack(parts, format="csr"))
    return sp.csr_matrix(np.concatenate(parts, axis=1))


def signed_counts(rows: Integers, ends: Sequence[Integers], shape: tuple[int, int]) -> Floats:
    """By row, how often cells occur in ends[0] less how often in ends[1]; -1 is no cell."""
    total = np.zeros(shape[0] * shape[1])
    for sign, cells in zip((1.0, -1.0), ends, strict=True):
        kept = cells >= 0
        total += sign * np.bincount(rows[kept] * shape[1] + cells[kept], minlength=len(total))
    return total.reshape(shape)


def _signed_sums(
    matrix: Any, rows: Integers, items: Integers, ends: Sequence[Integers], shape: tuple[int, int]
) -> Any:
    """By row, sums of the features of items by cell, plus for one end and minus for the other.

    The feature is slower than the cell. Items are sorted by row.
    """
    n_rows, n_cells = shape
    signs = np.zeros((len(items), n_cells))
    for sign, cells in zip((1.0, -1.0), ends, strict=True):
        kept = np.flatnonzero(cells >= 0)
        signs[kept, cells[kept]] += sign
    if not is_sparse(matrix):
        sums = np.zeros((n_rows, matrix.shape[1], n_cells))
        starts = np.searchsorted(rows, np.arange(n_rows + 1))
        for row in np.unique(rows).tolist():
            own = slice(starts[row], starts[row + 1])
            sums[row] = matrix[items[own]].T @ signs[own]
        return sums.reshape(n_rows, -1)
    item, cell = np.nonzero(signs)
    shape = n_rows * n_cells, matrix.shape[0]
    places = rows[item] * n_cells + cell, items[item]
    found = sp.coo_matrix(sp.csr_matrix((signs[item, cell], places), shape=shape) @ matrix)
    row, cell = np.divmod(found.row.astype(np.int64), n_cells)
    columns = found.col.astype(np.int64) * n_cells + cell
    size = n_rows, matrix.shape[1] * n_cells
    return sp.csr_matrix((found.data, (row, columns)), shape=size)
