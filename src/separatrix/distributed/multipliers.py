"""Support vector machines in partitions: Newton steps on the hinge with multipliers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.distributed.certificate import RemoteCertifier
from separatrix.distributed.objective import DistributedObjective, added
from separatrix.distributed.session import LostDataError
from separatrix.distributed.shifted import (
    Knobs,
    new_duals,
    shifted_gradient,
    shifted_matrix,
    shifted_product,
    start_duals,
)
from separatrix.losses import SquaredHinge
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers import NewtonCG
from separatrix.solvers.certificate import ROUNDING

__all__ = ["Multipliers", "ShiftedHinge"]

#: Curvature of the first round in units of C, its growth from round to round, and the largest.
_FIRST, _GROWTH, _LARGEST = 1.0, 4.0, 1e4
#: Share of the certified gap that may be left of the smooth function after its round.
_INNER = 0.02
#: Steps without progress after which a round ends: rounding allows no more.
_PATIENCE = 12
#: A gap below so many units in the last place of P, in the precision of the stored weights, that
#: did not halve within so many rounds is that of rounding them.
_ROUNDING_UNITS, _LEVEL_ROUNDS = 64.0, 4
#: Rounds at most.
_ROUNDS = 200


class ShiftedHinge(DistributedObjective):
    """The smooth function of one round: what `NewtonCG` minimizes.

    Parameters
    ----------
    whole : DistributedObjective
        P with the hinge itself.
    duals : list of futures
        The duals of the round before, beside their partitions.
    knobs : Knobs
        C, sigma and the costs.
    """

    def __init__(self, whole: DistributedObjective, duals: list[Any], knobs: Knobs) -> None:
        parts = [(*part, dual) for part, dual in zip(whole.parts, duals, strict=True)]
        super().__init__(
            whole.session,
            parts,
            whole.score_map,  # type: ignore[arg-type]
            SquaredHinge(),  # of the same smoothness: it has a second derivative but for kinks
            whole.penalty,
            C=1.0,
            exempt=whole.exempt,
        )
        self.whole = whole
        self.forms_hessian = whole.dense
        self.knobs = knobs
        self.last: tuple[Array, Array, float, float] | None = None
        self.last_value = math.nan

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """The smooth part and its gradient; what certifies is remembered."""
        value, grad, exact, dual = self.session.reduce(
            shifted_gradient, added, self.parts, w, self.knobs
        )
        self.last, self.last_value = (w, grad, exact, dual), value
        return value, grad.copy()

    def imbalance(self, sums: Array) -> tuple[float, float]:
        """That of the hinge itself: duals are points of its domain."""
        return self.whole.imbalance(sums)

    def certifier(self) -> None:
        """None: a round ends by what its gradient proves."""

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w."""
        at = self.session.send(w)

        def apply(v: Array) -> Array:
            (product,) = self.session.reduce(shifted_product, added, self.parts, at, v, self.knobs)
            result: Array = product
            result[: len(self.penalized(v))] += self.penalized(v)
            return result

        return apply

    def loss_hessian(self, w: Array) -> npt.NDArray[np.float64]:
        """The same Hessian as a matrix."""
        (matrix,) = self.session.reduce(shifted_matrix, added, self.parts, w, self.knobs)
        result: npt.NDArray[np.float64] = matrix.copy()
        if self.exempt:
            # Where all duals are at their ends, nothing bends along an intercept: one row there
            # keeps the step finite. The gradient stays as it is, and so does the minimizer.
            free = np.arange(len(result) - w.shape[1], len(result))
            flat = free[result[free, free] <= 0]
            result[flat, flat] += self.knobs.sigma
        return result

    def left(self) -> float:
        """Bound of what the round has left at the weights seen last."""
        if self.last is None:
            return math.inf
        w, grad, _, _ = self.last
        whole = grad.copy()
        whole[: len(self.penalized(w))] += self.penalized(w)
        value = self.last_value + self.penalty.value(self.penalized(w))
        return self.gap_bound(w, whole, value)

    def certificate(self, w: Array) -> tuple[float, float]:
        """P(w) of the hinge itself, and a bound of P(w) - min P."""
        if self.last is None or self.last[0] is not w:
            self.loss_value_and_grad(w)
        assert self.last is not None
        _, grad, exact, dual = self.last
        inner = self.penalized(w)
        value = exact + self.penalty.value(inner)
        # The duals make the weights -grad, once they are brought to zero sums for free intercepts.
        share, length = self.imbalance(grad[-1]) if self.exempt else (0.0, 0.0)
        length += (1 - share) * float(np.linalg.norm(self.penalized(grad)))
        # Rounding of the sums: duals of a row add up to twice its weight at most.
        mass = 2 * float(self.whole.class_weights.sum())
        length += ROUNDING * mass * math.hypot(self.longest_row, 1.0)
        noise = ROUNDING * (abs(dual) + abs(exact) + length * length)
        return value, value - (1 - share) * dual + 0.5 * length * length + noise


class _RoundMonitor(Monitor):
    """Ends a round by what its gradient proves.

    Newton's estimates of the distance are wrong where second derivatives jump.
    """

    def __init__(self, smooth: ShiftedHinge, limit: float, max_passes: float) -> None:
        super().__init__(tol=0.0, max_passes=max_passes)
        self._smooth, self._limit = smooth, limit
        self._best, self._idle = math.inf, 0

    def record(
        self,
        n_passes: float,
        objective: float,
        gap: float,
        weights: Callable[[], Any],
        *,
        proven: bool = True,
        seconds: float | None = None,
    ) -> StopReason | None:
        """Note the state; a round that comes no nearer ends as well."""
        stopped = super().record(n_passes, objective, gap, weights, proven=proven, seconds=seconds)
        left = self._smooth.left()
        self._idle = 0 if left < 0.5 * self._best else self._idle + 1
        self._best = min(self._best, left)
        return StopReason.BUDGET if stopped is None and self._idle >= _PATIENCE else stopped

    def converged(self, objective: float, gap: float) -> bool:
        """Whether strong convexity bounds what is left by the limit."""
        return self._smooth.left() <= self._limit


@dataclass(frozen=True)
class Multipliers:
    """The method of multipliers for the hinge, rounds of Newton steps (`shifted`).

    Every round minimizes a smooth function by `NewtonCG` and then takes over its duals. The duality
    gap is certified in every round. Duals stay beside their partitions; should they be lost with
    their workers, the next round begins without any.
    """

    needs: ClassVar[frozenset[str]] = frozenset()

    def minimize(
        self, objective: DistributedObjective, w0: Array | None, monitor: Monitor
    ) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        cost = getattr(getattr(objective.loss, "max_op", None), "cost", None)
        knobs = Knobs(float(objective.C), _FIRST * float(objective.C), cost)
        w: Array = np.zeros(objective.weight_shape)
        if w0 is not None:
            w = np.array(w0, dtype=np.float64)
        certifier = RemoteCertifier(objective)
        best, best_value, noise, below = w, math.inf, 0.0, 0.0
        passes, stopped = 0.0, None
        least, n_level = math.inf, 0
        unit = _ROUNDING_UNITS * float(np.finfo(objective.dtype).eps)
        duals = self._fresh(objective)
        try:
            for _ in range(_ROUNDS):
                try:
                    smooth = ShiftedHinge(objective, duals, knobs)
                    w, used = self._round(smooth, w, best_value - below, monitor, passes)
                    passes += used
                    value, gap = smooth.certificate(w)
                    duals = self._next(objective, duals, w, knobs)
                except LostDataError:
                    duals = self._fresh(objective)
                    continue
                below = max(below, value - gap)
                # P is that of the weights as they will be stored.
                stored, value, off, _ = certifier.value_at(w)
                passes += 1
                if value <= best_value:
                    best, best_value, noise = stored.astype(np.float64), value, off
                gap = best_value - below + noise
                stopped = monitor.record(passes, best_value, gap, lambda: best)  # noqa: B023
                level = 0.5 * least <= gap <= unit * abs(best_value)
                least, n_level = (least, n_level + 1) if level else (gap, 0)
                if stopped is None and n_level >= _LEVEL_ROUNDS:
                    stopped = StopReason.PRECISION
                if stopped is not None:
                    break
                knobs = knobs._replace(
                    sigma=min(_GROWTH * knobs.sigma, _LARGEST * float(objective.C))
                )
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        return Solution(
            w=best,
            n_passes=passes,
            gap=best_value - below + noise,
            stopped=stopped or StopReason.BUDGET,
            trace=monitor.trace,
            objective=best_value,
            certificate="duality gap",
            solver="method of multipliers, Newton steps",
        )

    @staticmethod
    def _round(
        smooth: ShiftedHinge, w: Array, gap: float, monitor: Monitor, passes: float
    ) -> tuple[Array, float]:
        left = monitor.max_passes - passes - monitor.offset
        value = smooth.value(w)
        scale = abs(value)
        goal = monitor.wanted(value) if math.isfinite(gap) else math.inf
        wanted = _INNER * max(goal, min(gap, scale)) / scale
        inner = _RoundMonitor(smooth, wanted * scale, max(left, 1.0))
        solution = NewtonCG().minimize(smooth, w, inner)
        if solution.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return solution.w, solution.n_passes + 1.0

    @staticmethod
    def _fresh(objective: DistributedObjective) -> list[Any]:
        return objective.session.keep(start_duals, objective.parts)

    @staticmethod
    def _next(
        objective: DistributedObjective, duals: list[Any], w: Array, knobs: Knobs
    ) -> list[Any]:
        parts = [(*part, dual) for part, dual in zip(objective.parts, duals, strict=True)]
        # The copies of w stay, since Dask makes lost duals again from them, round by round.
        session = objective.session
        found = session.keep(new_duals, parts, session.send(w), knobs)
        session.release(duals)
        return found
