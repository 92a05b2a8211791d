"""Dual coordinate descent: hinge, squared hinge, logistic, Crammer–Singer and softmax with L2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix._core import DualBinary, DualMulticlass
from separatrix.errors import DataError
from separatrix.losses import kernel_of
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.certificate import Certified, Certifier

__all__ = ["DualCoordinateDescent"]

#: A run has stalled when its gap did not halve within so many passes.
STALL_PASSES = 20.0
#: An estimate of the gap below so many units in the last place of P, in the precision of the data,
#: that did not halve within so many passes consists of rounding. Those of the hinge level off at
#: 1 unit on imdb and at 25 on 20newsgroups.
_ROUNDING_UNITS, _LEVEL_PASSES = 64.0, 8.0
#: For smooth losses: by how much the proven gap may have fallen against its estimate when, after a
#: proof that failed, the next one is tried.
_FASTER = 0.3


@dataclass(frozen=True, eq=False)
class DualCoordinateDescent:
    """Minimize P(w) = 1/2 |w|^2 + sum_i U_i loss_i, U_i = C c_i, one dual variable at a time.

    For a margin loss w = sum_i a_i y_i x_i, for many classes
    w_k = sum_i (U_i [y_i = k] - a_ik) x_i.
    Every step solves the problem of one row exactly; rows are reshuffled every pass. The run stops
    on a duality gap: that of the dual variables for losses with a kink, that of the slopes of the
    losses at the weights for smooth ones.

    Parameters
    ----------
    seed : int
        Seed of the order of visits. Runs are the same to the bit for the same seed, data and
        number of threads.
    start : ndarray of shape (n,) or (n, K), or None
        Duals to start from, such as `Solution.dual` of a smaller C; they are kept as they are and
        made feasible. Weights `w0` cannot start a dual method: they are ignored without a `start`,
        and with one only their intercepts are used, where these are not penalized.
    give_up_when_stalled : bool
        Stop with StopReason.BUDGET when the gap has not halved in 20 passes and as many are left,
        so that the caller may turn to a primal method (large C |x|^2).

    Notes
    -----
    Hsieh et al. (2008), Yu, Huang & Lin (2011), Keerthi et al. (2008); steps on hinge losses go a
    little further than the best dual of a row (Cryer 1971); on several threads CoCoA+ (Ma et al.
    2015), for hinge losses in the first passes whole steps, shortened together by a line search.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> from separatrix.penalties import L2
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X = np.array([[2.0], [1.0], [-1.0], [-3.0]])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    >>> objective = Objective(scores, Hinge(), L2(), np.array([1, 1, -1, -1]), C=10.0)
    >>> solution = DualCoordinateDescent().minimize(
    ...     objective, None, Monitor(tol=1e-9, max_passes=100))
    >>> solution.w.round(6), solution.dual @ [2, 1, 1, 3]
    (array([[1.]]), np.float64(1.0))
    """

    seed: int = 0
    start: npt.NDArray[np.float64] | None = None
    give_up_when_stalled: bool = False

    needs: ClassVar[frozenset[str]] = frozenset({"dual"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize until `monitor` says stop; for `w0` see `start`.

        The gap in the trace is an estimate from the margins at which rows were visited, and proven
        where a run ends; one pass is charged for each proof.
        """
        check_needs(self, objective)
        state = self._state(objective, w0)
        patience = STALL_PASSES if self.give_up_when_stalled else math.inf
        run = _Run(state, objective, monitor, patience)
        try:
            stopped = run.until_stopped()
        except KeyboardInterrupt:
            # The kernel left weights and duals consistent.
            stopped = StopReason.INTERRUPTED
            run.prove()
        words = _name(objective.loss).replace("_", " ")
        if state.n_threads > 1:
            words += f", {state.n_threads} threads"
        return Solution(
            w=run.proven.w,
            n_passes=run.n_passes,
            gap=run.proven.gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=run.proven.value,
            certificate="duality gap",
            solver=f"dual coordinate descent ({words})",
            dual=state.duals(),
        )

    def _state(self, objective: Objective, w0: Array | None) -> DualBinary | DualMulticlass:
        scores: Any = objective.score_map
        loss: Any = objective.loss
        intercept = "none"
        if scores.intercept:
            intercept = "free" if objective.exempt else "penalized"
        n_classes = scores.weight_shape[1]
        upper = np.ascontiguousarray(objective.row_weights, dtype=np.float64)
        start = self._checked_start(len(upper), n_classes, loss.n_scores)
        intercepts = None
        if start is not None and w0 is not None and intercept == "free":
            intercepts = np.ascontiguousarray(w0[-1], dtype=np.float64)
        if loss.n_scores == 1:
            y = np.ascontiguousarray(objective.targets, dtype=np.float64)
            return DualBinary(
                scores.design,
                y,
                upper,
                _name(loss),
                intercept,
                self.seed,
                scores.n_threads,
                start,
                intercepts,
            )
        cost = getattr(loss.max_op, "cost", None)
        if cost is not None:
            cost = np.ascontiguousarray(cost, dtype=np.float64)
        return DualMulticlass(
            scores.design,
            np.ascontiguousarray(objective.targets, dtype=np.int64),
            upper,
            n_classes,
            _name(loss),
            cost,
            intercept,
            self.seed,
            scores.n_threads,
            start,
            intercepts,
        )

    def _checked_start(
        self, n_rows: int, n_classes: int, n_scores: int | None
    ) -> npt.NDArray[np.float64] | None:
        if self.start is None:
            return None
        start = np.ascontiguousarray(self.start, dtype=np.float64)
        expected = (n_rows,) if n_scores == 1 else (n_rows, n_classes)
        if start.shape != expected:
            raise DataError(f"start has shape {start.shape}, expected {expected}")
        return start


def _name(loss: Any) -> str:
    """Of the loss in the kernel."""
    kernel = kernel_of(loss)
    assert kernel is not None  # "dual" is among the needs
    return kernel.name


class _Run:
    """The loop over passes: estimates from the rows' visits, proofs when these may succeed.

    A pass sums the gaps that its rows had when they were visited. For losses with a kink that is
    the duality gap in the middle of the pass. The slopes of smooth losses at the weights make a
    far better dual point than the dual variables do, and how much better is not known before it
    was tried: a proof is tried early, and then when the gap may have fallen far enough.
    """

    def __init__(
        self,
        state: DualBinary | DualMulticlass,
        objective: Objective,
        monitor: Monitor,
        patience: float,
    ) -> None:
        self.state = state
        self.monitor = monitor
        self.patience = patience
        self.n_passes = 0.0
        self.proven = Certified(np.zeros(0), math.inf, math.inf)
        self._certifier = Certifier(objective)
        self._smooth = bool(objective.loss.smooth)
        dtype = objective.score_map.dtype  # type: ignore[attr-defined]
        self._rounding = _ROUNDING_UNITS * float(np.finfo(dtype).eps)
        #: The proven gap divided by its estimate, when last proven.
        self._ratio = 1.0
        self._next = 0.0

    def until_stopped(self) -> StopReason:
        """Run passes until the monitor stops them, the gap stalls, or precision is exhausted."""
        last, best, best_at = math.inf, math.inf, 0.0
        least, level_at = math.inf, 0.0
        while True:
            primal, dual, _, visited = self.state.run_pass()
            self.n_passes += visited
            estimate = primal - dual
            # Rows saw the gap in the middle of the pass; by its end it has fallen on.
            fall = min(1.0, estimate / last) if 0 < last < math.inf else 1.0
            last = estimate
            gap = estimate * fall * self._ratio
            objective = dual + estimate * fall
            if estimate < 0.5 * least or estimate > self._rounding * abs(objective):
                least, level_at = estimate, self.n_passes
            # Another method is worth a try only if it gets as many passes.
            left = self.monitor.max_passes - self.n_passes
            stalled = self.n_passes - best_at > self.patience and left >= self.patience
            exhausted = self.n_passes - level_at > _LEVEL_PASSES
            near = self.monitor.converged(objective, gap) and self.n_passes >= self._next
            proving = near or stalled or exhausted or self.n_passes >= self.monitor.max_passes
            if proving:
                self.prove(objective)
                objective, gap = self.proven.value, self.proven.gap
                self._ratio = gap / (estimate * fall) if estimate > 0 else 1.0
                if self._smooth:
                    # The gap falls faster than its estimate: by a factor of ten a pass at best.
                    missing = gap / max(self.monitor.wanted(objective), 1e-300)
                    self._ratio *= _FASTER
                    self._next = self.n_passes + max(0.0, math.log10(max(missing, 1.0)) - 0.5)
                if exhausted and gap > self._rounding * abs(objective):
                    # Rows that rest hide the gap from the estimate; it is no rounding.
                    exhausted, least, level_at = False, math.inf, self.n_passes
            if gap < 0.5 * best:
                best, best_at = gap, self.n_passes
            stopped = self.monitor.record(
                self.n_passes, objective, gap, self.state.weights, proven=proving
            )
            if stopped is not None:
                if not proving:
                    self.prove(objective)
                return stopped
            if exhausted:
                return StopReason.PRECISION
            if stalled:
                return StopReason.BUDGET

    def prove(self, objective: float = math.nan) -> None:
        """Bound the gap at the present weights, at the price of one pass."""
        duals = None if self._smooth else self.state.duals()
        wanted = 0.0 if math.isnan(objective) else self.monitor.wanted(objective)
        self.proven = self._certifier.at(self.state.weights(), wanted, duals=duals)
        self.n_passes += 1
