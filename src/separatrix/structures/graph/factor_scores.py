"""Scores of groups of nodes, brought to pairs: one more node per group, whose labels are tuples.

The node of a factor over m nodes has K^m labels, one per tuple of theirs; it takes the scores of
the table, and an edge to each of the m nodes forbids tuples that disagree with it. Maxima, sums and
draws are then those of a pairwise graph (Wainwright & Jordan 2008, appendix E.3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.data.graphs.expansion import Expansion
from separatrix.data.graphs.factors import Factors
from separatrix.errors import DataError
from separatrix.structures.graph.scores import GraphScores, labelling_scores

__all__ = ["FactorScores", "factor_codes"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Most labels of the node of a factor.
_MOST = 4096
#: Stands for minus infinity where messages must be finite.
_LOW = -1e4


def factor_codes(labels: Integers, factors: Factors, n_labels: int) -> Integers:
    """Which tuple of labels every factor has, the first node slowest, shape (n_factors,)."""
    if len(factors.nodes) == 0:
        return np.zeros(0, dtype=np.int64)
    shape = (n_labels,) * factors.arity
    codes: Integers = np.ravel_multi_index(tuple(labels[factors.nodes].T), shape).astype(np.int64)
    return codes


@dataclass(frozen=True, eq=False)
class FactorScores:
    """Scores of nodes, edges and factors.

    Attributes
    ----------
    pairwise : GraphScores
        Of nodes and edges.
    factors : Factors
    tables : array of shape (n_factor_kinds, K^m)
        Of the tuples of labels of a factor, the first node slowest.
    expansion : Expansion

    Examples
    --------
    >>> from separatrix.data.graphs.expansion import Expansion
    >>> from separatrix.structures.graph import forest
    >>> graphs = Graphs.of([3], [[]])
    >>> factors = Factors.of([[(0, 1, 2)]], graphs.node_offsets)
    >>> parity = np.array([[0.0, 1, 1, 0, 1, 0, 0, 1]])  # an odd number of ones
    >>> pairs = GraphScores.of(graphs, np.zeros((3, 2)), np.zeros((0, 2, 2)))
    >>> scores = FactorScores(pairs, factors, parity, Expansion.of(graphs, factors))
    >>> forest.best_labels(scores.expanded())[1].tolist()
    [1.0]
    """

    pairwise: GraphScores
    factors: Factors
    tables: Floats
    expansion: Expansion

    @property
    def graphs(self) -> Graphs:
        """Nodes and edges, without factors."""
        return self.pairwise.graphs

    @property
    def unary(self) -> Floats:
        """Scores of the nodes."""
        return self.pairwise.unary

    def augmented(
        self, labels: Integers, cost: Floats, scale: Floats | None = None
    ) -> FactorScores:
        """As of `GraphScores`."""
        return replace(self, pairwise=self.pairwise.augmented(labels, cost, scale))

    def labelling_scores(self, labels: npt.ArrayLike) -> Floats:
        """Score of a labelling of all nodes, shape (n_graphs,)."""
        pairs = labelling_scores(self.pairwise, labels)
        codes = factor_codes(np.asarray(labels), self.factors, self.unary.shape[1])
        values = self.tables[self.factors.kinds, codes]
        graph = np.repeat(np.arange(len(pairs)), np.diff(self.factors.offsets))
        return pairs + np.bincount(graph, weights=values, minlength=len(pairs))

    def expanded(self, *, finite: bool = False) -> GraphScores:
        """The same as scores of nodes and pairs; `finite` forbids by low scores."""
        pairwise, at = self.pairwise, self.expansion
        K, m = self.unary.shape[1], self.factors.arity
        size = K**m
        if size > _MOST:
            raise DataError(f"{K} labels make {size} tuples of {m} nodes, more than {_MOST}")
        low = _LOW if finite else -np.inf
        unary = np.full((at.graphs.n_nodes, size), low)
        unary[at.nodes, :K] = pairwise.unary
        unary[at.factors] = self.tables[self.factors.kinds]
        tables = np.zeros((m + len(pairwise.tables), size, size))
        digits = np.stack(np.unravel_index(np.arange(size), (K,) * m))
        tables[:m] = np.where(digits[:, :, None] == np.arange(size), 0.0, low)
        tables[m:, :K, :K] = pairwise.tables
        own = None
        if pairwise.own is not None:
            own = np.zeros((len(at.graphs.edges), size, size))
            own[at.edges, :K, :K] = pairwise.own
        return GraphScores(at.graphs, unary, tables, own)
