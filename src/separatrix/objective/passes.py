"""Passes over labelled examples of any structure, by its own operations.

A loss is one of three max operators less the score of the truth: `LogSumExp` is the negative
log-likelihood, `CostAugmentedMax` the margin loss, `HardMax` that of the perceptron.

On graphs with cycles log Z is replaced: by the upper bound of forests that cover the graph (convex,
exact to compute), by the tree-reweighted bound (convex, but computed by messages), or by the Bethe
estimate of belief propagation (not convex). `PseudoLikelihood` needs no inference: the sum over the
nodes of -log p(y_i | labels of its neighbors), convex and exact (Besag 1975).

Biases are free, so that a dual point must give every label its observed count: the model's own
marginals are mixed with a distribution that is the same for all nodes, and makes up for what they
count wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data.sequences.containers import _gather
from separatrix.losses import CostAugmentedMax
from separatrix.objective.proof import EPSILON, ROUNDINGS
from separatrix.protocols import Array
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.graph.convergence import Convergence
from separatrix.structures.graph.operations import COVER
from separatrix.structures.graph.scores import GraphScores

__all__ = [
    "Passes",
    "PseudoLikelihood",
    "Search",
    "best_or_bound",
    "cost_of",
    "differences",
    "pseudo_likelihood",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Change of messages that counts as none. Over many nodes what is left of it averages out, and the
#: last digits of messages cost more sweeps than all others.
_TOL, _LOOSE_TOL, _MANY = 1e-5, 1e-4, 100_000
#: Error of log Z, relative, that messages leave.
_NOISE = 1e-6


@dataclass(frozen=True)
class PseudoLikelihood:
    """The pseudo-likelihood of graphs in place of a max operator."""

    name: ClassVar[str] = "pseudo_likelihood"
    smooth: ClassVar[bool] = True


def cost_of(operator: CostAugmentedMax, n_labels: int) -> Floats:
    """Costs of a node, shape (K, K)."""
    if operator.cost is None:
        return 1.0 - np.eye(n_labels)
    return np.ascontiguousarray(operator.cost, dtype=np.float64)


class _Point(NamedTuple):
    """A sum of losses at some weights, and where messages ended."""

    w: Array
    value: float
    size: float
    grad: Array
    messages: Floats | None = None
    convergence: Convergence | None = None


class Search(NamedTuple):
    """The rivals of some examples at given weights.

    Attributes
    ----------
    planes : CSR matrix of shape (n_examples, n_weights)
        Psi(x, y) - Psi(x, y').
    costs : array of shape (n_examples,)
        Delta(y, y').
    losses : array of shape (n_examples,)
        Delta(y, y') + h(x, y') - h(x, y), or a bound that no labelling exceeds where there is one.
    sizes : array of shape (n_examples,)
        What the rounding of the losses is a multiple of.
    """

    planes: Any
    costs: Floats
    losses: Floats
    sizes: Floats


class Passes:
    """Sums over labelled examples of c_i (max - score of the truth).

    Parameters
    ----------
    features : Features
    inputs : Inputs
    labels : CodedLabels
        Labels, all known.
    operator : LogSumExp, CostAugmentedMax, HardMax or PseudoLikelihood
    weights : array of shape (n_examples,) or None
        c_i; None stands for ones.
    scale : array of shape (n_examples,) or None
        Factors of the costs of a margin loss; None stands for ones.
    n_threads : int
        Threads; the result does not depend on them.

    Attributes
    ----------
    n_free : int
        Weights without a penalty, the last ones: the biases of a likelihood.
    estimated : bool
        Whether values are estimates: of more than one fixed point, perhaps, and off by noise.
    convex : bool
        Whether the sum is convex and exact to compute, so that optimality can be proven.
    convergence : Convergence or None
        How belief propagation ended in the last pass.

    Examples
    --------
    >>> from separatrix.data import FeatureGraphs
    >>> from separatrix.losses import LogSumExp
    >>> from separatrix.structures import PairwiseGraph
    >>> X = FeatureGraphs.of([np.eye(2)], [[(0, 1)]])
    >>> features = PairwiseGraph(2, 2, method="forest")
    >>> labels = CodedLabels(np.arange(2), np.array([0, 1]), X.offsets)
    >>> passes = Passes(features, X, labels, LogSumExp())
    >>> round(passes.evaluate(np.zeros((features.n_weights, 1)))[0], 6)  # four labellings
    1.386294
    """

    #: Passes are in double precision.
    is_single: ClassVar[bool] = False
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)

    def __init__(
        self,
        features: Any,
        inputs: Any,
        labels: CodedLabels,
        operator: Any,
        weights: Floats | None = None,
        *,
        scale: Floats | None = None,
        n_threads: int = 1,
    ) -> None:
        self.features, self.inputs, self.codes = features, inputs, labels.codes
        self.operator, self.n_threads = operator, n_threads
        self.name, self.smooth = operator.name, bool(operator.smooth)
        self._weights = weights
        self._ones = np.ones(len(inputs)) if weights is None else weights
        self._sizes = np.diff(inputs.offsets)
        self.scale = None if scale is None else np.repeat(scale, self._sizes)
        self.n_free = int(getattr(features, "n_free", 0)) if self.smooth else 0
        self.is_pseudo = type(operator) is PseudoLikelihood
        self.is_exact = bool(getattr(features, "is_exact", True))
        self._method = getattr(features, "method", None)
        self.estimated = not (self.is_exact or self.is_pseudo or self._method == COVER)
        self.convex = not self.estimated
        self.convergence: Convergence | None = None
        self._lowest: _Point | None = None
        self._gross = 0.0
        self._messages: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return len(self.inputs)

    @property
    def example_weights(self) -> Floats:
        """c_i."""
        return self._ones

    @property
    def n_variables(self) -> int:
        """Number of weights."""
        return int(self.features.n_weights)

    def variables(self, w: Floats) -> Array:
        """The weights as a solver has them, shape (n_weights, 1)."""
        return w[:, None].copy()

    def weights(self, variables: Array) -> Floats:
        """The inverse of `variables`."""
        return np.ascontiguousarray(variables[:, 0], dtype=np.float64)

    def widen(self) -> None:
        """Passes are in double precision already."""

    @cached_property
    def _gold(self) -> Floats:
        """Features of the labels, which do not change."""
        parts = self.features.parts(self.inputs, self.codes)
        found: Floats = self.features.adjoint(self.inputs, parts, self._weights)
        return found

    def evaluate(self, w: Array) -> tuple[float, float, Array]:
        """sum_i c_i loss_i, what its rounding is a multiple of, and a (sub)gradient."""
        scores = self.features.scores(self.weights(w), self.inputs, self.n_threads)
        if self.is_pseudo:
            losses, *of_scores = pseudo_likelihood(scores, self.codes)
            value = float(losses @ self._ones)
            size = value + float(self._ones @ self._largest(scores))
            return value, size, self._adjoint(tuple(of_scores))[:, None]
        if not self.smooth:
            return self._maximum(scores)
        point = self._log_sum_exp(
            w, scores, None if self._lowest is None else self._lowest.messages
        )
        if self._is_doubtful(point):
            other = self._log_sum_exp(w, scores, None)
            if other.value > point.value:
                point = other
        # Trials of a line search go far; messages start from the best point so far.
        if self._lowest is None or point.value < self._lowest.value:
            self._lowest = point
        self.convergence = point.convergence
        return point.value, point.size, point.grad

    def _adjoint(self, parts: Any) -> Floats:
        found: Floats = self.features.adjoint(self.inputs, parts, self._weights)
        return found

    def _log_sum_exp(self, w: Array, scores: Any, messages: Floats | None) -> _Point:
        """Loss and gradient of the likelihood, with messages that start from these."""
        options: dict[str, Any] = {}
        if not self.is_exact:
            tol = _TOL if len(self.codes) < _MANY else _LOOSE_TOL
            options = {"messages": messages, "tol": tol, "warn": False}
        found = self.features.log_sum_exp(scores, edges=True, n_threads=self.n_threads, **options)
        log_partition = found[0]
        self._gross = float(np.abs(log_partition) @ self._ones)
        own = self.features.values(scores, self.codes)
        sizes = np.abs(log_partition) + np.abs(own) + self._sizes
        grad = (self._adjoint(found.parts) - self._gold)[:, None]
        value = float((log_partition - own) @ self._ones)
        ending = getattr(found, "messages", None), getattr(found, "convergence", None)
        return _Point(w.copy(), value, float(sizes @ self._ones), grad, *ending)

    def _maximum(self, scores: Any) -> tuple[float, float, Array]:
        """Loss and a subgradient of a maximum."""
        own = self.features.values(scores, self.codes)
        best = self.features.best(self._augmented(scores, self.codes, self.scale), self.n_threads)
        value = float((best.scores - own) @ self._ones)
        sizes = np.abs(best.scores) + np.abs(own) + self._sizes
        grad = self._adjoint(self.features.parts(self.inputs, best.labels)) - self._gold
        return value, float(sizes @ self._ones), grad[:, None]

    def _augmented(self, scores: Any, codes: Integers, scale: Floats | None) -> Any:
        """The scores with the costs of a margin loss."""
        if type(self.operator) is not CostAugmentedMax:
            return scores
        return self.features.augmented(scores, codes, self._cost, scale)

    @cached_property
    def _cost(self) -> Floats:
        return cost_of(self.operator, self.features.n_labels)

    def _largest(self, scores: GraphScores) -> Floats:
        """By example, the sum over the nodes of one and the largest score."""
        owner = np.repeat(np.arange(len(self.inputs)), self._sizes)
        largest = 1.0 + np.abs(scores.unary).max(axis=1, initial=0.0)
        sizes: Any = np.bincount(owner, weights=largest, minlength=len(self.inputs))
        result: Floats = sizes
        return result

    def _is_doubtful(self, point: _Point) -> bool:
        """Whether messages may have settled at a poor fixed point, where log Z is too low.

        A negative log-likelihood is convex and not negative: it lies above zero and above its
        tangents.
        """
        if self._method != "loopy" or self._lowest is None:
            return False
        before = self._lowest
        tangent = before.value + float(np.vdot(before.grad, point.w - before.w))
        return point.value < max(tangent, 0.0) - self.noise

    @property
    def noise(self) -> float:
        """How far the value seen last may be off, because messages go on."""
        return _NOISE * self._gross if self.estimated else 0.0

    # -- margin losses ---------------------------------------------------------------------------

    def search(self, w: Floats, rows: Integers | None = None) -> Search:
        """The rivals of all examples, or of those named by `rows`, at w.

        Messages start from those of the last call.
        """
        inputs, codes, scale, places = self._taken(rows)
        features = self.features
        scores = features.scores(np.ascontiguousarray(w), inputs, self.n_threads)
        augmented = self._augmented(scores, codes, scale)
        if self._method == "loopy":
            start = None if self._messages is None else self._messages[places]
            best = features.best(augmented, self.n_threads, start)
            if self._messages is None:
                n_messages = 2 * int(self.inputs.graphs.edge_offsets[-1])
                self._messages = np.zeros((n_messages, best.messages.shape[1]))
            self._messages[places] = best.messages
        else:
            best = features.best(augmented, self.n_threads)
        sizes = np.diff(inputs.offsets)
        paid = self._cost[codes, best.labels]
        paid = paid if scale is None else paid * scale
        owner = np.repeat(np.arange(len(inputs)), sizes)
        costs: Any = np.bincount(owner, weights=paid, minlength=len(inputs))
        own = features.values(scores, codes)
        limit = best_or_bound(best)
        planes = differences(features, inputs, codes, best.labels)
        sizes = np.abs(limit) + np.abs(own) + sizes
        return Search(planes, costs, np.maximum(limit - own, 0.0), sizes)

    def _taken(self, rows: Integers | None) -> tuple[Any, Integers, Floats | None, Any]:
        """Examples, labels, scales of costs, and places of the messages."""
        if rows is None:
            return self.inputs, self.codes, self.scale, slice(None)
        nodes, _ = _gather(self.inputs.offsets, rows)
        places: Any = None
        if self._method == "loopy":
            places, _ = _gather(2 * self.inputs.graphs.edge_offsets, rows)
        scale = None if self.scale is None else self.scale[nodes]
        return self.inputs.take(rows), self.codes[nodes], scale, places

    def measure(self, variables: Array) -> tuple[float, float, float]:
        """The sum of margin losses, what its rounding is a multiple of, and by how much it is off.

        Where labellings found need not be the best, that is up to what a bound on the best allows.
        """
        w = self.weights(variables)
        found = self.search(w)
        value, size = float(self._ones @ found.losses), float(self._ones @ found.sizes)
        slack = max(0.0, self._bounded(w) - value) if self._method == "loopy" else 0.0
        return value, size, slack

    def _bounded(self, w: Floats) -> float:
        """An upper bound of the sum of margin losses by dual decomposition."""
        features = replace(self.features, method="tree_reweighted")
        scores = features.scores(w, self.inputs, self.n_threads)
        best = features.best(self._augmented(scores, self.codes, self.scale), self.n_threads)
        losses = np.maximum(best.bound - features.values(scores, self.codes), 0.0)
        return float(self._ones @ losses)

    # -- a dual point with the observed counts of the biases -------------------------------------

    @cached_property
    def reach(self) -> float:
        """Bound of |Psi(x, y) - Psi(x, y')| over all examples and labellings."""
        reach = getattr(self.features, "reach", None)
        if reach is None or (self.n_free and not hasattr(self.features, "independent")):
            return float("inf")  # unknown: nothing is proven
        return float(reach(self.inputs))

    def dual_point(self, w: Array, value: float, grad: Array) -> tuple[float, Array, float]:
        """Entropy that is missing, observed less expected features, and the error of the latter.

        The marginals of w count a label wrong by r_k. A share of a distribution q that is the same
        for all nodes, with q_k = (n_k - s r_k) / n for the observed counts n_k, makes up for it.
        """
        first = self.n_variables - self.n_free
        if not self.n_free:
            return 0.0, -grad, 0.0
        counts, totals = self._counts
        never = (counts <= 0) | (counts >= totals)
        lost, moved = 0.0, 0.0
        if grad[first:, 0][never].any():
            w, lost, value, grad, moved = self._without(w, value, np.flatnonzero(never) + first)
        u, excess = -grad, np.where(never, 0.0, grad[first:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(excess > 0, counts / excess, (totals - counts) / -excess)
        s = float(np.min(limits, where=excess != 0, initial=1 / EPSILON))
        share = 1.0 / (1.0 + s)  # of q
        q = np.clip((counts - s * excess) / totals, 0.0, 1.0)
        nodes, marginals = self.features.independent(self.inputs, q)
        owner = np.repeat(self._ones, self._sizes)
        entropy = float(owner @ -(nodes * np.log(np.maximum(nodes, 1e-300))).sum(axis=1))
        if self.is_pseudo:
            # What is expected of a node given the labels of its neighbors.
            other = -self._adjoint(_pseudo_parts(self.inputs.graphs, self.codes, nodes))
        else:
            other = self._gold - self._adjoint(marginals)
        missing = share * (value + float(w[:, 0] @ other) - entropy)
        mixed = (1.0 - share) * u[:first] + share * other[:first, None]
        return max(missing, 0.0) + lost, mixed, moved

    def _without(
        self, w: Array, value: float, biases: Integers
    ) -> tuple[Array, float, float, Array, float]:
        """Weights where labels that are never, or always, observed are surely so.

        The best bias of such a label is infinite. The odds of what was not observed are at most
        exp(loss) - 1 in any example: a bias that is larger by the loss and twice the digits of a
        number leaves nothing of them.

        Returns
        -------
        w : array of shape (n_variables, 1)
        lost : float
            By how much the sum of the losses is lower there, or rounding hides.
        value : float
            That sum.
        grad : array of shape (n_variables, 1)
        moved : float
            By how much the gradient may be off, in the Euclidean norm.
        """
        far = value / float(self._ones[self._ones > 0].min()) - 2 * np.log(EPSILON)
        w = w.copy()
        w[biases, 0] += np.where(self._gold[biases] > 0, far, -far)
        there, size, grad = self.evaluate(w)
        if np.abs(grad[biases]).sum() > EPSILON * self._ones.sum():
            return w, np.inf, there, grad, 0.0
        off = ROUNDINGS * EPSILON * size
        return w, max(value - there, 0.0) + off, there, grad, off * self.reach

    @cached_property
    def _counts(self) -> tuple[Floats, Floats]:
        """Observed counts of the features of the biases, and the most that they can be."""
        counts: Floats = self._gold[self.n_variables - self.n_free :]
        total = float(self._ones @ self.features.n_nodes_of_bias(self.inputs))
        return counts, np.full(len(counts), total)


def best_or_bound(best: Any) -> Floats:
    """The score that no labelling exceeds: that of the best, or a bound where that is known."""
    bound = getattr(best, "bound", None)
    found: Floats = best.scores
    return found if bound is None else np.where(np.isfinite(bound), bound, found)


def differences(features: Any, inputs: Any, codes: Integers, others: Integers) -> sp.csr_matrix:
    """Psi(x, y) - Psi(x, y') of every example as rows of a CSR matrix."""
    if hasattr(features, "differences"):
        planes: sp.csr_matrix = features.differences(inputs, codes, others)
        return planes
    rows = []
    for number, (a, b) in enumerate(zip(inputs.offsets[:-1], inputs.offsets[1:], strict=True)):
        row = np.zeros(features.n_weights)
        if not np.array_equal(codes[a:b], others[a:b]):
            example = inputs.take([number])
            for sign, labels in ((1.0, codes[a:b]), (-1.0, others[a:b])):
                row += sign * features.adjoint(example, features.parts(example, labels))
        rows.append(sp.csr_matrix(row))
    return sp.csr_matrix(sp.vstack(rows, format="csr"))


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
