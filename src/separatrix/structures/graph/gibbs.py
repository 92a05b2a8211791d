"""Gibbs sampling on any graph: draws that are approximate, and only as good as their chain mixes.

Each sweep draws the label of every node from its distribution given the labels of its neighbors
(Geman & Geman 1984). Nodes that are no neighbors are drawn together: they are dealt out to
independent sets by random priorities (Jones & Plassmann 1993).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.structures.graph.scores import GraphScores

__all__ = ["sample_labels"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Sweeps before the first draw, and from one draw to the next.
_FIRST, _BETWEEN = 100, 10


class _Part(NamedTuple):
    """Nodes that are drawn together: what adds up their scores, their neighbors, and tables."""

    nodes: Integers
    incidence: Any
    neighbors: Integers
    tables: Integers


def sample_labels(scores: GraphScores, n_draws: int, seed: int = 0) -> Integers:
    """Draws from about p(y) = exp(score) / Z, shape (n_draws, n_nodes).

    The chain begins at the best label of every node by itself, runs 100 sweeps, then 10 from one
    draw to the next. Draws depend on each other, and modes that only many nodes together can leave
    are not left.

    Parameters
    ----------
    scores : GraphScores
    n_draws : int
    seed : int

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> ring = Graphs.of([4], [[(0, 1), (1, 2), (2, 3), (0, 3)]])
    >>> scores = GraphScores.of(ring, np.zeros((4, 2)), np.eye(2))
    >>> sample_labels(scores, 3).shape
    (3, 4)
    """
    random = np.random.default_rng(seed)
    graphs = scores.graphs
    shared = scores.tables if scores.own is None else scores.pairs()
    numbers = graphs.kinds if scores.own is None else np.arange(len(graphs.edges))
    # A row of a table for every label of the neighbor: as the edge is written, and turned round.
    tables = np.concatenate([shared.transpose(0, 2, 1), shared])
    parts = _parts(graphs.n_nodes, graphs.edges, numbers, len(shared), random)
    labels: Integers = scores.unary.argmax(axis=1).astype(np.int64)
    draws = np.zeros((n_draws, graphs.n_nodes), dtype=np.int64)
    for number, draw in enumerate(draws):
        for _ in range(_BETWEEN if number else _FIRST):
            for part in parts:
                around = part.incidence @ tables[part.tables, labels[part.neighbors]]
                given = scores.unary[part.nodes] + around
                # The largest of scores with Gumbel noise is a draw from their softmax.
                labels[part.nodes] = (given + random.gumbel(size=given.shape)).argmax(axis=1)
        draw[:] = labels
    return draws


def _parts(
    n: int, edges: Integers, numbers: Integers, n_tables: int, random: np.random.Generator
) -> list[_Part]:
    """Independent sets of nodes with their edges."""
    nodes = np.concatenate([edges[:, 0], edges[:, 1]])
    others = np.concatenate([edges[:, 1], edges[:, 0]])
    tables = np.concatenate([numbers, numbers + n_tables])
    left, found = np.ones(n, dtype=bool), []
    while left.any():
        rank = np.where(left, random.permutation(n), -1)
        highest = np.full(n, -1)
        np.maximum.at(highest, nodes, rank[others])
        chosen = np.flatnonzero(left & (rank > highest))
        left[chosen] = False
        place = np.full(n, -1)
        place[chosen] = np.arange(len(chosen))
        at = np.flatnonzero(place[nodes] >= 0)
        ones = (np.ones(len(at)), (place[nodes[at]], np.arange(len(at))))
        incidence: Any = sp.csr_matrix(ones, shape=(len(chosen), len(at)))
        found.append(_Part(chosen, incidence, others[at], tables[at]))
    return found
