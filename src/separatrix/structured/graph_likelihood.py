"""The negative log-likelihood of labelled graphs as an objective for the solvers.

With exact inference (forests, junction trees) it is the likelihood. Else log Z is replaced: by the
upper bound of forests that cover the graph (convex, exact to compute), by the tree-reweighted bound
(convex, but computed by messages), or by the Bethe estimate of belief propagation (not convex). The
pseudo-likelihood needs no inference: the sum over the nodes of -log p(y_i | labels of its
neighbors), convex and exact (Besag 1975).

What is convex and exact has a proof of optimality (`structured.proof`). Biases are free, so that a
dual point must give every label its observed count: the model's own marginals are mixed with a
distribution that is the same for all nodes, and makes up for what they count wrong.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.inference.convergence import Convergence
from separatrix.inference.graphs import GraphScores
from separatrix.protocols import Regularizer
from separatrix.structured.proof import EPSILON, ROUNDINGS, fenchel_gap, largest_square
from separatrix.structures.label_graph import LabelGraph
from separatrix.structures.operations import COVER

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
    """The loss at some weights, what its rounding is a multiple of, and where messages ended."""

    w: Floats
    value: float
    grad: Floats
    size: float
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
    loss : {"likelihood", "forests", "pseudo"}
        Negative log-likelihood by the structure's inference, the same with log Z bounded by forests
        that cover the graph, or the pseudo-likelihood.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    can : frozenset of str
        What the objective offers to solvers.
    convergence : Convergence or None
        How belief propagation ended in the last pass.
    convex : bool
        Whether P is convex and exact to compute, so that optimality can be proven.

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
        if loss == "forests":
            structure = replace(structure, method=COVER)
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
        self._last: _Point | None = None
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
            value = self.C * float(losses @ self._weight)
            grad = self.C * self._adjoint((nodes, edges))[:, None]
            size = value + self.C * float(self._weight @ self._sizes(scores))
            self._last = _Point(w, value, grad, size, None, None)
            return value, grad.copy()
        point = self._at(w, scores, None if self._lowest is None else self._lowest.messages)
        if self._is_doubtful(point):
            other = self._at(w, scores, None)
            if other.value > point.value:
                point = other
        # Trials of a line search go far; messages start from the best point so far.
        if self._lowest is None or point.value < self._lowest.value:
            self._lowest = point
        self.convergence = point.convergence
        self._last = point._replace(w=w)
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
        own = self.structure.values(scores, self.labels)
        losses = found[0] - own
        sizes = np.abs(found[0]) + np.abs(own) + np.diff(self.X.graphs.node_offsets)
        grad = self.C * (self._adjoint(marginals) - self._gold)[:, None]
        value = self.C * float(losses @ self._weight)
        ending = getattr(found, "messages", None), getattr(found, "convergence", None)
        return _Point(w.copy(), value, grad, self.C * float(sizes @ self._weight), *ending)

    def _sizes(self, scores: GraphScores) -> Floats:
        """By graph, the sum over the nodes of one and the largest score."""
        graphs = scores.graphs
        owner = np.repeat(np.arange(graphs.n_graphs), np.diff(graphs.node_offsets))
        largest = 1.0 + np.abs(scores.unary).max(axis=1, initial=0.0)
        sizes: Any = np.bincount(owner, weights=largest, minlength=graphs.n_graphs)
        result: Floats = sizes
        return result

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
        exact = self.structure.is_exact or self.structure.method == COVER
        return self.kind != "pseudo" and not exact

    @property
    def convex(self) -> bool:
        """Whether P is convex and exact to compute, so that optimality can be proven."""
        return not self.estimated

    @property
    def noise(self) -> float:
        """How far the value seen last may be off: by rounding, or by messages that go on."""
        if self.estimated:
            return _NOISE * self._gross
        return 0.0 if self._last is None else self._rounding(self._last)

    @property
    def convexity(self) -> float:
        """m where P - m/2 |w|^2 is known to be convex; else zero.

        Biases are free, and estimates of log Z are not convex.
        """
        if self.estimated or self.structure.bias or not self.regularizer.smooth:
            return 0.0
        return float(getattr(self.regularizer, "curvature", 0.0))

    def gap_bound(self, w: Floats, grad: Floats, value: float) -> float:
        """A proven bound of P(w) - min P, rounding included; infinite where there is none."""
        return self._bound(w)

    def _rounding(self, at: _Point) -> float:
        return ROUNDINGS * EPSILON * (at.size + self._penalty(at.w))

    def _bound(self, w: Floats) -> float:
        if not self.convex:
            return float("inf")
        at = self._evaluated(w)
        if at.value + self._penalty(w) == 0 and not at.grad.any():
            return 0.0  # all labels are the same one
        missing, u, moved = self._dual_point(w, at)
        off = ROUNDINGS * EPSILON * at.size * self._reach + moved
        loss = max(at.value, 0.0)
        inner = self.penalized(w)
        bound = fenchel_gap(loss, inner, u, self.regularizer, missing=missing, off=off)
        return bound + self._rounding(at)

    def prove(self, w: Floats, lower: float = -np.inf) -> tuple[float, float]:
        """P(w) and a bound of P(w) - min P; min P is known to be at least `lower`."""
        bound, at = self._bound(w), self._evaluated(w)
        value = at.value + self._penalty(w)
        return value, min(bound, max(value - lower, 0.0) + self._rounding(at))

    def _penalty(self, w: Floats) -> float:
        return float(self.regularizer.value(self.penalized(w)))

    def _evaluated(self, w: Floats) -> _Point:
        if self._last is None or self._last.w is not w:
            self.loss_value_and_grad(w)
        assert self._last is not None
        return self._last

    @cached_property
    def _reach(self) -> float:
        """How far the features of a node and its edges reach."""
        rows = [self.X.matrix, getattr(self.X, "edge_matrix", None)]
        return 2.0 * float(np.sqrt(4.0 + sum(largest_square(part) for part in rows)))

    def _dual_point(self, w: Floats, at: _Point) -> tuple[float, Floats, float]:
        """Entropy that is missing, observed less expected features, and the error of the latter.

        The marginals of w count a label wrong by r_k. A share of a distribution q that is the same
        for all nodes, with q_k = (n_k - s r_k) / n for the observed counts n_k, makes up for it.
        """
        u = -at.grad
        first = self.structure.sections["bias"].start
        if first == len(u):
            return 0.0, u, 0.0
        excess = at.grad[first:, 0] / self.C
        counts, totals = self._counts
        never = (counts <= 0) | (counts >= totals)
        lost, moved = self._without(float(np.abs(excess[never]).sum()))
        excess = np.where(never, 0.0, excess)
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(excess > 0, counts / excess, (totals - counts) / -excess)
        s = float(np.min(limits, where=excess != 0, initial=1 / EPSILON))
        share = 1.0 / (1.0 + s)  # of q
        q = np.clip((counts - s * excess) / totals, 0.0, 1.0)
        marginals, entropy = self._alike(q)
        other = self.C * (self._gold - self._adjoint(marginals))
        if self.kind == "pseudo":
            # What is expected of a node given the labels of its neighbors.
            other = -self.C * self._adjoint(_pseudo_parts(self.X.graphs, self.labels, marginals[0]))
        missing = share * (at.value + float(w[:, 0] @ other) - self.C * entropy)
        mixed = (1.0 - share) * u[:first] + share * other[:first, None]
        return max(missing, 0.0) + lost, mixed, moved

    def _without(self, mass: float) -> tuple[float, float]:
        """What it costs a dual point to exclude labels that are never, or always, observed.

        The best bias of such a label is infinite. Where the excluded labellings of a graph have
        the probability p, and H is the entropy of (p, 1 - p), excluding them costs an entropy of
        H + p n log K at most, and moves expected features by p times the distance of two
        labellings at most. `mass` bounds the weighted sum of p over the graphs.
        """
        if mass <= 0:
            return 0.0, 0.0
        graphs, factors = self.X.graphs, getattr(self.X, "factors", None)
        parts = np.diff(graphs.node_offsets) + np.diff(graphs.edge_offsets)
        if factors is not None:
            parts = parts + np.diff(factors.offsets)
        largest, total = float(parts.max(initial=0)), float(self._weight.sum())
        p = min(mass / total, 0.5)
        entropy = -total * (p * np.log(p) + (1 - p) * np.log1p(-p))
        entropy += mass * largest * float(np.log(max(self.structure.n_labels, 2)))
        return self.C * entropy, self.C * mass * largest * self._reach

    @cached_property
    def _counts(self) -> tuple[Floats, Floats]:
        """Observed counts of the features of the biases, and the most that they can be."""
        first = self.structure.sections["bias"].start
        sizes = np.diff(self.X.graphs.node_offsets)
        total = float(self._weight @ sizes)
        counts: Floats = self._gold[first:]
        if isinstance(self.structure, LabelGraph):
            total = float(self._weight.sum())
        return counts, np.full(len(counts), total)

    def _alike(self, q: Floats) -> tuple[tuple[Floats, ...], float]:
        """Marginals of independent nodes that all have the same distribution, and their entropy."""
        graphs = self.X.graphs
        if isinstance(self.structure, LabelGraph):
            nodes = np.tile(np.stack([1 - q, q], axis=1), (len(self.X), 1))
        else:
            nodes = np.tile(q / q.sum(), (graphs.n_nodes, 1))
        first, second = graphs.edges.T
        parts = [nodes, nodes[first][:, :, None] * nodes[second][:, None, :]]
        factors = getattr(self.X, "factors", None)
        if factors is not None:
            joint = np.ones((len(factors.nodes), 1))
            for place in factors.nodes.T:
                joint = (joint[:, :, None] * nodes[place][:, None, :]).reshape(len(joint), -1)
            parts.append(joint)
        owner = np.repeat(self._weight, np.diff(graphs.node_offsets))
        entropy = float(owner @ -(nodes * np.log(np.maximum(nodes, 1e-300))).sum(axis=1))
        return tuple(parts), entropy


def _pseudo_parts(graphs: Any, labels: Integers, nodes: Floats) -> tuple[Floats, Floats]:
    """The gradient of a pseudo-likelihood by the scores, from the distributions of the nodes."""
    first, second = graphs.edges.T
    rows, K = np.arange(len(first)), nodes.shape[1]
    nodes = nodes.copy()
    nodes[np.arange(len(labels)), labels] -= 1.0
    edges = np.zeros((len(first), K, K))
    edges[rows, :, labels[second]] += nodes[first]
    edges[rows, labels[first], :] += nodes[second]
    return nodes, edges


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
    return losses, *_pseudo_parts(graphs, labels, shares)
