"""Newton's method in a kernel, for few weights: losses of the margin, and softmax."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import newton_margins, newton_softmax
from separatrix.losses import kernel_of
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.certificate import Certified, Certifier

__all__ = ["ExactNewton"]

#: Share of the wanted gap that the kernel is asked for, and how that shrinks when a proof fails.
_SHARE, _AGAIN = 0.9, 0.1
#: Proofs that may fail before rounding is to blame.
_PROOFS = 5
#: Multiply-adds after which the kernel comes back for a look at the clock and at signals.
_TURN = 2e10


class _State(NamedTuple):
    """Weights, sigma of the hinge, and dual variables as shares of the row weights."""

    w: npt.NDArray[np.float64]
    sigma: float
    shares: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExactNewton:
    r"""Newton steps with exact Hessians for the losses of a margin, and for softmax.

    One pass over the rows gives the value, the gradient and :math:`X' D X` together. The hinge is
    smoothed, :math:`\max_{a \in [0, 1]} a z - (a - c)^2 / (2 \sigma)`, with :math:`\sigma` as large
    as the tolerance asks for and, late, the maximizers as new centers c (the proximal method of
    multipliers, Rockafellar 1976). Slopes that are moved along a whole step are the dual variables:
    no pass is made to see that the gradient at its end is short. Many rows begin with a sample of
    them. A pass costs :math:`n d^2 / 2`, or half the squared number of stored values of each sparse
    row, and :math:`d^3 / 3` for the system; softmax needs dense data, and d is then the number of
    weights of all classes.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> from separatrix.penalties import L2
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X = np.array([[2.0], [1.0], [-1.0], [-3.0]])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    >>> objective = Objective(scores, Hinge(), L2(), np.array([1, 1, -1, -1]), C=10.0)
    >>> solution = ExactNewton().minimize(objective, None, Monitor(tol=1e-9, max_passes=100))
    >>> solution.w.round(6), solution.stopped.value
    (array([[1.]]), 'converged')
    """

    needs: ClassVar[frozenset[str]] = frozenset({"exact_newton"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        run = _Run(objective, monitor)
        state: _State | None = None
        if w0 is not None and w0.any():
            state = _State(np.array(w0, dtype=np.float64).reshape(-1), 1.0, np.zeros(0))
        try:
            stopped = run.until_stopped(state)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        proven = run.proven
        return Solution(
            w=proven.w,
            n_passes=run.n_passes,
            gap=proven.gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=proven.value,
            certificate="duality gap",
            solver=f"Newton ({run.loss.replace('_', ' ')})",
            dual=run.duals(),
        )


class _Run:
    """Turns of the kernel, each followed by a proof where that may succeed."""

    def __init__(self, objective: Objective, monitor: Monitor) -> None:
        scores: Any = objective.score_map
        kernel = kernel_of(objective.loss)
        assert kernel is not None  # "exact_newton" is among the needs
        self.loss = kernel.name
        self.monitor = monitor
        self._objective = objective
        self._upper = objective.row_weights
        self._n_scores = objective.weight_shape[1]
        kind = np.int64 if objective.loss.n_scores is None else np.float64
        self._targets: Any = np.ascontiguousarray(objective.targets, dtype=kind)
        self._intercept = "none"
        if scores.intercept:
            self._intercept = "free" if objective.exempt else "penalized"
        self._n_threads = scores.n_threads
        self._certifier = Certifier(objective)
        size = float(np.prod(objective.weight_shape))
        once = objective.n_rows * size**2 / 2 + size**3 / 3
        self._per_turn = max(2, int(_TURN / max(1.0, once)))
        self._is_hinge = not objective.loss.smooth
        self.state = _State(np.zeros(int(size)), 1.0, np.zeros(0))
        self.proven = Certified(np.zeros(objective.weight_shape), np.inf, np.inf)
        self.n_passes = 0.0

    def _turn(self, start: _State | None, tol: float, least: float, passes: int) -> Any:
        design, y, upper = self._objective.design, self._targets, self._upper
        name, n_threads, keep = self._intercept, self._n_threads, self.monitor.scores
        if self._objective.loss.n_scores is None:
            w, k = None if start is None else start.w, self._n_scores
            return newton_softmax(design, y, upper, k, name, w, tol, least, passes, keep, n_threads)
        given = None
        if start is not None:
            centers = start.shares if self._is_hinge and len(start.shares) else None
            given = start.w, start.sigma, centers
        return newton_margins(
            design, y, upper, self.loss, name, given, tol, least, passes, keep, n_threads
        )

    def until_stopped(self, start: _State | None) -> StopReason:
        """Run until the monitor says stop, or no step makes progress."""
        monitor, share, failed = self.monitor, _SHARE, 0
        while True:
            left = monitor.max_passes - monitor.offset - self.n_passes
            tol = share * monitor.tol
            most = 1 if monitor.late else self._per_turn
            passes_left = min(most, max(1, int(left)))
            began = monitor.seconds
            w, shares, sigma, trace, moving = self._turn(start, tol, monitor.scale, passes_left)
            start = self.state = _State(w, sigma, shares)
            before, (value, gap) = self.n_passes, (np.inf, np.inf)
            ended, expected = not moving, False
            for passes, value, gap, seconds, at in trace:
                expected = before + passes == self.n_passes
                if expected:
                    continue  # what the last step should come to: a proof is the first to see it
                self.n_passes = before + passes
                over = monitor.record(
                    self.n_passes,
                    value,
                    gap,
                    lambda: at.reshape(self._objective.weight_shape),  # noqa: B023
                    proven=False,
                    seconds=began + seconds,
                )
                ended |= over is not None
            if not (ended or expected) and gap > tol * max(monitor.scale, abs(value)):
                continue
            self.n_passes += 1
            wanted = monitor.wanted(value)
            self.proven = self._certifier.at(self._weights(), wanted, duals=self.duals())
            stopped = monitor.record(
                self.n_passes, self.proven.value, self.proven.gap, self._weights
            )
            failed += 1
            share *= _AGAIN
            if stopped is not None:
                return stopped
            if ended or failed >= _PROOFS:
                return StopReason.PRECISION

    def duals(self) -> npt.NDArray[np.float64] | None:
        """Dual variables as `Solution` has them."""
        shares = self.state.shares
        if not len(shares):
            return None
        if self._objective.loss.n_scores == 1:
            return shares * self._upper
        return shares.reshape(len(self._upper), -1) * self._upper[:, None]

    def _weights(self) -> Array:
        return self.state.w.reshape(self._objective.weight_shape)
