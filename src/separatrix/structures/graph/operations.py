"""The operations on scored graphs that all learners use: maxima, sums, draws, by any method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.errors import DataError, ParameterError
from separatrix.structures.graph import bounds, cover, forest, gibbs, junction, loopy
from separatrix.structures.graph.convergence import Convergence
from separatrix.structures.graph.scores import GraphMarginals, GraphScores, labelling_scores
from separatrix.structures.inference import Best
from separatrix.structures.sections import largest_square

__all__ = [
    "COVER",
    "METHODS",
    "GraphOperations",
    "method_for",
    "weighted",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: How maxima, sums and draws are found.
METHODS = ("forest", "junction", "loopy", "tree_reweighted")
#: Methods that are exact wherever they apply.
_EXACT = ("forest", "junction")
#: For learning alone: sums by the bound of `inference.cover`.
COVER = "forests"
#: Damping where none is given.
_DAMPING = {"loopy": 0.0, "tree_reweighted": 0.3}
#: Cells of the tables of a graph up to which "auto" takes a junction tree.
_FEW_CELLS = 1 << 16


def method_for(graphs: Graphs, n_labels: int, wanted: str = "auto") -> str:
    """The method by that name, or for "auto" an exact one where it is cheap on all graphs.

    Examples
    --------
    >>> ring = [(0, 1), (1, 2), (2, 0)]
    >>> method_for(Graphs.of([3], [ring[:2]]), 2), method_for(Graphs.of([3], [ring]), 2)
    ('forest', 'junction')
    >>> method_for(Graphs.grids([(30, 30)]), 2)
    'loopy'
    """
    if wanted != "auto":
        return wanted
    if graphs.is_forest:
        return "forest"
    try:
        junction.widths(graphs, n_labels, _FEW_CELLS)
    except DataError:
        return "loopy"
    return "junction"


def weighted(
    parts: tuple[Floats, ...], weights: Floats | None, *offsets: Integers
) -> tuple[Floats, ...]:
    """Numbers per node, edge and so on, times the weight of their graph; trailing axes are labels.

    Examples
    --------
    >>> nodes, = weighted((np.ones((3, 2)),), np.array([1.0, 2.0]), np.array([0, 1, 3]))
    >>> nodes[:, 0].tolist()
    [1.0, 2.0, 2.0]
    """
    if weights is None:
        return parts
    of_parts = (np.repeat(weights, np.diff(starts)) for starts in offsets)
    return tuple((part.T * own).T for part, own in zip(parts, of_parts, strict=True))


class GraphOperations:
    """Maxima, sums and draws on scored graphs by one method.

    Attributes
    ----------
    method : {"forest", "junction", "loopy", "tree_reweighted", "forests"}
        Exact on graphs without cycles, exact on graphs of small treewidth, belief propagation, or
        tree-reweighted sums (an upper bound of the negative log-likelihood) with maxima by dual
        decomposition. "forests" bounds sums by those of forests that cover the graph; it has
        neither maxima nor draws.
    damping : float or None
        Share of the old message that belief propagation keeps; None is the method's own.
    max_sweeps : int
        Sweeps of belief propagation over a graph at most.
    """

    method: str
    damping: float | None
    max_sweeps: int

    def _check_method(self) -> None:
        if self.method not in (*METHODS, COVER):
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")
        if self.damping is not None and not 0 <= self.damping < 1:
            raise ParameterError(f"damping must be at least 0 and below 1, got {self.damping!r}")
        if self.max_sweeps < 1:
            raise ParameterError(f"max_sweeps must be at least 1, got {self.max_sweeps!r}")

    def warn(self, convergence: Convergence) -> None:
        """Warn once, with what to change, where messages did not settle."""
        damping = _DAMPING[self.method] if self.damping is None else self.damping
        other = "" if self.method == "tree_reweighted" else ", or inference='tree_reweighted'"
        convergence.warn(
            "belief propagation",
            f"give the structure damping={min(0.9, damping + 0.4):g} (now {damping:g}) or "
            f"max_sweeps above {self.max_sweeps}{other}",
        )

    # -- for proofs: see `objective.Passes` --------------------------------------------------------

    def reach(self, inputs: Any) -> float:
        """Bound of how far one node and one edge move the features."""
        rows = [inputs.matrix, getattr(inputs, "edge_matrix", None)]
        return 2.0 * float(np.sqrt(4.0 + sum(largest_square(part) for part in rows)))

    def n_parts(self, inputs: Any) -> Integers:
        """Nodes, edges and factors of every graph."""
        graphs, factors = inputs.graphs, getattr(inputs, "factors", None)
        found: Integers = np.diff(graphs.node_offsets) + np.diff(graphs.edge_offsets)
        if factors is not None:
            found = found + np.diff(factors.offsets)
        return found

    def n_nodes_of_bias(self, inputs: Any) -> Integers:
        """By example, how many nodes can have the label of a bias."""
        found: Integers = np.diff(inputs.graphs.node_offsets)
        return found

    def independent(self, inputs: Any, q: Floats) -> tuple[Floats, tuple[Floats, ...]]:
        """Marginals of the nodes, and of all parts, where nodes are independent and alike.

        `q` has a probability for every bias.
        """
        return self._joined(inputs, np.tile(q / q.sum(), (inputs.graphs.n_nodes, 1)))

    def _joined(self, inputs: Any, nodes: Floats) -> tuple[Floats, tuple[Floats, ...]]:
        """Marginals of independent nodes, with those of edges and factors."""
        first, second = inputs.graphs.edges.T
        parts = [nodes, nodes[first][:, :, None] * nodes[second][:, None, :]]
        factors = getattr(inputs, "factors", None)
        if factors is not None:
            joint = np.ones((len(factors.nodes), 1))
            for place in factors.nodes.T:
                joint = (joint[:, :, None] * nodes[place][:, None, :]).reshape(len(joint), -1)
            parts.append(joint)
        return nodes, tuple(parts)

    @property
    def n_free(self) -> int:
        """How many weights, the last ones, have no penalty in a likelihood: the biases."""
        bias = self.sections["bias"]  # type: ignore[attr-defined]
        return int(bias.stop - bias.start)

    def is_same(self, other: Any) -> bool:
        """Whether the weights of the other mean the same."""
        return bool(getattr(other, "sections", None) == self.sections)  # type: ignore[attr-defined]

    @property
    def is_exact(self) -> bool:
        """Whether maxima and sums are exact."""
        return self.method in _EXACT

    def best(self, scores: GraphScores, n_threads: int = 1, messages: Floats | None = None) -> Best:
        """max over y of the score; on loopy graphs perhaps not the best."""
        if self.method in _EXACT:
            exact = forest.best_labels if self.method == "forest" else junction.best_labels
            labels, values = exact(scores, n_threads=n_threads)
            return Best(labels, values, None, values)
        if self.method == "tree_reweighted":
            found = bounds.best_bound(
                scores, max_iter=self.max_sweeps, warn=False, n_threads=n_threads
            )
            return Best(found.labels, found.scores, None, found.bound)
        # A labelling is as good as its score, whether or not messages settled.
        loose = loopy.best_labels(
            scores,
            damping=self.damping or 0.0,
            max_iter=self.max_sweeps,
            messages=messages,
            warn=False,
            n_threads=n_threads,
        )
        return Best(loose.labels, loose.scores, loose.messages, np.full_like(loose.scores, np.inf))

    def augmented(
        self, scores: Any, labels: Integers, cost: Floats, scale: Floats | None = None
    ) -> Any:
        """The scores with scale_i cost[y_i, y'_i] added for every node."""
        return scores.augmented(labels, cost, scale)

    def log_sum_exp(
        self,
        scores: GraphScores,
        *,
        edges: bool = False,
        messages: Floats | None = None,
        tol: float = 1e-5,
        warn: bool = True,
        n_threads: int = 1,
    ) -> GraphMarginals:
        """log sum over y of exp(score), its estimate or its bound, and its gradient, the marginals.

        The first three entries are the values, the marginals of the nodes and those of the edges;
        `messages` of the result, where there are any, start the next call. Belief propagation ends
        where messages change by less than `tol`.
        """
        if self.method == "forest":
            return forest.marginals(scores, edges=edges, n_threads=n_threads)
        if self.method == "junction":
            return junction.marginals(scores, edges=edges, n_threads=n_threads)
        if self.method == COVER:
            return cover.marginals(scores, edges=edges, n_threads=n_threads)
        propagate: Any = loopy.marginals
        if self.method == "tree_reweighted":
            propagate = bounds.tree_reweighted
        found: GraphMarginals = propagate(
            scores,
            edges=edges,
            damping=_DAMPING[self.method] if self.damping is None else self.damping,
            tol=tol,
            max_iter=self.max_sweeps,
            messages=messages,
            warn=False,
            n_threads=n_threads,
        )
        if warn:
            assert found.convergence is not None
            self.warn(found.convergence)
        return found

    def values(self, scores: GraphScores, labels: Integers) -> Floats:
        """Score of a labelling of all nodes, shape (n_graphs,)."""
        return labelling_scores(scores, labels)

    def sample(
        self, scores: GraphScores, n_draws: int, seed: int = 0, n_threads: int = 1
    ) -> Integers:
        """Draws from p(y) proportional to exp(score), shape (n_draws, n_nodes).

        Where the method is not exact they are those of Gibbs sampling: approximate.
        """
        if self.method == "forest":
            return forest.sample_labels(scores, n_draws, seed, n_threads)
        if self.method == "junction":
            return junction.sample_labels(scores, n_draws, seed, n_threads=n_threads)
        return gibbs.sample_labels(scores, n_draws, seed)
