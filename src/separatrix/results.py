"""What a solver hands back: the weights, the certificate and the trace of the run."""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "Monitor",
    "Solution",
    "StopReason",
    "Trace",
    "TraceRow",
    "relative_gap",
    "time_limit",
]

#: When runs that begin now must end, by time.perf_counter.
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Let every solver that starts inside stop after the pass in which the time runs out.

    Such a run keeps its weights and says BUDGET. An inner limit cannot extend an outer one.

    Examples
    --------
    >>> with time_limit(0.0):
    ...     monitor = Monitor(tol=1e-9, max_passes=1000)
    >>> monitor.record(1.0, 5.0, 2.0, lambda: np.zeros(1))
    <StopReason.BUDGET: 'budget'>
    """
    token = _deadline.set(min(_deadline.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


class StopReason(enum.Enum):
    """Why a solver stopped.

    Only CONVERGED is a promise: the true gap P(w) - min P is at most ``tol * |P(w)|``. The others
    say what ended the run, and `Solution.gap` what is known about the weights.
    """

    CONVERGED = "converged"  # a bound proves that the gap is within the tolerance
    STATIONARY = "stationary"  # an estimate is within tol, no bound: not convex, no dual, or random
    PRECISION = "precision"  # no more progress in floating point, though not within tol
    BUDGET = "budget"  # out of passes or time
    INTERRUPTED = "interrupted"  # by Ctrl-C
    HELD_OUT = "held-out"  # the held-out score no longer rose


class TraceRow(NamedTuple):
    """One line of a trace."""

    n_passes: float
    objective: float
    gap: float
    seconds: float
    held_out: float


@dataclass
class Trace:
    """Objective, gap, seconds and held-out score after each pass.

    Examples
    --------
    >>> trace = Trace()
    >>> trace.append(TraceRow(1.0, 10.0, 3.0, 0.01, float("nan")))
    >>> trace.objective
    array([10.])
    """

    rows: list[TraceRow] = field(default_factory=list)

    def __getstate__(self) -> dict[str, npt.NDArray[np.float64]]:
        return {"rows": np.array(self.rows, dtype=np.float64).reshape(-1, len(TraceRow._fields))}

    def __sx_getstate__(self) -> dict[str, npt.NDArray[np.float64]]:
        """What a model file keeps: no seconds (NaN), so that equal runs make equal files."""
        state = self.__getstate__()
        state["rows"][:, TraceRow._fields.index("seconds")] = np.nan
        return state

    def __setstate__(self, state: dict[str, npt.NDArray[np.float64]]) -> None:
        self.rows = [TraceRow(*row) for row in state["rows"].tolist()]

    def append(self, row: TraceRow) -> None:
        """Add one row."""
        self.rows.append(row)

    def __len__(self) -> int:
        return len(self.rows)

    def __getattr__(self, name: str) -> npt.NDArray[np.float64]:
        if name in TraceRow._fields:
            return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)
        raise AttributeError(name)


class Solution(NamedTuple):
    """The record that every solver returns.

    Attributes
    ----------
    w : ndarray of shape (d, K)
        Weights, one column per score; the last row holds the intercepts where there are any.
    n_passes : float
        Passes over the data, the unit that all solvers share.
    gap : float
        Certificate of optimality: a proven upper bound of P(w) - min P, never below the rounding of
        P; infinite where there is none.
    stopped : StopReason
        CONVERGED, STATIONARY, PRECISION, BUDGET, INTERRUPTED or HELD_OUT.
    trace : Trace
        Objective, gap, seconds and held-out score per pass.
    objective : float
        P(w) at the returned weights, or an estimate of it where `certificate` says so.
    certificate : str
        How `gap` was proven: "duality gap", or "none"; and "none; objective estimated from the
        losses on the way" after a stochastic run of a pass or two.
    solver : str
        The solver that ran, in words.
    dual : ndarray of shape (n,) or (n, K), or None
        Dual variables, for solvers that have them: w = sum_i dual_i y_i x_i, or
        w_k = sum_i (C_i [y_i = k] - dual_ik) x_i for many classes, C_i = C c_i.
    """

    w: npt.NDArray[np.floating]
    n_passes: float
    gap: float
    stopped: StopReason
    trace: Trace
    objective: float
    certificate: str
    solver: str
    dual: npt.NDArray[np.floating] | None = None

    @property
    def relative_gap(self) -> float:
        """The gap divided by |P(w)|: what `tol` is compared with."""
        return relative_gap(self.gap, self.objective)


def relative_gap(gap: float, objective: float) -> float:
    """The gap divided by |objective|; no gap is no gap of nothing.

    Examples
    --------
    >>> relative_gap(0.5, 10.0), relative_gap(0.0, 0.0)
    (0.05, 0.0)
    """
    if gap == 0:
        return 0.0
    return gap / abs(objective) if objective else math.inf


class Monitor:
    """Watches a run: keeps the trace, shows progress, and says when to stop.

    Parameters
    ----------
    tol : float
        The run has converged when gap <= tol * |objective|. Nothing else sets a scale, so that
        sample weights times a with C / a stop at the same weights.
    max_passes : float
        Budget in passes over the data.
    report : callable or None
        Called with every TraceRow (progress bars, verbose output).
    score : callable or None
        Held-out score of a weight array, recorded in the trace.
    """

    def __init__(
        self,
        *,
        tol: float,
        max_passes: float,
        report: Callable[[TraceRow], None] | None = None,
        score: Callable[[npt.NDArray[np.floating]], float] | None = None,
    ) -> None:
        self.tol = tol
        self.max_passes = max_passes
        self.offset = 0.0  # passes made by a solver that handed over
        #: Least |P| that `tol` is taken of: P at the best constant model where min P may be zero.
        self.scale = 0.0
        self.trace = Trace()
        self._report = report
        self._score = score
        self._start = time.perf_counter()
        self._deadline = _deadline.get()

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
        """Note the state after `n_passes`; return why to stop, or None to go on.

        A gap that is not `proven` is an estimate: it stands in the trace and ends nothing.
        `seconds` since the start of the run are those of now unless given.
        """
        n_passes += self.offset
        held_out = self._score(weights()) if self._score is not None else float("nan")
        seconds = self.seconds if seconds is None else seconds
        row = TraceRow(n_passes, objective, gap, seconds, held_out)
        self.trace.append(row)
        if self._report is not None:
            self._report(row)
        if proven and self.converged(objective, gap):
            return StopReason.CONVERGED
        if n_passes >= self.max_passes or self.late:
            return StopReason.BUDGET
        return None

    @property
    def scores(self) -> bool:
        """Whether the weights of every pass are scored."""
        return self._score is not None

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.perf_counter() - self._start

    @property
    def late(self) -> bool:
        """Whether the time of the run is up."""
        return time.perf_counter() >= self._deadline

    def converged(self, objective: float, gap: float) -> bool:
        """Whether `gap` is within the tolerance at this objective value; both are finite then."""
        return bool(gap <= self.wanted(objective)) and math.isfinite(gap)

    def wanted(self, objective: float) -> float:
        """The gap that would do at this objective value."""
        return self.tol * max(self.scale, abs(objective))
