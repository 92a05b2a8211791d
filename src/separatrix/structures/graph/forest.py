"""Exact inference on graphs without cycles: best labels, sums with marginals, draws.

A cycle is a DataError that names the edge which closes it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from separatrix._core import graph_best, graph_log_partition, graph_marginals, graph_sample
from separatrix.structures.graph.scores import GraphMarginals, GraphScores

__all__ = ["best_labels", "log_partition", "marginals", "sample_labels"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def best_labels(scores: GraphScores, n_threads: int = 1) -> tuple[Integers, Floats]:
    """The best labelling: labels of shape (n_nodes,), scores of shape (n_graphs,)."""
    return graph_best(scores.graphs.wiring, scores.arrays, None, n_threads)


def log_partition(scores: GraphScores, n_threads: int = 1) -> Floats:
    """log Z of every graph, shape (n_graphs,)."""
    return graph_log_partition(scores.graphs.wiring, scores.arrays, None, n_threads)


def marginals(scores: GraphScores, *, edges: bool = False, n_threads: int = 1) -> GraphMarginals:
    """log Z, node marginals and, on demand, edge marginals (sum-product).

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> graphs = Graphs.of([2], [[(0, 1)]])
    >>> scores = GraphScores.of(graphs, np.zeros((2, 2)), [[np.log(3.0), 0.0], [0.0, 0.0]])
    >>> marginals(scores, edges=True).edges.round(3).tolist()
    [[[0.5, 0.167], [0.167, 0.167]]]
    """
    return GraphMarginals(
        *graph_marginals(scores.graphs.wiring, scores.arrays, edges, None, n_threads)
    )


def sample_labels(scores: GraphScores, n_draws: int, seed: int = 0, n_threads: int = 1) -> Integers:
    """Exact draws from p(y) = exp(score) / Z, shape (n_draws, n_nodes)."""
    return graph_sample(scores.graphs.wiring, scores.arrays, n_draws, seed, None, n_threads)
