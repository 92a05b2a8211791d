"""Held-out examples during a fit: their score per pass, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from separatrix.errors import DataError, ParameterError
from separatrix.learners.structured.base import rows_of
from separatrix.metrics.sequences import chunk_f1, token_accuracy
from separatrix.results import Monitor, Solution, StopReason, TraceRow
from separatrix.structures.named import fitting_features

__all__ = ["HeldOutMonitor", "held_out_score", "split_examples"]


def split_examples(n: int, fraction: float, random_state: Any) -> tuple[Any, Any]:
    """Numbers of the examples to train on, and of those held out."""
    if not 0 < fraction < 1:
        raise ParameterError(f"validation_fraction must be between 0 and 1, got {fraction!r}")
    held_out = max(1, round(n * fraction))
    if held_out >= n:
        raise DataError(f"{n} examples are too few to hold {held_out} of them out")
    order = check_random_state(random_state).permutation(n)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def held_out_score(
    structure: Any,
    features: Any,
    classes: npt.NDArray[Any],
    X: Any,
    y: Any,
    scoring: str,
    n_threads: int,
) -> Callable[[npt.NDArray[np.float64]], float]:
    """A function from the weights of the features to the score of held-out examples."""
    measure = {"accuracy": token_accuracy, "chunk_f1": chunk_f1}[scoring]
    inputs, truth = structure.read(X, features), rows_of(y)
    features = fitting_features(structure, features, inputs)

    def score(w: npt.NDArray[np.float64]) -> float:
        best = features.best(features.scores(w, inputs, n_threads), n_threads)
        return measure(truth, rows_of(structure.labels(best.labels, inputs, classes)))

    return score


class HeldOutMonitor(Monitor):
    """A monitor that also stops when the held-out score no longer rises, and keeps the best.

    Parameters
    ----------
    patience : int or None
        Passes without a better score before the end; None only records scores.
    **options
        As for `Monitor`.
    """

    def __init__(
        self,
        *,
        tol: float,
        max_passes: float,
        report: Callable[[TraceRow], None] | None = None,
        score: Callable[[npt.NDArray[np.floating]], float] | None = None,
        patience: int | None = None,
    ) -> None:
        super().__init__(tol=tol, max_passes=max_passes, report=report, score=score)
        self._patience = patience if score is not None else None
        self._best: tuple[float, npt.NDArray[np.floating], float, float] | None = None
        self._since = 0

    def record(
        self,
        n_passes: float,
        objective: float,
        gap: float,
        weights: Callable[[], npt.NDArray[np.floating]],
        *,
        proven: bool = True,
        seconds: float | None = None,
    ) -> StopReason | None:
        """Note the state after `n_passes`; return why to stop, or None to go on."""
        stopped = super().record(n_passes, objective, gap, weights, proven=proven, seconds=seconds)
        if self._patience is None:
            return stopped
        score = self.trace.rows[-1].held_out
        if self._best is None or score > self._best[0]:
            self._best = score, weights().copy(), objective, gap if proven else float("inf")
            self._since = 0
        else:
            self._since += 1
        if stopped is None and self._since >= self._patience:
            return StopReason.HELD_OUT
        return stopped

    def best(self, solution: Solution) -> Solution:
        """The solution with the weights of the best held-out score, where that decides."""
        if self._best is None:
            return solution
        _, w, objective, gap = self._best
        if np.array_equal(w, solution.w):
            return solution
        if solution.stopped is StopReason.CONVERGED:
            solution = solution._replace(stopped=StopReason.HELD_OUT)
        return solution._replace(w=w, objective=objective, gap=gap)
