"""The structured hinge loss of labelled graphs, its solver, and the fit of `StructuredSVM`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import MarginPlanes
from separatrix.data.sequences import _gather
from separatrix.errors import ParameterError
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.structured.graph_fitting import (
    held_out_graphs,
    keep_graph,
    start_weights,
    take_graphs,
)
from separatrix.structured.hinge_solvers import Bounds
from separatrix.structured.proof import EPSILON, ROUNDINGS
from separatrix.structured.running import minimize
from separatrix.validation import check_choice, number_of_threads, seed_from

__all__ = ["CachedFrankWolfe", "GraphHinge", "fit_hinge"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: A sweep that raises the dual by less than this share of the gap does no good.
_NO_GAIN = 1e-4
#: Share of the gap that may be left over the known planes when nothing else can close it.
_SETTLED = 0.1
#: Names of solvers for `StructuredSVM(solver=...)` on graphs.
_SOLVERS = ("auto", "frank_wolfe")


class Search(NamedTuple):
    """The rivals of some graphs at given weights.

    Attributes
    ----------
    planes : CSR matrix of shape (n_graphs, n_weights)
        Psi(x, y) - Psi(x, y').
    costs : array of shape (n_graphs,)
        Delta(y, y').
    losses : array of shape (n_graphs,)
        Delta(y, y') + h(x, y') - h(x, y), or a bound that no labelling exceeds where there is one.
    sizes : array of shape (n_graphs,)
        What the rounding of the losses is a multiple of.
    """

    planes: Any
    costs: Floats
    losses: Floats
    sizes: Floats


class GraphHinge:
    """P(w) = 1/2 |w|^2 + C sum_i c_i H_i(w) over labelled graphs; see `StructuredSVM`.

    H_i is exact where maxima are; with "tree_reweighted" it is an upper bound, so that a gap is
    a certificate all the same; with "loopy" it is what the labellings found say.

    Parameters
    ----------
    features : PairwiseGraph or LabelGraph
    X : FeatureGraphs or LabelRows
    codes : int64 array of shape (n_nodes,)
        Labels.
    cost : array of shape (K, K)
    mean : bool
        Whether the costs of a graph are divided by its number of nodes.
    C : float
    graph_weight : array of shape (n_graphs,) or None
        c_i; None stands for ones.
    n_threads : int
        Threads; the result does not depend on them.

    Examples
    --------
    >>> from separatrix.data import FeatureGraphs
    >>> from separatrix.structures import PairwiseGraph
    >>> X = FeatureGraphs.of([np.eye(2)], [[(0, 1)]])
    >>> codes, cost = np.array([0, 1]), 1.0 - np.eye(2)
    >>> hinge = GraphHinge(PairwiseGraph(2, 2, method="forest"), X, codes, cost)
    >>> hinge.value(np.zeros((hinge.n_weights, 1)))  # both nodes wrong
    2.0
    """

    can: ClassVar[frozenset[str]] = frozenset({"graph_margin"})

    def __init__(
        self,
        features: Any,
        X: Any,
        codes: Integers,
        cost: Floats,
        *,
        mean: bool = False,
        C: float = 1.0,
        graph_weight: Floats | None = None,
        n_threads: int = 1,
    ) -> None:
        self.features, self.X, self.codes, self.cost = features, X, codes, cost
        self.n_threads = n_threads
        self.factors = np.full(len(X), float(C))
        if graph_weight is not None:
            self.factors *= graph_weight
        sizes = np.diff(X.graphs.node_offsets)
        self.scale = np.repeat(1.0 / np.maximum(sizes, 1), sizes) if mean else None
        self._messages: Floats | None = None

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return int(self.features.n_weights)

    def search(self, w: Floats, rows: Integers | None = None) -> Search:
        """The rivals of all graphs, or of those named by `rows`, at w.

        Messages start from those of the last call.
        """
        X, codes, scale, places = self._taken(rows)
        graphs = X.graphs
        scores = self.features.scores(np.ascontiguousarray(w), X, self.n_threads)
        start = None if self._messages is None else self._messages[places]
        best = self.features.cost_augmented_best(
            scores, codes, self.cost, self.n_threads, start, scale
        )
        if best.messages is not None:
            if self._messages is None:
                n_messages = 2 * int(self.X.graphs.edge_offsets[-1])
                self._messages = np.zeros((n_messages, best.messages.shape[1]))
            self._messages[places] = best.messages
        paid = self.cost[codes, best.labels]
        owner = np.repeat(np.arange(len(X)), np.diff(graphs.node_offsets))
        paid = paid if scale is None else paid * scale
        costs: Any = np.bincount(owner, weights=paid, minlength=len(X))
        own = self.features.values(scores, codes)
        limit = np.where(np.isfinite(best.bound), best.bound, best.scores)
        planes = self.features.differences(X, codes, best.labels)
        sizes = np.abs(limit) + np.abs(own) + np.diff(graphs.node_offsets)
        return Search(planes, costs, np.maximum(limit - own, 0.0), sizes)

    def _taken(self, rows: Integers | None) -> tuple[Any, Integers, Floats | None, Any]:
        """Graphs, labels, scales of costs, and places of the messages."""
        if rows is None:
            return self.X, self.codes, self.scale, slice(None)
        graphs = self.X.graphs
        nodes, _ = _gather(graphs.node_offsets, rows)
        places, _ = _gather(2 * graphs.edge_offsets, rows)
        scale = None if self.scale is None else self.scale[nodes]
        return self.X.take(rows), self.codes[nodes], scale, places

    def penalty(self, w: Floats) -> float:
        """1/2 |w|^2."""
        return 0.5 * float(w @ w)

    def measure(self, variables: Array) -> tuple[float, float]:
        """P(w), and by how much it may be off.

        Where labellings found need not be the best, that is up to what a bound on the best allows.
        """
        w = np.ascontiguousarray(variables[:, 0], dtype=np.float64)
        found = self.search(w)
        value = self.penalty(w) + float(self.factors @ found.losses)
        off = ROUNDINGS * EPSILON * (self.penalty(w) + float(self.factors @ found.sizes))
        if self.features.method == "loopy":
            off += max(0.0, self._bounded(w) - value)
        return value, off

    def _bounded(self, w: Floats) -> float:
        """An upper bound of P(w) by dual decomposition."""
        features = replace(self.features, method="tree_reweighted")
        scores = features.scores(w, self.X, self.n_threads)
        best = features.cost_augmented_best(
            scores, self.codes, self.cost, self.n_threads, None, self.scale
        )
        losses = np.maximum(best.bound - features.values(scores, self.codes), 0.0)
        return self.penalty(w) + float(self.factors @ losses)

    def value(self, variables: Array) -> float:
        """P(w)."""
        return self.measure(variables)[0]


@dataclass(frozen=True)
class CachedFrankWolfe:
    """Frank-Wolfe steps over cached planes, see `_core.MarginPlanes`; a pass asks for new ones.

    The first passes go block by block, so that later blocks profit from earlier ones; the others
    search the rivals of all graphs at once, and so yield P and the duality gap. Sweeps over the
    planes known so far lie between passes and count as none.

    Parameters
    ----------
    seed : int
        Seed of the shuffles.
    block_passes : int
        Passes block by block.
    blocks : int
        Blocks of such a pass.
    sweeps : int
        Sweeps between passes; fewer where one no longer raises the dual.
    """

    seed: int = 0
    block_passes: int = 2
    blocks: int = 16
    sweeps: int = 30

    needs: ClassVar[frozenset[str]] = frozenset({"graph_margin"})

    def minimize(self, objective: GraphHinge, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize until `monitor` says stop; `w0` counts as a first candidate."""
        planes = MarginPlanes(objective.factors, objective.n_weights, self.seed)
        random = np.random.default_rng(self.seed)
        bounds, passes = Bounds(objective, monitor), 0
        stopped: StopReason | None = None
        n = len(objective.factors)
        everyone = np.arange(n, dtype=np.int64)

        def weights() -> Array:
            return bounds.w if bounds.w is not None else planes.weights()[:, None]

        def search(w: Floats) -> int:
            found = objective.search(w)
            # A rival that is known may be better than the one found now.
            losses = np.maximum(found.losses, planes.losses(w))
            primal = objective.penalty(w) + float(objective.factors @ losses)
            bounds.take(primal, w, planes.dual())
            return _add(planes, everyone, found)

        try:
            if w0 is not None:
                passes += 1
                search(np.ascontiguousarray(w0[:, 0], dtype=np.float64))
                stopped = monitor.record(passes, bounds.primal, bounds.gap, weights)
            while stopped is None:
                passes += 1
                if passes <= self.block_passes and n > 1 and passes < monitor.max_passes:
                    loss = 0.0
                    for rows in np.array_split(random.permutation(everyone), min(self.blocks, n)):
                        found = objective.search(planes.weights(), rows)
                        loss += float(objective.factors[rows] @ found.losses)
                        _add(planes, rows, found)
                        planes.sweep(rows)
                    value = loss + objective.penalty(planes.weights())
                    stopped = monitor.record(passes, value, np.inf, weights)
                    continue
                for _ in range(self.sweeps):
                    if planes.sweep(None) <= _NO_GAIN * bounds.gap:
                        break
                w = planes.weights()
                added = search(w)
                stopped = monitor.record(passes, bounds.primal, bounds.gap, weights)
                if stopped is None and not added and not objective.features.is_exact:
                    known = objective.penalty(w) + float(objective.factors @ planes.losses(w))
                    if known - planes.dual() <= _SETTLED * bounds.gap:
                        # No rival is new, and the known ones are weighed: what is left of the gap
                        # is that maxima are not exact.
                        stopped = StopReason.STATIONARY
                if stopped is None and bounds.is_exhausted:
                    stopped = _exhausted(objective)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        name = "Frank-Wolfe on cached planes"
        return bounds.solution(planes, float(passes), stopped, monitor, name)


def _exhausted(objective: GraphHinge) -> StopReason:
    """Why a gap cannot be smaller: rounding, or maxima that are not exact."""
    return StopReason.PRECISION if objective.features.is_exact else StopReason.STATIONARY


def _add(planes: MarginPlanes, rows: Integers, found: Search) -> int:
    matrix = found.planes
    matrix.sort_indices()
    csr = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
    )
    return planes.add(np.ascontiguousarray(rows, dtype=np.int64), csr, found.costs)


def fit_hinge(
    model: Any,
    structure: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    token_weight: Any = None,
    validation: Any = None,
) -> None:
    """Fit a `StructuredSVM` on graphs."""
    solver = model.solver
    if isinstance(solver, str):
        if solver in ("dual", "subgradient"):
            raise ParameterError(f"solver={solver!r} needs structure='chain'")
        check_choice("solver", solver, _SOLVERS)
        solver = CachedFrankWolfe(seed=seed_from(model.random_state))
    elif not isinstance(solver, Solver):
        raise ParameterError(
            f"solver must be one of {_SOLVERS} or keep the contract protocols.Solver, got "
            f"{solver!r}"
        )
    examples = take_graphs(model, structure, X, y, sample_weight, token_weight)
    examples, score = held_out_graphs(model, structure, examples, validation)
    objective = GraphHinge(
        examples.features,
        examples.X,
        examples.codes,
        model._cost_matrix(examples.features.n_labels),
        mean=model._mean,
        C=model.C,
        graph_weight=examples.weights,
        n_threads=number_of_threads(model.n_jobs),
    )
    start = start_weights(model, examples)
    solution = minimize(model, solver, objective, start, score)
    if model.early_stopping:
        solution = model._certified(solution, objective)
    keep_graph(model, examples, solution)
    model._finish(solution, model.tol)
