"""Limited-memory BFGS, plain or preconditioned by Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.errors import SolverError
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Point, Points
from separatrix.solvers.primal.conjugate_gradients import newton_step
from separatrix.solvers.primal.line_search import wolfe
from separatrix.solvers.primal.pairs import Pairs
from separatrix.solvers.primal.preconditioner import (
    block_preconditioner,
    dense_values,
    shared_preconditioner,
)

__all__ = ["Lbfgs"]

#: Rows per feature that a preconditioner is built from, and the least share of all rows.
_ROWS_PER_FEATURE = 20
_SHARE = 3
#: Relative residual of the Newton steps that verify the end of a run.
_FORCING = 0.35
#: Trials of a line search; fewer where values are estimates that need not be smooth.
_TRIALS, _FEW_TRIALS = 40, 8


@dataclass(frozen=True)
class Lbfgs:
    """L-BFGS with a weak Wolfe line search (Liu & Nocedal 1989).

    With `precondition`, for dense data, the initial matrix of the recursion is the inverse of the
    Hessian with one Gram matrix shared by all scores; after `switch` iterations it is replaced by
    one matrix per score, at the curvature found there. Ill-conditioned data then need a few tens
    of passes instead of hundreds.

    Parameters
    ----------
    memory : int
        Number of pairs kept.
    precondition : bool
        Whether to start from Gram matrices; needs dense data and second derivatives.
    switch : int
        Iterations with the shared matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import multiclass_logistic
    >>> from separatrix.objective import Objective
    >>> from separatrix.penalties import L2
    >>> from separatrix.results import Monitor
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([0, 1, 2])
    >>> scores = FlatScores(make_design(X, 1), 3, intercept=True, dtype=X.dtype)
    >>> objective = Objective(scores, multiclass_logistic(), L2(), y, exempt=True)
    >>> solution = Lbfgs().minimize(objective, None, Monitor(tol=1e-8, max_passes=100))
    >>> solution.stopped.value, round(solution.objective, 4)
    ('converged', 2.1939)
    """

    memory: int = 10
    precondition: bool = False
    switch: int = 8

    needs: ClassVar[frozenset[str]] = frozenset({"value_grad", "smooth"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        X = dense_values(objective)
        if self.precondition and (X is None or "hvp" not in objective.can):
            raise SolverError(
                "Lbfgs(precondition=True) needs dense data and a loss with a second derivative."
            )
        points = Points(objective)
        start = points.start(w0)
        name = "preconditioned L-BFGS" if self.precondition else "L-BFGS"
        iterates = self._iterate(points, start, X if self.precondition else None, monitor)
        with blas_threads(1):
            return drive(name, points, start, iterates, monitor)

    def _iterate(
        self, points: Points, start: Array, X: Array | None, monitor: Monitor
    ) -> Iterator[Iterate]:
        objective = points.objective
        estimated = getattr(objective, "estimated", False)
        pairs = Pairs(self.memory)
        optimism = 1.0
        point = points.first(start)
        bounded = math.isfinite(objective.gap_bound(point.w, point.grad, point.value))
        if X is not None:
            yield Iterate(point)
            rows = _subset(*X.shape)
            pairs.inner = shared_preconditioner(objective, self._scores(points, point), rows)
        for iteration in range(1, 1 << 62):
            known = len(pairs) > 0 or pairs.inner is not None
            direction = pairs(point.grad)
            estimate = math.inf
            if known:
                promised = 0.5 * float(np.vdot(point.grad, direction))
                estimate = optimism * promised
            yield Iterate(
                point,
                None if bounded or not known else estimate,
                flatter=_flatter(pairs, point, monitor) if bounded and len(pairs) > 1 else None,
            )
            # Where a bound tells the end, or Gram matrices promise well enough, nobody is asked.
            asks = "hvp" in objective.can and X is None and not bounded
            if known and asks and monitor.converged(point.value, estimate):
                # The pairs know few directions and promise too much: ask the Hessian itself, and
                # remember by how much they were wrong (Morales & Nocedal 2000).
                direction = newton_step(points, point, pairs, _FORCING)
                gain = 0.5 * float(np.vdot(point.grad, direction))
                optimism = max(1.0, gain / promised) if promised > 0 else 1.0
            step = 1.0 if known else 1 / max(1.0, float(np.linalg.norm(point.grad)))
            ray = points.along(point, -direction)
            taken = None
            if ray.slope < 0:
                trials = _FEW_TRIALS if estimated else _TRIALS
                taken = wolfe(ray, step, noise=rounding(point, objective), max_trials=trials)
            if taken is None:
                # An estimate jumps from one fixed point to another if pushed on.
                if len(pairs) == 0 or estimated:
                    return
                pairs.clear()
                continue
            after = ray.point(taken)
            pairs.add(point, after)
            point = after
            if X is not None and iteration == self.switch:
                scores = self._scores(points, point)
                pairs.inner = block_preconditioner(objective, scores, rows)
                pairs.clear()

    @staticmethod
    def _scores(points: Points, point: Point) -> Array:
        return points.scores(point.w) if point.scores is None else point.scores


def _flatter(pairs: Pairs, point: Point, monitor: Monitor) -> tuple[Array, float] | None:
    """Weights where the gradient should be short enough for a proof, and the gap to hope for."""
    longest = math.sqrt(2 * monitor.wanted(point.value))
    # Orthogonal gradients of one length give a mean that is shorter by the root of their number;
    # twice that is rarely seen.
    if float(np.linalg.norm(point.grad)) > 2 * math.sqrt(len(pairs) + 1) * longest:
        return None
    step, length = pairs.flattest(point.grad)
    return (point.w + step, length**2 / 2) if length <= longest else None


def _subset(n_rows: int, n_features: int) -> npt.NDArray[np.int64] | None:
    """Rows to build a preconditioner from: a random third, but enough of them."""
    wanted = max(n_rows // _SHARE, _ROWS_PER_FEATURE * n_features)
    if wanted >= n_rows:
        return None
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:wanted])
