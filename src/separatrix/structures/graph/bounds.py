"""Bounds on log Z and on the best score of graphs; they hold whether or not iterations converge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from separatrix._core import graph_best_bound, graph_mean_field, graph_tree_reweighted
from separatrix.errors import DataError
from separatrix.structures.graph.convergence import Convergence
from separatrix.structures.graph.scores import GraphMarginals, GraphScores

__all__ = [
    "BestBound",
    "best_bound",
    "mean_field",
    "relaxed_best",
    "tree_reweighted",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class BestBound(NamedTuple):
    """A labelling, and how far from optimal it can be.

    Attributes
    ----------
    labels : array of shape (n_nodes,)
    scores : array of shape (n_graphs,)
        Score of the labelling.
    bound : array of shape (n_graphs,)
        No labelling scores more.
    convergence : Convergence
        How the iterations ended; the bound holds in any case.
    """

    labels: Integers
    scores: Floats
    bound: Floats
    convergence: Convergence


def tree_reweighted(
    scores: GraphScores,
    *,
    edges: bool = False,
    schedule: str = "colored",
    damping: float = 0.3,
    tol: float = 1e-5,
    max_iter: int = 200,
    seed: int = 0,
    messages: Floats | None = None,
    warn: bool = True,
    n_threads: int = 1,
) -> GraphMarginals:
    """An upper bound on log Z: the mean of log Z over spanning forests that share the scores.

    Exact on forests. Wainwright, Jaakkola & Willsky (2005). Arguments as for
    :func:`separatrix.structures.graph.loopy.marginals`; `seed` picks the forests, and messages
    belong to the seed they were made with.

    Examples
    --------
    >>> from separatrix.structures.graph import junction
    >>> from separatrix.data import Graphs
    >>> ring = Graphs.of([3], [[(0, 1), (1, 2), (2, 0)]])
    >>> scores = GraphScores.of(ring, np.zeros((3, 2)), np.eye(2))
    >>> upper, lower = (f(scores).log_partition for f in (tree_reweighted, mean_field))
    >>> bool(lower[0] <= junction.log_partition(scores)[0] <= upper[0])
    True
    """
    values, nodes, pairs, messages, ending = graph_tree_reweighted(
        scores.graphs.wiring,
        scores.arrays,
        (schedule, damping, tol, max_iter),
        seed,
        messages,
        edges,
        n_threads,
    )
    convergence = Convergence(*ending)
    if warn:
        convergence.warn(
            "tree-reweighted belief propagation",
            f"the bound holds but may be loose: try damping={min(0.9, damping + 0.3):g} "
            f"(now {damping:g}) or max_iter above {max_iter}",
        )
    return GraphMarginals(values, nodes, pairs, messages, convergence)


def mean_field(
    scores: GraphScores,
    *,
    tol: float = 1e-6,
    max_iter: int = 500,
    start: Floats | None = None,
    warn: bool = True,
    n_threads: int = 1,
) -> GraphMarginals:
    """A lower bound on log Z by independent nodes; edges are products of nodes, and not returned.

    Parameters
    ----------
    scores : GraphScores
        All finite.
    tol : float
        Change of a probability that counts as none.
    max_iter : int
        Sweeps over a graph at most.
    start : array of shape (n_nodes, K), optional
        Distributions to start from; the softmax of the nodes' own scores without.
    warn : bool
        Whether not to converge is a warning.
    n_threads : int
    """
    settings = ("colored", 0.0, tol, max_iter)
    values, nodes, ending = graph_mean_field(
        scores.graphs.wiring, scores.arrays, settings, start, n_threads
    )
    convergence = Convergence(*ending)
    if warn:
        convergence.warn(
            "mean field", f"the bound holds but may be loose: try max_iter above {max_iter}"
        )
    return GraphMarginals(values, nodes, None, nodes, convergence)


def best_bound(
    scores: GraphScores,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    seed: int = 0,
    warn: bool = True,
    n_threads: int = 1,
) -> BestBound:
    """A labelling and an upper bound on the best score, by dual decomposition.

    Stops where the labelling is as good as the bound, or where the bound no longer falls, to `tol`
    relative to the bound. Exact on forests. TRW-S, Kolmogorov (2006).

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> unary = np.random.default_rng(0).normal(size=(30, 2))
    >>> found = best_bound(GraphScores.of(Graphs.grids([(5, 6)]), unary, 0.5 * np.eye(2)))
    >>> bool(found.bound[0] - found.scores[0] < 1e-4)
    True
    """
    settings = ("colored", 0.0, tol, max_iter)
    labels, values, bound, ending = graph_best_bound(
        scores.graphs.wiring, scores.arrays, settings, seed, n_threads
    )
    convergence = Convergence(*ending)
    if warn:
        convergence.warn(
            "dual decomposition", f"the bound holds but may be loose: try max_iter above {max_iter}"
        )
    return BestBound(labels, values, bound, convergence)


def relaxed_best(scores: GraphScores, *, integral: bool = False) -> Floats:
    """The best score of every graph over the local polytope, by linear programming (HiGHS).

    maximize sum_i <unary_i, mu_i> + sum_e <pair_e, mu_e> over distributions mu_i and mu_e whose
    margins agree: an upper bound on the best score, the lowest that :func:`best_bound` can reach.
    For small graphs: the program has K^2 unknowns per edge.

    Parameters
    ----------
    scores : GraphScores
        All finite.
    integral : bool
        Whether labels must be whole; then the value is the best score itself, in exponential time
        at worst.

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> ring = Graphs.of([3], [[(0, 1), (1, 2), (2, 0)]])
    >>> differ = GraphScores.of(ring, np.zeros((3, 2)), 1.0 - np.eye(2))
    >>> relaxed_best(differ).round(6).tolist(), relaxed_best(differ, integral=True).tolist()
    ([3.0], [2.0])
    """
    graphs, K = scores.graphs, scores.unary.shape[1]
    pairs = scores.pairs()
    if not (np.isfinite(scores.unary).all() and np.isfinite(pairs).all()):
        raise DataError("a linear program needs finite scores; forbid by a low score such as -1e3")
    values = np.zeros(graphs.n_graphs)
    for graph in range(graphs.n_graphs):
        nodes = slice(*graphs.node_offsets[graph : graph + 2])
        edges = slice(*graphs.edge_offsets[graph : graph + 2])
        if nodes.start == nodes.stop:
            continue
        matrix, right = _polytope(graphs.edges[edges] - nodes.start, nodes.stop - nodes.start, K)
        gain = np.concatenate([scores.unary[nodes].ravel(), pairs[edges].ravel()])
        whole = np.zeros(len(gain), dtype=np.int64)
        whole[: scores.unary[nodes].size] = integral
        found = milp(
            -gain,
            constraints=LinearConstraint(matrix, right, right),
            bounds=Bounds(0, 1),
            integrality=whole,
            options={"mip_rel_gap": 0.0},
        )
        if not found.success:
            raise DataError(f"HiGHS could not solve graph {graph}: {found.message}")
        values[graph] = -found.fun
    return values


def _polytope(edges: Integers, n: int, K: int) -> tuple[sparse.csr_array, Floats]:
    """Shares of a node add up to one; those of an edge, summed over an end, are a node's."""
    sums = sparse.kron(sparse.eye_array(n), np.ones((1, K)))
    m = len(edges)
    blocks = [[sums, sparse.csr_array((n, m * K * K))]]
    over = (
        sparse.kron(sparse.eye_array(K), np.ones((1, K))),  # sums over the second label
        sparse.kron(np.ones((1, K)), sparse.eye_array(K)),  # sums over the first
    )
    for end in range(2):
        pick = sparse.csr_array((np.ones(m), (np.arange(m), edges[:, end])), shape=(m, n))
        blocks.append(
            [-sparse.kron(pick, sparse.eye_array(K)), sparse.kron(sparse.eye_array(m), over[end])]
        )
    matrix = sparse.csr_array(sparse.vstack([sparse.hstack(row) for row in blocks]))
    return matrix, np.concatenate([np.ones(n), np.zeros(2 * m * K)])
