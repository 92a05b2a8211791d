"""The structured perceptron and MIRA on graphs, one graph at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError
from separatrix.results import StopReason
from separatrix.structured.graph_fitting import GraphExamples, keep_graph, take_graphs
from separatrix.structured.running import run_passes
from separatrix.structures.observed import Observed
from separatrix.validation import seed_from

__all__ = ["GraphOnline", "Learned", "learn_graphs"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: What a rival gains per node that differs, relative to the scores: at a tie it wins.
_TIE = 1e-9


class Learned(NamedTuple):
    """What was learned so far: last weights, their average, graphs seen."""

    last: Floats
    average: Floats | None
    seen: int


class GraphOnline:
    """The state of an online learner: w += tau (Psi(x, y) - Psi(x, y')) on a mistake.

    Invariant: with c graphs seen, w - sums / c is the average of the weights after each graph.

    Parameters
    ----------
    examples : GraphExamples
    before : Learned or None
        What to go on from.
    mira : bool
        Whether the step is the smallest one that makes y win by the number of nodes that differ.
    step : float
        The step of the perceptron, or the largest one of MIRA; graph weights multiply it.
    seed : int or None
        Of the shuffles; None keeps the order.
    n_threads : int
    """

    def __init__(
        self,
        examples: GraphExamples,
        before: Learned | None,
        *,
        mira: bool,
        step: float,
        seed: int | None,
    ) -> None:
        self.examples, self.mira, self.step = examples, mira, step
        n_weights = examples.features.n_weights
        if before is None:
            before = Learned(np.zeros(n_weights), None, 0)
        self.w = before.last.copy()
        self.seen = before.seen if before.average is not None else 0
        average = self.w if before.average is None else before.average
        self._sums: Floats = self.seen * (self.w - average)
        self._random = None if seed is None else np.random.default_rng(seed)
        offsets = examples.X.graphs.node_offsets
        # Each graph is taken out once; its messages start the next call.
        self._graphs = [
            [examples.X.take([i]), examples.codes[a:b], None]
            for i, (a, b) in enumerate(pairwise(offsets.tolist()))
        ]

    @property
    def average(self) -> Floats:
        """The average of the weights after each graph."""
        return self.w - self._sums / max(self.seen, 1)

    def run_epoch(self) -> int:
        """One pass over the graphs; returns the number of nodes that were mistaken."""
        n, weights = len(self._graphs), self.examples.weights
        order = np.arange(n) if self._random is None else self._random.permutation(n)
        mistakes = 0
        for i in order.tolist():
            factor = 1.0 if weights is None else float(weights[i])
            if factor > 0:
                mistakes += self._visit(i, factor)
        return mistakes

    def _visit(self, number: int, factor: float) -> int:
        features = self.examples.features
        graph, codes, messages = self._graphs[number]
        scores = features.scores(self.w, graph)
        # A tie is a mistake, so rivals get a little more.
        tie = _TIE * (1.0 + float(np.abs(scores.unary).max(initial=0.0)))
        cost = tie * (1.0 - np.eye(features.n_labels))
        best = features.cost_augmented_best(scores, codes, cost, 1, messages)
        self._graphs[number][2] = best.messages
        wrong = int((best.labels != codes).sum())
        if wrong:
            plane = features.differences(graph, codes, best.labels)
            places, values = plane.indices, plane.data
            tau = self.step * factor
            if self.mira:
                short = wrong - float(self.w[places] @ values)
                norm = float(values @ values)
                tau = min(short / norm, tau) if norm > 0 else 0.0
            self.w[places] += tau * values
            self._sums[places] += self.seen * tau * values
        self.seen += 1
        return wrong


def learn_graphs(
    model: Any,
    structure: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    token_weight: Any = None,
    classes: Any = None,
    max_passes: int,
    go_on: bool,
) -> None:
    """Learn from passes over graphs; with `go_on` from the weights learned before, if any."""
    before = None
    if go_on and vars(model).get("_features") is not None:
        before = Learned(model._last, model._average, model._seen)
        examples = _more_graphs(model, structure, X, y, sample_weight, classes)
    else:
        examples = take_graphs(model, structure, X, y, sample_weight, token_weight, classes)
    learner = GraphOnline(
        examples,
        before,
        mira=model.update == "mira",
        step=float(model.C if model.update == "mira" else model.rate),
        seed=seed_from(model.random_state) if model.shuffle else None,
    )
    earlier = getattr(model, "mistakes_", None) if before is not None else None
    averaging = model.averaging == "average"

    def weights() -> npt.NDArray[np.floating]:
        return (learner.average if averaging else learner.w.copy())[:, None]

    solution = run_passes(model, learner.run_epoch, weights, max_passes, counted="nodes")
    keep_graph(model, examples, solution)
    model._last = learner.w
    model._average = learner.average if averaging else None
    model._seen = learner.seen
    mistakes = np.array(solution.trace.objective, dtype=np.int64)
    model.mistakes_ = mistakes if earlier is None else np.concatenate([earlier, mistakes])
    if solution.stopped is StopReason.INTERRUPTED and model.on_interrupt == "raise":
        raise KeyboardInterrupt


def _more_graphs(
    model: Any, structure: Any, X: Any, y: Any, sample_weight: Any, classes: Any
) -> GraphExamples:
    """Further graphs, with the features that are known."""
    known = model.classes_
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise DataError(
            f"classes={np.unique(classes).tolist()} is not the same as on the last call, "
            f"{known.tolist()}; fit a new estimator to change them"
        )
    graphs = structure.encode(X, model.graph_)
    codes = structure.codes(y, graphs, known)
    observed = Observed(model.graph_, graphs, known, codes)
    return take_graphs(model, structure, X, y, sample_weight, None, observed)
