"""Loopy belief propagation on any graph: estimates of log Z and marginals, and labellings.

Exact on forests. On graphs with cycles the numbers are estimates, and messages need not settle;
the result says whether they did, and :mod:`separatrix.structures.graph.bounds` how far off they can
be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import graph_beliefs, graph_max_beliefs, grid_messages
from separatrix.structures.graph.convergence import Convergence
from separatrix.structures.graph.scores import GraphMarginals, GraphScores

__all__ = ["LoopyLabels", "best_labels", "marginals"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: From this `tol` on, what the fast form for images calls converged is; below, its precision of
#: seven digits does not tell.
_FAST_TOL = 1e-4
#: Pair scores that the fast form for images of two labels can tell apart from stronger ones.
_STRONGEST = 8.0


class LoopyLabels(NamedTuple):
    """A labelling by messages of maxima.

    Attributes
    ----------
    labels : array of shape (n_nodes,)
    scores : array of shape (n_graphs,)
        Score of the labelling.
    messages : array of shape (2 n_edges, K)
        To start the next call from.
    convergence : Convergence
        How the iterations ended.
    """

    labels: Integers
    scores: Floats
    messages: Floats
    convergence: Convergence


def _start(
    scores: GraphScores,
    maximum: bool,
    settings: tuple[str, float, float, int],
    messages: Floats | None,
    n_threads: int,
) -> tuple[Floats | None, Convergence | None]:
    """Messages to start from: for images of two labels those of the fast form, and their end."""
    graphs, tables = scores.graphs, scores.tables
    if graphs.shapes is None or graphs.neighborhood != 4:
        return messages, None
    if scores.own is not None or tables.shape[1:] != (2, 2):
        return messages, None
    strength = max(np.abs(np.diff(tables, axis=axis)).max(initial=0.0) for axis in (1, 2))
    if not strength <= _STRONGEST or not np.isfinite(scores.unary).all():
        return messages, None
    found, ending = grid_messages(
        graphs.wiring, scores.arrays, list(graphs.shapes), maximum, settings, messages, n_threads
    )
    return found, Convergence(*ending)


def _advice(damping: float, schedule: str, max_iter: int) -> str:
    other = "" if schedule == "residual" else ", or schedule='residual'"
    return (
        f"try damping={min(0.9, damping + 0.5):g} (now {damping:g}), max_iter above {max_iter}"
        f"{other}"
    )


def marginals(
    scores: GraphScores,
    *,
    edges: bool = False,
    schedule: str = "colored",
    damping: float = 0.0,
    tol: float = 1e-5,
    max_iter: int = 200,
    messages: Floats | None = None,
    warn: bool = True,
    n_threads: int = 1,
) -> GraphMarginals:
    """Estimates of log Z and of marginals by sum-product messages.

    Parameters
    ----------
    scores : GraphScores
        All finite.
    edges : bool
        Whether to return beliefs of the edges too.
    schedule : {"colored", "synchronous", "residual"}
        Nodes of one color after those of another, all messages at once, or always the message that
        would change most.
    damping : float in [0, 1)
        Share of the old message that is kept; helps where messages swing.
    tol : float
        Change of a message, a difference of log-probabilities, that counts as none.
    max_iter : int
        Sweeps over a graph at most.
    messages : array of shape (2 n_edges, K), optional
        Messages of an earlier call on the same graphs.
    warn : bool
        Whether not to converge is a warning.
    n_threads : int

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> scores = GraphScores.of(Graphs.grids([(3, 3)]), np.ones((9, 2)) * [0, 0.3], 0.5 * np.eye(2))
    >>> found = marginals(scores)
    >>> bool(found.convergence.converged.all()), found.nodes[4].round(2).tolist()
    (True, [0.31, 0.69])
    """
    settings = (schedule, damping, tol, max_iter)
    start, fast = _start(scores, False, settings, messages, n_threads)
    is_done = fast is not None and tol >= _FAST_TOL
    rest = (schedule, damping, tol, 1) if is_done else settings
    values, nodes, pairs, messages, ending = graph_beliefs(
        scores.graphs.wiring, scores.arrays, rest, start, edges, n_threads
    )
    convergence = Convergence(*ending)
    if is_done and fast is not None:
        convergence = Convergence(
            fast.converged | convergence.converged,
            fast.iterations + convergence.iterations,
            np.minimum(fast.residual, convergence.residual),
        )
    if warn:
        convergence.warn("belief propagation", _advice(damping, schedule, max_iter))
    return GraphMarginals(values, nodes, pairs, messages, convergence)


def best_labels(
    scores: GraphScores,
    *,
    schedule: str = "colored",
    damping: float = 0.0,
    tol: float = 1e-5,
    max_iter: int = 200,
    messages: Floats | None = None,
    warn: bool = True,
    n_threads: int = 1,
) -> LoopyLabels:
    """A labelling by max-product messages, improved node by node; arguments as for marginals.

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> unary = np.array([[0.0, 2.0], [0.5, 0.0], [0.0, 2.0], [0.0, 2.0]])
    >>> found = best_labels(GraphScores.of(Graphs.grids([(2, 2)]), unary, np.eye(2)))
    >>> found.labels.tolist(), found.scores.tolist()
    ([1, 1, 1, 1], [10.0])
    """
    settings = (schedule, damping, tol, max_iter)
    start, _ = _start(scores, True, settings, messages, n_threads)
    labels, values, messages, ending = graph_max_beliefs(
        scores.graphs.wiring, scores.arrays, settings, start, n_threads
    )
    convergence = Convergence(*ending)
    if warn:
        convergence.warn("belief propagation", _advice(damping, schedule, max_iter))
    return LoopyLabels(labels, values, messages, convergence)
