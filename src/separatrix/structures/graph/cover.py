"""An upper bound of log Z from forests that cover a graph, each summed exactly.

The edges are dealt out to m forests. With the scores of the nodes in all of them and m times the
scores of an edge in its own, the scores of a labelling are the average over the forests, so that
log Z, which is convex, is at most the average of their log Z. That is the tree-reweighted bound
(Wainwright, Jaakkola & Willsky 2005) at a fixed split of the scores: convex in the scores, exact to
compute, without messages that need to settle.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.structures.graph import forest
from separatrix.structures.graph.scores import GraphMarginals, GraphScores

__all__ = ["ForestCover", "marginals"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ForestCover:
    """The edges of graphs, dealt out to forests.

    Attributes
    ----------
    n_forests : int
        m.
    graphs : Graphs
        The forests: all graphs with the edges of the first, then with those of the second, …
    order : int64 array of shape (n_edges,)
        The edges of `graphs` as numbers of the edges that were dealt out.
    """

    n_forests: int
    graphs: Graphs
    order: Integers

    @classmethod
    def of(cls, graphs: Graphs) -> ForestCover:
        """Deal out the edges: of images by direction, else evenly.

        Examples
        --------
        >>> ring = ForestCover.of(Graphs.of([3], [[(0, 1), (1, 2), (2, 0)]]))
        >>> ring.n_forests, ring.graphs.edges.tolist()
        (2, [[0, 1], [2, 0], [4, 5]])
        """
        of_edge = graphs.kinds if graphs.shapes is not None else _dealt(graphs)
        m, n = int(of_edge.max(initial=0)) + 1, graphs.n_graphs
        owner = np.repeat(np.arange(n), np.diff(graphs.edge_offsets))
        order = np.lexsort((np.arange(len(of_edge)), owner, of_edge))
        counts = np.bincount(of_edge * n + owner, minlength=m * n)
        steps = np.arange(m)[:, None] * graphs.n_nodes
        forests = Graphs(
            np.append((graphs.node_offsets[:-1] + steps).ravel(), m * graphs.n_nodes),
            np.append(0, np.cumsum(counts)).astype(np.int64),
            graphs.edges[order] + (of_edge[order] * graphs.n_nodes)[:, None],
            graphs.kinds[order],
        )
        return cls(m, forests, order)


def _dealt(graphs: Graphs) -> Integers:
    """The forest of every edge: the one with the fewest edges in which it closes no cycle."""
    forests = np.zeros(len(graphs.edges), dtype=np.int64)
    nodes, edges = pairwise(graphs.node_offsets.tolist()), pairwise(graphs.edge_offsets.tolist())
    for (first, last), (a, b) in zip(nodes, edges, strict=True):
        ends = (graphs.edges[a:b] - first).tolist()
        needed = int(_deal(ends, last - first, 1).max(initial=0)) + 1
        forests[a:b] = _deal(ends, last - first, needed)
    return forests


def _deal(ends: list[list[int]], n_nodes: int, n_forests: int) -> Integers:
    """The forests of the edges of one graph, at least so many; more are begun where needed."""
    parents = [list(range(n_nodes)) for _ in range(n_forests)]
    loads = [0] * n_forests
    found = []
    for u, v in ends:
        for f in sorted(range(len(loads)), key=loads.__getitem__):
            root, other = _root(parents[f], u), _root(parents[f], v)
            if root != other:
                break
        else:
            f, root, other = len(loads), u, v
            parents.append(list(range(n_nodes)))
            loads.append(0)
        parents[f][root] = other
        loads[f] += 1
        found.append(f)
    return np.array(found, dtype=np.int64)


def _root(parents: list[int], node: int) -> int:
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


#: Covers of the graphs seen last; a fit asks for the same one in every pass.
_covers: WeakKeyDictionary[Graphs, ForestCover] = WeakKeyDictionary()


def marginals(scores: GraphScores, *, edges: bool = False, n_threads: int = 1) -> GraphMarginals:
    """The upper bound of log Z and its gradient, the averages of the forests' marginals.

    Examples
    --------
    >>> ring = Graphs.of([3], [[(0, 1), (1, 2), (2, 0)]])
    >>> found = marginals(GraphScores.of(ring, np.zeros((3, 2)), np.eye(2)), edges=True)
    >>> exact = np.log(2 * np.exp(3) + 6 * np.exp(1))
    >>> bool(found.log_partition[0] >= exact), found.edges.shape
    (True, (3, 2, 2))
    """
    graphs = scores.graphs
    cover = _covers.get(graphs)
    if cover is None:
        cover = _covers[graphs] = ForestCover.of(graphs)
    m = cover.n_forests
    own = None if scores.own is None else m * scores.own[cover.order]
    spread = GraphScores(cover.graphs, np.tile(scores.unary, (m, 1)), m * scores.tables, own)
    found = forest.marginals(spread, edges=edges, n_threads=n_threads)
    pairs = None
    if found.edges is not None:
        pairs = np.empty_like(found.edges)
        pairs[cover.order] = found.edges
    return GraphMarginals(
        found.log_partition.reshape(m, -1).mean(axis=0),
        found.nodes.reshape(m, *scores.unary.shape).mean(axis=0),
        pairs,
    )
