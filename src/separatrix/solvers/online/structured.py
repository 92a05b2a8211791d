"""The structured perceptron and MIRA: updates one example at a time, and passes of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.objective.passes import differences
from separatrix.progress import fitting
from separatrix.results import Monitor, Solution, StopReason
from separatrix.structures.coded_labels import CodedLabels

__all__ = ["Learned", "Updates", "run_passes", "updates_for"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: What a rival gains per node that differs, relative to the scores: at a tie it wins.
_TIE = 1e-9


class Learned(NamedTuple):
    """What was learned so far: last weights, their average, examples seen."""

    last: Floats
    average: Floats | None
    seen: int


def updates_for(
    features: Any, inputs: Any, labels: CodedLabels, weights: Floats | None, **options: Any
) -> Any:
    """Passes by a kernel where the features offer one, else plain ones; options as of `Updates`."""
    make = getattr(features, "updates", None)
    found = None if make is None else make(inputs, labels, weights, **options)
    return Updates(features, inputs, labels, weights, **options) if found is None else found


class Updates:
    """The state of an online learner: w += tau (Psi(x, y) - Psi(x, y')) on a mistake.

    Invariant: with c examples seen, w - sums / c is the average of the weights after each example.

    Parameters
    ----------
    features : Features
    inputs : Inputs
    labels : CodedLabels
    weights : array of shape (n_examples,) or None
        Factors of the steps; an example of weight zero is passed over.
    mira : bool
        Whether the step is the smallest one that makes y win by the number of nodes that differ.
    step : float
        The step of the perceptron, or the largest one of MIRA.
    seed : int or None
        Of the shuffles; None keeps the order.
    before : Learned or None
        What to go on from.
    """

    def __init__(
        self,
        features: Any,
        inputs: Any,
        labels: CodedLabels,
        weights: Floats | None,
        *,
        mira: bool,
        step: float,
        seed: int | None,
        before: Learned | None,
    ) -> None:
        self._features, self._weights, self._mira, self._step = features, weights, mira, step
        if before is None:
            before = Learned(np.zeros(features.n_weights), None, 0)
        self.w = before.last.copy()
        self.seen = before.seen if before.average is not None else 0
        average = self.w if before.average is None else before.average
        self._sums: Floats = self.seen * (self.w - average)
        self._random = None if seed is None else np.random.default_rng(seed)
        # Each example is taken out once; its messages, where there are any, start the next call.
        self._examples = [
            [inputs.take([i]), labels.codes[a:b], ()]
            for i, (a, b) in enumerate(pairwise(labels.offsets.tolist()))
        ]

    @property
    def average(self) -> Floats:
        """The average of the weights after each example."""
        return self.w - self._sums / max(self.seen, 1)

    def run_epoch(self) -> int:
        """One pass over the examples; returns the number of nodes that were mistaken."""
        n, weights = len(self._examples), self._weights
        order = np.arange(n) if self._random is None else self._random.permutation(n)
        mistakes = 0
        for i in order.tolist():
            factor = 1.0 if weights is None else float(weights[i])
            if factor > 0:
                mistakes += self._visit(i, factor)
        return mistakes

    def _visit(self, number: int, factor: float) -> int:
        features = self._features
        example, codes, messages = self._examples[number]
        scores = features.scores(self.w, example)
        # A tie is a mistake, so rivals get a little more.
        tie = _TIE * (1.0 + float(np.abs(features.values(scores, codes)).max(initial=0.0)))
        cost = tie * (1.0 - np.eye(features.n_labels))
        best = features.best(features.augmented(scores, codes, cost), 1, *messages)
        if getattr(best, "messages", None) is not None:
            self._examples[number][2] = (best.messages,)
        wrong = int((best.labels != codes).sum())
        if wrong:
            plane = differences(features, example, codes, best.labels)
            places, values = plane.indices, plane.data
            tau = self._step * factor
            if self._mira:
                short = wrong - float(self.w[places] @ values)
                norm = float(values @ values)
                tau = min(short / norm, tau) if norm > 0 else 0.0
            self.w[places] += tau * values
            self._sums[places] += self.seen * tau * values
        self.seen += 1
        return wrong


def run_passes(
    model: Any,
    one_pass: Callable[[], int],
    weights: Callable[[], npt.NDArray[np.floating]],
    max_passes: int,
) -> Solution:
    """Make passes until one has no mistake.

    Parameters
    ----------
    model : estimator
        With `verbose`, `loss` and `averaging`.
    one_pass : callable
        Makes a pass and returns its mistakes.
    weights : callable
        The weights so far, of shape (n, 1).
    max_passes : int
        The most passes.

    Raises
    ------
    FloatingPointError
        The weights are not finite.
    """
    passes, stopped = 0, None
    with fitting(type(model).__name__, model.verbose, 1e-3) as watch:
        monitor = Monitor(tol=0.0, max_passes=max_passes, report=watch.on_pass)
        try:
            while stopped is None:
                mistakes = one_pass()
                passes += 1
                stopped = monitor.record(passes, mistakes, mistakes, weights)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
    last = float(monitor.trace.rows[-1].objective) if len(monitor.trace) else float("inf")
    w = weights()
    if not np.isfinite(w).all():
        raise FloatingPointError(
            f"{type(model).__name__} ended with weights that are not finite; scale the features"
        )
    return Solution(
        w=w,
        n_passes=float(passes),
        gap=last,
        stopped=stopped,
        trace=monitor.trace,
        objective=last,
        certificate="mistaken tokens of the last pass",
        solver=f"structured {model.loss}, {model.averaging}",
    )
