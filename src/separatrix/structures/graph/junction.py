"""Exact inference on graphs of small treewidth, by junction trees.

Time and memory grow as K to the power of the width plus one; a graph whose tables would have more
than `max_cells` cells in all is a DataError that names it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from separatrix._core import graph_best, graph_log_partition, graph_marginals, graph_sample
from separatrix.data import Graphs
from separatrix.structures.graph.scores import GraphMarginals, GraphScores

__all__ = ["MAX_CELLS", "best_labels", "log_partition", "marginals", "sample_labels", "widths"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Cells of the tables of one graph: 128 MB.
MAX_CELLS = 1 << 24


def widths(graphs: Graphs, n_labels: int, max_cells: int = MAX_CELLS) -> Integers:
    """Width of the junction tree of every graph, one for forests, shape (n_graphs,).

    Examples
    --------
    >>> ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> widths(Graphs.of([4, 4], [ring, ring[:3]]), 2).tolist()
    [2, 1]
    """
    return graphs.wiring.widths(n_labels, max_cells)


def best_labels(
    scores: GraphScores, *, max_cells: int = MAX_CELLS, n_threads: int = 1
) -> tuple[Integers, Floats]:
    """The best labelling: labels of shape (n_nodes,), scores of shape (n_graphs,)."""
    return graph_best(scores.graphs.wiring, scores.arrays, max_cells, n_threads)


def log_partition(scores: GraphScores, *, max_cells: int = MAX_CELLS, n_threads: int = 1) -> Floats:
    """log Z of every graph, shape (n_graphs,)."""
    return graph_log_partition(scores.graphs.wiring, scores.arrays, max_cells, n_threads)


def marginals(
    scores: GraphScores, *, edges: bool = False, max_cells: int = MAX_CELLS, n_threads: int = 1
) -> GraphMarginals:
    """log Z, node marginals and, on demand, edge marginals.

    Examples
    --------
    >>> ring = Graphs.of([3], [[(0, 1), (1, 2), (2, 0)]])
    >>> scores = GraphScores.of(ring, np.zeros((3, 2)), [[0.0, np.log(2.0)], [np.log(2.0), 0.0]])
    >>> float(np.exp(marginals(scores).log_partition[0]).round(6))  # 6 labellings of 4, 2 of 1
    26.0
    """
    return GraphMarginals(
        *graph_marginals(scores.graphs.wiring, scores.arrays, edges, max_cells, n_threads)
    )


def sample_labels(
    scores: GraphScores,
    n_draws: int,
    seed: int = 0,
    *,
    max_cells: int = MAX_CELLS,
    n_threads: int = 1,
) -> Integers:
    """Exact draws from p(y) = exp(score) / Z, shape (n_draws, n_nodes)."""
    return graph_sample(scores.graphs.wiring, scores.arrays, n_draws, seed, max_cells, n_threads)
