"""Graphs with a node more for every factor, so that all scores are of nodes and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.graphs.factors import Factors

__all__ = ["Expansion"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Expansion:
    """A batch of graphs with a node more for every factor.

    Attributes
    ----------
    graphs : Graphs
        The nodes of a graph, then its factors; its edges, then those of the factors.
    nodes, factors : int64 arrays
        Where the nodes and the factors of the batch stand among the nodes of `graphs`.
    edges : int64 array
        Where the edges of the batch stand among those of `graphs`.
    """

    graphs: Any
    nodes: Integers
    factors: Integers
    edges: Integers

    @classmethod
    def of(cls, graphs: Any, factors: Factors) -> Expansion:
        """Edges of factors have the kinds 0..m-1, the others m and more."""
        m, numbers = factors.arity, np.arange(graphs.n_graphs)
        of_node = np.repeat(numbers, np.diff(graphs.node_offsets))
        of_factor = np.repeat(numbers, np.diff(factors.offsets))
        of_edge = np.repeat(numbers, np.diff(graphs.edge_offsets))
        nodes = np.arange(graphs.n_nodes) + factors.offsets[of_node]
        own = np.arange(len(of_factor)) + graphs.node_offsets[1:][of_factor]
        edges = np.arange(len(of_edge)) + m * factors.offsets[of_edge]
        links = m * np.arange(len(of_factor)) + graphs.edge_offsets[1:][of_factor]
        n_edges = len(graphs.edges) + m * len(of_factor)
        ends, kinds = np.zeros((n_edges, 2), dtype=np.int64), np.zeros(n_edges, dtype=np.int64)
        ends[edges], kinds[edges] = nodes[graphs.edges], m + graphs.kinds
        for j in range(m):
            ends[links + j] = np.stack([own, nodes[factors.nodes[:, j]]], axis=1)
            kinds[links + j] = j
        offsets = graphs.node_offsets + factors.offsets, graphs.edge_offsets + m * factors.offsets
        return cls(type(graphs)(*offsets, ends, kinds), nodes, own, edges)
