"""Online learners: pass after pass over the rows, weights changed on mistakes only.

They follow no objective: the trace holds the mistakes of every pass, and a run has converged when a
pass makes none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import Online
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.structures.labels import Design

__all__ = ["OnlineLearner", "OnlineResult", "Separation", "UpdateLog"]

_KEEP = {"none": "last", "average": "average", "vote": "vote"}


class UpdateLog(NamedTuple):
    """Every update of a run, in order.

    Attributes
    ----------
    row : ndarray of shape (m,)
        The row of the mistake.
    raised, lowered : ndarray of shape (m,)
        Its label, and the label that rivaled it.
    size : ndarray of shape (m,)
        tau: the row times tau was added to the weights of `raised` and taken from `lowered`.
    survived : ndarray of shape (m,)
        Rows that the weights survived after the update, that of the update included.
    start_survived : int
        Rows that the starting weights survived.
    """

    row: npt.NDArray[np.integer[Any]]
    raised: npt.NDArray[np.integer[Any]]
    lowered: npt.NDArray[np.integer[Any]]
    size: npt.NDArray[np.floating[Any]]
    survived: npt.NDArray[np.integer[Any]]
    start_survived: int


class Separation(NamedTuple):
    """How well the last weights separate the rows.

    Attributes
    ----------
    margin : float
        delta: the smallest s_y - max_k s_k at weights of unit norm.
    radius : float
        R: the largest norm of a row with its bias feature, times sqrt(2) for more than two classes.
    mistake_bound : float or None
        No run from zero weights makes more mistakes; None where the theorem does not hold.
    """

    margin: float
    radius: float
    mistake_bound: float | None


@dataclass(frozen=True)
class OnlineResult:
    """What a run hands back.

    Attributes
    ----------
    solution : Solution
        The record; `w` are the averaged or the last weights.
    weights : ndarray of shape (d, K)
        The last weights.
    seen : int
        Rows seen.
    mistakes : ndarray of shape (passes,)
        Mistakes of every pass.
    log : UpdateLog or None
        With voting: every update.
    separation : Separation or None
        On data that the last pass separated.
    """

    solution: Solution
    weights: Array
    seen: int
    mistakes: npt.NDArray[np.int64]
    log: UpdateLog | None
    separation: Separation | None


@dataclass(frozen=True)
class OnlineLearner:
    """Perceptron or MIRA.

    Parameters
    ----------
    rule : {"perceptron", "mira"}
        How far a mistake moves the weights.
    step : float
        Rate of the perceptron, cap C of MIRA.
    averaging : {"none", "average", "vote"}
        What is kept of the weights on the way.
    seed : int or None
        Seed of the shuffles; None visits the rows in their order.

    Examples
    --------
    >>> from separatrix.structures.labels import make_design
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    >>> learner = OnlineLearner("perceptron", 1.0, "none", seed=0)
    >>> monitor = Monitor(tol=0.0, max_passes=100)
    >>> result = learner.run(make_design(X, 1), np.array([0, 0, 1, 0]), None, 2,
    ...                      start=np.zeros((3, 1)), monitor=monitor)
    >>> int(result.mistakes[-1]), result.solution.stopped.name
    (0, 'CONVERGED')
    """

    rule: str
    step: float
    averaging: str = "average"
    seed: int | None = 0

    def run(
        self,
        design: Design,
        codes: npt.NDArray[np.int64],
        row_weights: npt.NDArray[np.float64] | None,
        n_classes: int,
        *,
        start: Array | tuple[int, int],
        monitor: Monitor,
        average: Array | None = None,
        seen: int = 0,
        n_threads: int = 1,
    ) -> OnlineResult:
        """Run passes until one makes no mistake or the monitor says stop.

        Parameters
        ----------
        design : Csr or Dense
            The rows.
        codes : ndarray of shape (n,)
            Class numbers.
        row_weights : ndarray of shape (n,) or None
            Factors of the perceptron's rate or MIRA's cap; rows of weight zero are passed over.
        n_classes : int
            Number of classes; two share one weight vector w = w_1 - w_0.
        start : ndarray of shape (d, K) or (d + 1, K), K = 1 for two classes
            Starting weights of the data's dtype; a further row holds intercepts. Their shape alone
            stands for zeros.
        monitor : Monitor
            Budget and trace; the gap of a pass is its number of mistakes.
        average, seen : ndarray and int
            The average of an earlier run to go on from, and the rows that it saw.
        n_threads : int
            From two on, long shuffled passes without a vote are shared by two learners, and their
            weights averaged after each.
        """
        handle = Online(
            design,
            codes,
            row_weights,
            n_classes,
            self.rule,
            self.step,
            _KEEP[self.averaging],
            start,
            average,
            seen,
            self.seed,
            n_threads,
        )
        averaging = self.averaging == "average"
        mistakes: list[int] = []
        stopped: StopReason | None = None
        try:
            while stopped is None:
                mistakes.append(handle.run_epoch())
                stopped = monitor.record(
                    len(mistakes),
                    mistakes[-1],
                    mistakes[-1],
                    handle.average if averaging else handle.weights,
                )
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        separation = None
        if stopped is StopReason.CONVERGED:
            from_zero = seen == 0 and (isinstance(start, tuple) or not start.any())
            separation = self._separation(handle, n_classes, row_weights, from_zero)
        mean, weights = handle.finish()
        last = mistakes[-1] if mistakes else math.inf
        solution = Solution(
            w=mean if averaging else weights,
            n_passes=float(len(mistakes)),
            gap=float(last),
            stopped=stopped,
            trace=monitor.trace,
            objective=float(last),
            certificate="mistakes of the last pass",
            solver=f"{self.rule}, {self.averaging}",
        )
        return OnlineResult(
            solution=solution,
            weights=weights,
            seen=handle.seen,
            mistakes=np.array(mistakes, dtype=np.int64),
            log=UpdateLog(*handle.log()) if self.averaging == "vote" else None,
            separation=separation,
        )

    def _separation(
        self,
        handle: Online,
        n_classes: int,
        row_weights: npt.NDArray[np.float64] | None,
        from_zero: bool,
    ) -> Separation:
        margin, squared_radius = handle.margin()
        if n_classes > 2:
            squared_radius *= 2
        bound = None
        if from_zero:
            factor = self._bound_factor(squared_radius, n_classes, row_weights)
            # The bound holds for the mean over the learners that share a pass.
            bound = handle.learners * factor / margin**2
        return Separation(margin, math.sqrt(squared_radius), bound)

    def _bound_factor(
        self,
        squared_radius: float,
        n_classes: int,
        row_weights: npt.NDArray[np.float64] | None,
    ) -> float:
        """The number that, divided by delta^2, bounds the mistakes of a run from zero.

        Novikoff (1962) gives R^2 for the perceptron at any rate; rates that differ by a factor of
        b / a, as row weights between a and b make them, give R^2 b / a. The same proof gives
        max(R^2, 1 / cap) for MIRA, cap the smallest C c_i, on w = w_1 - w_0 twice that: an update
        by tau raises |w|^2 by at most tau and <w, u> by tau delta, and tau >= min(1 / R^2, cap).
        """
        low = high = 1.0
        if row_weights is not None:
            used = row_weights[row_weights > 0]
            low, high = float(used.min()), float(used.max())
        if self.rule == "perceptron":
            return squared_radius * high / low
        cap = low * (2 * self.step if n_classes == 2 else self.step)
        return max(squared_radius, 1 / cap)
