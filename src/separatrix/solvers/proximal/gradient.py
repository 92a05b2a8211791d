"""Accelerated proximal gradient, for penalties with a kink such as L1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.driver import Iterate, drive
from separatrix.solvers.points import Point, Points

__all__ = ["ProximalGradient"]

#: Halvings of a step before rounding is blamed.
_HALVINGS = 60


@dataclass(frozen=True)
class ProximalGradient:
    """FISTA with backtracking and adaptive restart.

    w <- prox_{t R}(v - t grad L(v)) with v an extrapolation of the last two w (Beck & Teboulle
    2009); the momentum is dropped when it points uphill (O'Donoghue & Candes 2015). Intercepts
    that are exempt from the penalty take plain gradient steps. The certificate is a duality gap
    where the conjugates are known (L1, elastic net and L2 with the built-in smooth losses), else
    the norm of the proximal gradient map.

    Parameters
    ----------
    check_every : int
        Iterations between two computations of the dual bound (half a pass each).
    growth : float
        Factor by which the step is enlarged after each iteration.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import MARGIN_LOSSES
    >>> from separatrix.objective import Objective
    >>> from separatrix.penalties import L1
    >>> from separatrix.results import Monitor
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
    >>> objective = Objective(scores, MARGIN_LOSSES["logistic"], L1(), y, exempt=True)
    >>> solution = ProximalGradient().minimize(objective, None, Monitor(tol=1e-6, max_passes=999))
    >>> solution.certificate, abs(float(solution.w[1, 0]))
    ('duality gap', 0.0)
    """

    check_every: int = 10
    growth: float = 1.1

    needs: ClassVar[frozenset[str]] = frozenset({"prox", "smooth_loss"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        points = Points(objective, fused=False)
        start = points.start(w0)
        return drive("proximal gradient", points, start, self._iterate(points, start), monitor)

    def _iterate(self, points: Points, start: Array) -> Iterator[Iterate]:
        objective = points.objective
        w, scores = start, points.scores(start)
        loss, ds = objective.loss_at(scores)
        if not (math.isfinite(loss) and np.isfinite(ds).all()):
            # P overflows at the start: begin at zero instead.
            w, scores = np.zeros_like(start), np.zeros_like(scores)
            _, ds = objective.loss_at(scores)
        v, scores_v, ds_v = w, scores, ds
        momentum, step, growth = 1.0, math.nan, 2.0
        for iteration in range(1 << 62):
            grad = points.adjoint(ds_v)
            if math.isnan(step):
                step = 1 / max(1.0, float(np.linalg.norm(grad)))
            for _ in range(_HALVINGS):
                after = self._prox(objective, v - step * grad, step)
                scores_after = points.scores(after)
                loss_after, ds_after = objective.loss_at(scores_after)
                move = after - v
                # <grad L(w) - grad L(v), w - v> from the scores: where L is quadratic, twice its
                # distance from the tangent, but free of the cancellation of a difference of values.
                with np.errstate(over="ignore", invalid="ignore"):
                    bend = float(
                        np.einsum(
                            "ij,ij->", ds_after - ds_v, scores_after - scores_v, dtype=np.float64
                        )
                    )
                if math.isfinite(loss_after) and bend <= float(np.vdot(move, move)) / step:
                    break
                step, growth = step / 2, self.growth
            else:
                return
            residual = float(np.linalg.norm(move)) / step
            value = loss_after + objective.penalty.value(objective.penalized(after))
            prove = iteration % self.check_every == 0
            yield Iterate(Point(after, value, grad, scores_after), residual=residual, prove=prove)
            before = momentum
            momentum = (1 + math.sqrt(1 + 4 * before * before)) / 2
            if float(np.vdot(v - after, after - w)) > 0:
                before, momentum = 1.0, 1.0
            share = (before - 1) / momentum
            v = after + share * (after - w)
            scores_v = scores_after + scores_after.dtype.type(share) * (scores_after - scores)
            ds_v = objective.loss_at(scores_v)[1] if share else ds_after
            w, scores = after, scores_after
            step *= growth

    @staticmethod
    def _prox(objective: Objective, w: Array, step: float) -> Array:
        """The proximal step on the penalized rows; w is fresh and may be written to."""
        inner = objective.penalized(w)
        inner[...] = objective.penalty.prox(inner, step)
        return w
