"""Batches of graphs as flat arrays: nodes, edges, and features of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import GraphWiring
from separatrix.data.graphs.expansion import Expansion
from separatrix.data.graphs.factors import Factors
from separatrix.data.sequences.containers import _gather, _row_numbers, _starts
from separatrix.errors import DataError, ParameterError

__all__ = ["FeatureGraphs", "Graphs"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graphs:
    """Nodes and edges of a batch of graphs, one graph after the other.

    Attributes
    ----------
    node_offsets, edge_offsets : int64 arrays of shape (n_graphs + 1,)
        Where the nodes and the edges of each graph begin, and where the last ones end.
    edges : int64 array of shape (n_edges, 2)
        The nodes that an edge joins, as numbers of the batch.
    kinds : int64 array of shape (n_edges,)
        Which table of pair scores an edge has.
    shapes : tuple of (height, width), or None
        Of every graph, where all are grids made by :meth:`grids`.
    neighborhood : {4, 8} or None
        Neighbors of a pixel in such grids.

    Examples
    --------
    >>> graphs = Graphs.of([3, 2], [[(0, 1), (1, 2)], [(0, 1)]])
    >>> graphs.edges.tolist()
    [[0, 1], [1, 2], [3, 4]]
    >>> Graphs.of([3], [[(0, 3)]])
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: edge 0 joins the nodes 0 and 3, but its graph 0 has the nodes 0..3
    """

    node_offsets: Integers
    edge_offsets: Integers
    edges: Integers
    kinds: Integers
    shapes: tuple[tuple[int, int], ...] | None = None
    neighborhood: int | None = None

    def __post_init__(self) -> None:
        # Bad edges are told where they are made.
        _ = self.wiring

    def __getstate__(self) -> dict[str, Any]:
        # The kernels' handle stays behind, and is made again.
        return {name: value for name, value in vars(self).items() if name != "wiring"}

    @cached_property
    def wiring(self) -> GraphWiring:
        """The same for the kernels."""
        ends = np.ascontiguousarray(self.edges.T)
        return GraphWiring(self.node_offsets, self.edge_offsets, ends[0], ends[1], self.kinds)

    @classmethod
    def of(
        cls,
        n_nodes: Sequence[int],
        edges: Sequence[npt.ArrayLike],
        kinds: Sequence[npt.ArrayLike] | None = None,
    ) -> Graphs:
        """Graphs one by one.

        Parameters
        ----------
        n_nodes : sequence of int
            Nodes of each graph.
        edges : sequence of array-like of shape (n_edges of the graph, 2)
            Edges of each graph; its nodes count from zero.
        kinds : sequence of array-like of int, optional
            Kind of every edge of each graph; zero without.
        """
        if len(edges) != len(n_nodes) or (kinds is not None and len(kinds) != len(n_nodes)):
            raise DataError(f"{len(n_nodes)} graphs need as many lists of edges, and of kinds")
        parts = [np.asarray(part, dtype=np.int64).reshape(-1, 2) for part in edges]
        if kinds is None:
            return cls._joined(n_nodes, parts, [np.zeros(len(p), dtype=np.int64) for p in parts])
        return cls._joined(n_nodes, parts, [np.asarray(k, dtype=np.int64) for k in kinds])

    @classmethod
    def _joined(
        cls,
        n_nodes: Sequence[int],
        edges: Sequence[Integers],
        kinds: Sequence[Integers],
        shapes: tuple[tuple[int, int], ...] | None = None,
        neighborhood: int | None = None,
    ) -> Graphs:
        starts = _starts([int(n) for n in n_nodes])
        moved = [part + start for part, start in zip(edges, starts[:-1], strict=True)]
        return cls(
            starts,
            _starts([len(part) for part in edges]),
            np.concatenate([np.zeros((0, 2), dtype=np.int64), *moved]),
            np.concatenate([np.zeros(0, dtype=np.int64), *kinds]),
            shapes,
            neighborhood,
        )

    @classmethod
    def grids(cls, shapes: Sequence[tuple[int, int]], neighborhood: int = 4) -> Graphs:
        """Images: pixels row by row, edges by direction.

        The edges of an image run along rows (kind 0), down columns (kind 1) and, with eight
        neighbors, down to the right (kind 2) and down to the left (kind 3).

        Parameters
        ----------
        shapes : sequence of (height, width)
        neighborhood : {4, 8}

        Examples
        --------
        >>> graphs = Graphs.grids([(2, 2)])
        >>> graphs.edges.tolist(), graphs.kinds.tolist()
        ([[0, 1], [2, 3], [0, 2], [1, 3]], [0, 0, 1, 1])
        """
        if neighborhood not in (4, 8):
            raise ParameterError(f"neighborhood must be 4 or 8, got {neighborhood}")
        edges, kinds = [], []
        for height, width in shapes:
            pixel = np.arange(height * width, dtype=np.int64).reshape(height, width)
            ways = [(pixel[:, :-1], pixel[:, 1:]), (pixel[:-1], pixel[1:])]
            if neighborhood == 8:
                ways += [(pixel[:-1, :-1], pixel[1:, 1:]), (pixel[:-1, 1:], pixel[1:, :-1])]
            edges.append(np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in ways]))
            kinds.append(np.repeat(np.arange(len(ways)), [a.size for a, _ in ways]))
        shape = tuple((int(height), int(width)) for height, width in shapes)
        n_nodes = [height * width for height, width in shape]
        return cls._joined(n_nodes, edges, kinds, shape, neighborhood)

    def take(self, rows: npt.ArrayLike) -> Graphs:
        """The graphs named by `rows`, with nodes numbered anew."""
        _, node_offsets = _gather(self.node_offsets, rows)
        picked, edge_offsets = _gather(self.edge_offsets, rows)
        numbers = _row_numbers(rows, self.n_graphs)
        # By how much the nodes of each graph move.
        moves = node_offsets[:-1] - self.node_offsets[numbers]
        edges = self.edges[picked] + np.repeat(moves, np.diff(edge_offsets))[:, None]
        shapes = None if self.shapes is None else tuple(self.shapes[i] for i in numbers.tolist())
        kinds = self.kinds[picked]
        return Graphs(node_offsets, edge_offsets, edges, kinds, shapes, self.neighborhood)

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.node_offsets) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return int(self.node_offsets[-1])

    @property
    def is_forest(self) -> bool:
        """Whether no graph has a cycle."""
        return self.wiring.is_forest()


@dataclass(frozen=True, eq=False)
class FeatureGraphs:
    """Graphs whose nodes, and perhaps edges, have features.

    The form in which structured learners read graphs. An array of numbers or of truth values as an
    index takes these graphs, so that scikit-learn's splits work.

    Attributes
    ----------
    matrix : array or CSR matrix of shape (n_nodes, n_features)
        Features of the nodes of all graphs.
    graphs : Graphs
        Nodes and edges.
    edge_matrix : array or CSR matrix of shape (n_edges, n_edge_features), or None
        Features of the edges.
    factors : Factors or None
        Groups of more than two nodes whose labels have weights of their own.

    Examples
    --------
    >>> X = FeatureGraphs.of([np.eye(2), np.ones((1, 2))], [[(0, 1)], []])
    >>> len(X), X.matrix.shape, X[[1]].matrix.tolist()
    (2, (3, 2), [[1.0, 1.0]])
    >>> features, edges = X[0]
    >>> edges.tolist()
    [[0, 1]]
    """

    matrix: Any
    graphs: Graphs
    edge_matrix: Any = None
    factors: Factors | None = None

    def __post_init__(self) -> None:
        n, m = self.graphs.n_nodes, len(self.graphs.edges)
        if self.matrix.shape[0] != n:
            raise DataError(f"{n} nodes have {self.matrix.shape[0]} rows of features")
        if self.edge_matrix is not None and self.edge_matrix.shape[0] != m:
            raise DataError(f"{m} edges have {self.edge_matrix.shape[0]} rows of features")

    @classmethod
    def of(
        cls,
        features: Sequence[Any],
        edges: Sequence[npt.ArrayLike],
        kinds: Sequence[npt.ArrayLike] | None = None,
        edge_features: Sequence[Any] | None = None,
        factors: Sequence[npt.ArrayLike] | None = None,
        factor_kinds: Sequence[npt.ArrayLike] | None = None,
    ) -> FeatureGraphs:
        """Graphs one by one.

        Parameters
        ----------
        features : sequence of arrays or sparse matrices of shape (nodes of the graph, n_features)
        edges : sequence of array-like of shape (edges of the graph, 2)
        kinds : sequence of array-like of int, optional
        edge_features : sequence of arrays or sparse matrices, optional
            One row per edge.
        factors : sequence of array-like of shape (factors of the graph, m), optional
            Groups of m nodes of each graph.
        factor_kinds : sequence of array-like of int, optional
            Which table of weights every factor has; zero without.
        """
        graphs = Graphs.of([part.shape[0] for part in map(_rows, features)], edges, kinds)
        edge_matrix = None if edge_features is None else _stacked("edges", edge_features)
        groups = None
        if factors is not None:
            groups = Factors.of(factors, graphs.node_offsets, factor_kinds)
        return cls(_stacked("nodes", features), graphs, edge_matrix, groups)

    @cached_property
    def expansion(self) -> Expansion:
        """The graphs with a node more for every factor."""
        if self.factors is None:
            raise DataError("the graphs have no factors")
        return Expansion.of(self.graphs, self.factors)

    @classmethod
    def from_networkx(
        cls, graphs: Sequence[Any], feature: str = "x", edge_feature: str | None = None
    ) -> FeatureGraphs:
        """Graphs of networkx whose nodes hold their features under a name.

        Parameters
        ----------
        graphs : sequence of networkx graphs
            Nodes count in the order in which the graph lists them.
        feature, edge_feature : str
            Names of the features of nodes and of edges.
        """
        features, edges, edge_features = [], [], []
        for number, graph in enumerate(graphs):
            place = {node: i for i, node in enumerate(graph.nodes)}
            missing = [node for node, value in graph.nodes(data=feature) if value is None]
            if missing:
                raise DataError(f"node {missing[0]!r} of graph {number} has no {feature!r}")
            features.append(np.array([value for _, value in graph.nodes(data=feature)]))
            edges.append([(place[a], place[b]) for a, b in graph.edges()])
            if edge_feature is not None:
                values = [value for _, _, value in graph.edges(data=edge_feature)]
                if any(value is None for value in values):
                    raise DataError(f"an edge of graph {number} has no {edge_feature!r}")
                edge_features.append(np.array(values))
        return cls.of(features, edges, None, None if edge_feature is None else edge_features)

    @classmethod
    def from_images(cls, images: Sequence[npt.ArrayLike], neighborhood: int = 4) -> FeatureGraphs:
        """Images of shape (height, width) or (height, width, channels): a node per pixel.

        Examples
        --------
        >>> X = FeatureGraphs.from_images([np.zeros((2, 3)), np.ones((1, 2))])
        >>> X.matrix.shape, X.graphs.shapes
        ((8, 1), ((2, 3), (1, 2)))
        """
        arrays = [np.asarray(image, dtype=np.float64) for image in images]
        for number, array in enumerate(arrays):
            if array.ndim not in (2, 3):
                raise DataError(f"image {number} has shape {array.shape}; expected 2 or 3 axes")
        graphs = Graphs.grids([(a.shape[0], a.shape[1]) for a in arrays], neighborhood)
        rows = [a.reshape(a.shape[0] * a.shape[1], -1) for a in arrays]
        return cls(_stacked("pixels", rows), graphs)

    @property
    def offsets(self) -> Integers:
        """Where the nodes of each graph begin, and where those of the last end."""
        return self.graphs.node_offsets

    def __len__(self) -> int:
        return self.graphs.n_graphs

    @property
    def shape(self) -> tuple[int]:
        """(n_graphs,), so that scikit-learn counts graphs."""
        return (len(self),)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, (int, np.integer)):
            one = self.take([int(index)])
            return one.matrix, one.graphs.edges
        if isinstance(index, tuple):  # scikit-learn asks for [rows, ...]
            return self[index[0]]
        if isinstance(index, slice):
            index = np.arange(len(self))[index]
        return self.take(index)

    def take(self, rows: npt.ArrayLike) -> FeatureGraphs:
        """The graphs named by `rows`."""
        graphs = self.graphs
        nodes, _ = _gather(graphs.node_offsets, rows)
        edges, _ = _gather(graphs.edge_offsets, rows)
        edge_matrix = None if self.edge_matrix is None else self.edge_matrix[edges]
        taken, factors = graphs.take(rows), self.factors
        if factors is not None:
            factors = factors.take(rows, graphs.node_offsets, taken.node_offsets)
        return FeatureGraphs(self.matrix[nodes], taken, edge_matrix, factors)


def _rows(part: Any) -> Any:
    if isinstance(part, Mapping) or (isinstance(part, list | tuple) and part):
        node = part if isinstance(part, Mapping) else next(iter(part))
        if isinstance(node, Mapping | str):
            raise DataError(
                f"a node is {node!r}: graphs take a matrix of numbers, one row per node; make it "
                "of dicts with sklearn.feature_extraction.DictVectorizer"
            )
    rows: Any = part if sp.issparse(part) else np.asarray(part, dtype=np.float64)
    if rows.ndim != 2:
        raise DataError(f"features of a graph must have two axes, got shape {rows.shape}")
    return rows


def _stacked(what: str, parts: Sequence[Any]) -> Any:
    rows = [_rows(part) for part in parts]
    widths = {part.shape[1] for part in rows}
    if len(widths) > 1:
        raise DataError(f"features of {what} differ in number: {sorted(widths)}")
    if any(sp.issparse(part) for part in rows):
        return sp.csr_matrix(sp.vstack(rows, format="csr"))
    return np.concatenate(rows) if rows else np.zeros((0, 0))
