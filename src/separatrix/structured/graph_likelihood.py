"""The negative log-likelihood of labelled graphs as an objective for the solvers.

With exact inference (forests, junction trees) it is the likelihood. With loopy belief propagation
log Z is the Bethe estimate and the marginals are beliefs; with tree-reweighted sums log Z is an
upper bound, so that the value bounds the loss. The pseudo-likelihood needs no inference: the sum
over the nodes of -log p(y_i | labels of its neighbors), convex and exact (Besag 1975).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.inference.convergence import Convergence
from separatrix.inference.graphs import GraphScores
from separatrix.protocols import Regularizer

__all__ = ["GraphLikelihood", "pseudo_likelihood"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


#: Change of messages that counts as none. Over many nodes what is left of it averages out, and the
#: last digits of messages cost more sweeps than all others.
_TOL, _LOOSE_TOL, _MANY = 1e-5, 1e-4, 100_000


#: Error of log Z, relative, that messages leave.
_NOISE = 1e-6


class _GraphLoss:
    """The loss by name."""

    name: ClassVar[str] = "graph_likelihood"
    smooth: ClassVar[bool] = True


class _Point(NamedTuple):
    """The loss at some weights, and where messages ended."""

    w: Floats
    value: float
    grad: Floats
    messages: Floats | None
    convergence: Convergence | None


class GraphLikelihood:
    """P(w) = R(w) + C sum_i c_i loss_i over labelled graphs.

    Parameters
    ----------
    structure : PairwiseGraph or LabelGraph
        Features and inference.
    X : FeatureGraphs or LabelRows
        Graphs.
    labels : int64 array of shape (n_nodes,)
        Their labels.
    regularizer : Regularizer
        Penalty on all weights but the biases of the labels.
    C : float
        Weight of the losses.
    graph_weight : array of shape (n_graphs,) or None
        c_i; None stands for ones.
    loss : {"likelihood", "pseudo"}
        Negative log-likelihood by the structure's inference, or the pseudo-likelihood.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    can : frozenset of str
        What the objective offers to solvers.
    convergence : Convergence or None
        How belief propagation ended in the last pass.

    Examples
    --------
    >>> from separatrix.data import FeatureGraphs
    >>> from separatrix.regularizers import L2
    >>> from separatrix.structures import PairwiseGraph
    >>> X = FeatureGraphs.of([np.eye(2)], [[(0, 1)]])
    >>> structure = PairwiseGraph(2, 2, method="forest")
    >>> objective = GraphLikelihood(structure, X, np.array([0, 1]), L2())
    >>> round(objective.value(np.zeros(objective.weight_shape)), 6)  # four labellings
    1.386294
    """

    loss: ClassVar[_GraphLoss] = _GraphLoss()
    exempt: ClassVar[bool] = False
    has_fused_pass: ClassVar[bool] = True

    def __init__(
        self,
        structure: Any,
        X: Any,
        labels: Integers,
        regularizer: Regularizer,
        *,
        C: float = 1.0,
        graph_weight: Floats | None = None,
        loss: str = "likelihood",
        n_threads: int = 1,
    ) -> None:
        self.structure, self.X, self.labels = structure, X, labels
        self.regularizer, self.C, self.n_threads = regularizer, C, n_threads
        self.kind = loss
        graphs = X.graphs
        self._weight = np.ones(len(X)) if graph_weight is None else graph_weight
        self._item_weights: list[Floats] = []
        if graph_weight is not None:
            factors = getattr(X, "factors", None)
            offsets = [graphs.node_offsets, graphs.edge_offsets]
            offsets += [] if factors is None else [factors.offsets]
            self._item_weights = [np.repeat(graph_weight, np.diff(part)) for part in offsets]
        # The features of the labels do not change.
        self._gold = self._adjoint(structure.indicators(X, labels))
        self._lowest: _Point | None = None
        self._gross = 0.0
        self.convergence: Convergence | None = None
        can = {"smooth_loss", "elastic_net"}
        if regularizer.smooth:
            can |= {"value_grad", "smooth"}
        self.can = frozenset(can)

    @property
    def score_map(self) -> GraphLikelihood:
        """Itself: shape and precision of the weights."""
        return self

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(n_weights, 1)."""
        return self.structure.n_weights, 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """float64."""
        return np.dtype(np.float64)

    def penalized(self, w: Floats) -> Floats:
        """The weights that the regularizer sees: all but the biases of the labels."""
        return w[: self.structure.sections["bias"].start]

    def _adjoint(self, marginals: tuple[Floats, ...]) -> Floats:
        if self._item_weights:
            # Trailing axes are labels.
            pairs = zip(marginals, self._item_weights, strict=True)
            marginals = tuple((part.T * weight).T for part, weight in pairs)
        result: Floats = self.structure.adjoint(self.X, *marginals)
        return result

    def loss_value_and_grad(self, w: Floats) -> tuple[float, Floats]:
        """C sum_i c_i loss_i and its gradient."""
        scores = self.structure.scores(np.ascontiguousarray(w[:, 0]), self.X, self.n_threads)
        if self.kind == "pseudo":
            losses, nodes, edges = pseudo_likelihood(scores, self.labels)
            grad = self._adjoint((nodes, edges))
            return self.C * float(losses @ self._weight), self.C * grad[:, None]
        point = self._at(w, scores, None if self._lowest is None else self._lowest.messages)
        if self._is_doubtful(point):
            other = self._at(w, scores, None)
            if other.value > point.value:
                point = other
        # Trials of a line search go far; messages start from the best point so far.
        if self._lowest is None or point.value < self._lowest.value:
            self._lowest = point
        self.convergence = point.convergence
        return point.value, point.grad.copy()

    def _at(self, w: Floats, scores: GraphScores, messages: Floats | None) -> _Point:
        """Loss and gradient, with messages that start from these."""
        found = self.structure.log_sum_exp(
            scores,
            edges=True,
            messages=messages,
            tol=_TOL if scores.graphs.n_nodes < _MANY else _LOOSE_TOL,
            warn=False,
            n_threads=self.n_threads,
        )
        self._gross = self.C * float(np.abs(found[0]) @ self._weight)
        marginals: tuple[Floats, ...] = (found.nodes, found.edges)
        if hasattr(found, "factors"):
            marginals += (found.factors,)
        losses = found[0] - self.structure.values(scores, self.labels)
        grad = self.C * (self._adjoint(marginals) - self._gold)[:, None]
        value = self.C * float(losses @ self._weight)
        ending = getattr(found, "messages", None), getattr(found, "convergence", None)
        return _Point(w.copy(), value, grad, *ending)

    def _is_doubtful(self, point: _Point) -> bool:
        """Whether messages may have settled at a poor fixed point, where log Z is too low.

        A negative log-likelihood is convex and not negative: it lies above zero and above its
        tangents.
        """
        if self.structure.method != "loopy" or self._lowest is None:
            return False
        before = self._lowest
        tangent = before.value + float(np.vdot(before.grad, point.w - before.w))
        return point.value < max(tangent, 0.0) - self.noise

    def value_and_grad(self, w: Floats) -> tuple[float, Floats]:
        """P(w) and its gradient."""
        value, grad = self.loss_value_and_grad(w)
        penalized = self.penalized(w)
        self.penalized(grad)[:] += self.regularizer.grad(penalized)
        return value + self.regularizer.value(penalized), grad

    def value(self, w: Floats) -> float:
        """P(w)."""
        return self.value_and_grad(w)[0]

    @property
    def estimated(self) -> bool:
        """Whether values are estimates: of more than one fixed point, perhaps, and off by noise."""
        return self.kind != "pseudo" and not self.structure.is_exact

    @property
    def noise(self) -> float:
        """How far a value may be off, since messages have not settled to the last digit."""
        return _NOISE * self._gross if self.estimated else 0.0

    @property
    def convexity(self) -> float:
        """m where P - m/2 |w|^2 is known to be convex; else zero.

        Biases are free, and estimates of log Z are not convex.
        """
        if self.estimated or self.structure.bias or not self.regularizer.smooth:
            return 0.0
        return float(getattr(self.regularizer, "curvature", 0.0))

    def gap_bound(self, w: Floats, grad: Floats, value: float) -> float:
        """1/2 |grad|^2 / m bounds P(w) - min P where P is m-strongly convex; else infinite."""
        strength = self.convexity
        return float(np.vdot(grad, grad)) / (2 * strength) if strength > 0 else float("inf")


def pseudo_likelihood(scores: GraphScores, labels: Integers) -> tuple[Floats, Floats, Floats]:
    """-sum_i log p(y_i | labels of the neighbors) of every graph, with its gradient by the scores.

    Returns
    -------
    losses : array of shape (n_graphs,)
    nodes : array of shape (n_nodes, K)
    edges : array of shape (n_edges, K, K)

    Examples
    --------
    >>> from separatrix.data import Graphs
    >>> scores = GraphScores.of(Graphs.of([2], [[(0, 1)]]), np.zeros((2, 2)), np.eye(2))
    >>> pseudo_likelihood(scores, np.array([0, 0]))[0].round(4).tolist()  # 2 log(1 + 1 / e)
    [0.6265]
    """
    graphs = scores.graphs
    first, second = graphs.edges.T
    pairs = scores.pairs()
    rows = np.arange(len(pairs))
    # What the label of the other end adds to the labels of a node.
    local = scores.unary.copy()
    for ends, others in (
        (first, pairs[rows, :, labels[second]]),
        (second, pairs[rows, labels[first], :]),
    ):
        for label, column in enumerate(others.T):
            local[:, label] += np.bincount(ends, weights=column, minlength=len(local))
    top = local.max(axis=1, keepdims=True)
    shares = np.exp(local - top)
    total = shares.sum(axis=1, keepdims=True)
    shares /= total
    n = len(labels)
    of_nodes = (top + np.log(total))[:, 0] - local[np.arange(n), labels]
    graph = np.repeat(np.arange(graphs.n_graphs), np.diff(graphs.node_offsets))
    losses: Any = np.bincount(graph, weights=of_nodes, minlength=graphs.n_graphs)
    nodes = shares
    nodes[np.arange(n), labels] -= 1.0
    edges = np.zeros_like(pairs)
    edges[rows, :, labels[second]] += nodes[first]
    edges[rows, labels[first], :] += nodes[second]
    return losses, nodes, edges
