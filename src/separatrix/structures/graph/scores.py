"""Batches of graphs, and the scores of their labellings.

A labelling y of the nodes of a graph scores sum_i unary[i, y_i] + sum_e pair_e[y_from(e), y_to(e)],
where pair_e is the table of the edge's kind plus, if there are any, scores of the edge's own;
minus infinity forbids.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.errors import DataError
from separatrix.structures.graph.convergence import Convergence

__all__ = ["GraphMarginals", "GraphScores", "labelling_scores"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class GraphScores:
    """The scores of a batch of graphs.

    Attributes
    ----------
    graphs : Graphs
        Nodes and edges.
    unary : array of shape (n_nodes, K)
        Scores of the labels.
    tables : array of shape (n_kinds, K, K)
        Scores of (label of the first node, label of the second) by kind of edge.
    own : array of shape (n_edges, K, K) or None
        Scores of each edge in addition.

    Examples
    --------
    >>> from separatrix.structures.graph.forest import best_labels
    >>> graphs = Graphs.of([3], [[(0, 1), (0, 2)]])
    >>> scores = GraphScores.of(graphs, [[0.0, 0.5], [1.0, 0.0], [1.0, 0.0]], np.eye(2))
    >>> labels, best = best_labels(scores)
    >>> labels.tolist(), best.tolist()
    ([0, 0, 0], [4.0])
    """

    graphs: Graphs
    unary: Floats
    tables: Floats
    own: Floats | None = None

    @classmethod
    def of(
        cls,
        graphs: Graphs,
        unary: npt.ArrayLike,
        tables: npt.ArrayLike,
        own: npt.ArrayLike | None = None,
    ) -> GraphScores:
        """Scores from anything that arrays can be made of; one table may serve all kinds.

        Parameters
        ----------
        graphs : Graphs
        unary : array-like of shape (n_nodes, K)
        tables : array-like of shape (K, K) or (n_kinds, K, K)
        own : array-like of shape (n_edges, K, K), optional
        """
        unary = np.ascontiguousarray(unary, dtype=np.float64)
        if unary.ndim != 2 or len(unary) != graphs.n_nodes:
            raise DataError(f"unary must have shape ({graphs.n_nodes}, K), got {unary.shape}")
        K = unary.shape[1]
        tables = np.asarray(tables, dtype=np.float64)
        n_kinds = int(graphs.kinds.max(initial=-1)) + 1
        if tables.shape == (K, K):
            tables = np.broadcast_to(tables, (n_kinds, K, K))
        if tables.ndim != 3 or tables.shape[1:] != (K, K):
            raise DataError(f"tables must have shape ({n_kinds}, {K}, {K}), got {tables.shape}")
        if len(graphs.edges) and len(tables) > n_kinds:
            raise DataError(
                f"{len(tables)} tables for edges of {n_kinds} kinds: a table belongs to a kind of "
                "edge, see `Graphs.kinds`; scores of single edges are `own`"
            )
        if own is not None:
            own = np.ascontiguousarray(own, dtype=np.float64)
            if own.shape != (len(graphs.edges), K, K):
                expected = (len(graphs.edges), K, K)
                raise DataError(f"own scores must have shape {expected}, got {own.shape}")
        return cls(graphs, unary, np.ascontiguousarray(tables), own)

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats | None]:
        """(unary, tables, own) for the kernels."""
        return self.unary, self.tables, self.own

    def augmented(self, labels: Integers, cost: Floats, scale: Floats | None = None) -> GraphScores:
        """The same scores with scale_i cost[label, other] added to the other labels of node i."""
        costs = cost[labels] if scale is None else cost[labels] * scale[:, None]
        return replace(self, unary=self.unary + costs)

    def pairs(self) -> Floats:
        """Scores of the pairs of labels of every edge, shape (n_edges, K, K)."""
        shared = self.tables[self.graphs.kinds]
        return shared if self.own is None else shared + self.own


class GraphMarginals(NamedTuple):
    """Sums over all labellings, exact, estimated or bounded as the method says.

    Attributes
    ----------
    log_partition : array of shape (n_graphs,)
        log Z, an estimate or a bound of it.
    nodes : array of shape (n_nodes, K)
        p(label of a node).
    edges : array of shape (n_edges, K, K) or None
        p(label of the first node, label of the second).
    messages : array or None
        To start the next call from.
    convergence : Convergence or None
        How iterations ended, where there were any.
    factors : array of shape (n_factors, K^m) or None
        p(tuple of labels), the first node slowest.
    """

    log_partition: Floats
    nodes: Floats
    edges: Floats | None
    messages: Floats | None = None
    convergence: Convergence | None = None
    factors: Floats | None = None

    @property
    def parts(self) -> tuple[Floats, ...]:
        """Marginals of nodes, edges and factors, as the adjoint of features takes them."""
        assert self.edges is not None
        pairs = self.nodes, self.edges
        return pairs if self.factors is None else (*pairs, self.factors)


def labelling_scores(scores: GraphScores, labels: npt.ArrayLike) -> Floats:
    """Score of a labelling of all nodes, shape (n_graphs,).

    Examples
    --------
    >>> graphs = Graphs.of([2, 1], [[(0, 1)], []])
    >>> scores = GraphScores.of(graphs, [[0.0, 1.0], [2.0, 0.0], [5.0, 0.0]], [[0, 0], [7, 0]])
    >>> labelling_scores(scores, [1, 0, 0]).tolist()
    [10.0, 5.0]
    """
    graphs = scores.graphs
    n, K = scores.unary.shape
    labels = np.asarray(labels, dtype=np.int64)
    if labels.shape != (n,) or (n and not (labels.min() >= 0 and labels.max() < K)):
        raise DataError(f"expected {n} labels from 0 to {K - 1}")
    first, second = labels[graphs.edges[:, 0]], labels[graphs.edges[:, 1]]
    edges = scores.tables[graphs.kinds, first, second]
    if scores.own is not None:
        edges = edges + scores.own[np.arange(len(edges)), first, second]
    totals: Floats = np.zeros(graphs.n_graphs)
    for values, offsets in (
        (scores.unary[np.arange(n), labels], graphs.node_offsets),
        (edges, graphs.edge_offsets),
    ):
        graph = np.repeat(np.arange(graphs.n_graphs), np.diff(offsets))
        totals += np.bincount(graph, weights=values, minlength=graphs.n_graphs)
    return totals
