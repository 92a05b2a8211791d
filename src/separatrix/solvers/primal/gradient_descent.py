"""Gradient descent with backtracking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution
from separatrix.solvers.base import check_needs
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Points
from separatrix.solvers.primal.line_search import armijo

__all__ = ["GradientDescent"]


@dataclass(frozen=True)
class GradientDescent:
    """w <- w - t grad P(w), with t halved until P decreases enough and grown from step to step.

    Backtracking after Armijo (1966). The plain reference among the solvers: it needs a pass over
    the data per iteration and many iterations when the features are badly scaled.

    Parameters
    ----------
    growth : float
        Factor by which the first step tried exceeds the last one taken.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.losses import MARGIN_LOSSES
    >>> from separatrix.objective import Objective
    >>> from separatrix.penalties import L2
    >>> from separatrix.results import Monitor
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
    >>> objective = Objective(scores, MARGIN_LOSSES["logistic"], L2(), y, exempt=True)
    >>> solution = GradientDescent().minimize(objective, None, Monitor(tol=1e-6, max_passes=500))
    >>> solution.stopped.value, round(solution.objective, 4)
    ('converged', 1.8494)
    """

    growth: float = 2.0

    needs: ClassVar[frozenset[str]] = frozenset({"value_grad", "smooth"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        check_needs(self, objective)
        points = Points(objective)
        start = points.start(w0)
        return drive("gradient descent", points, start, self._iterate(points, start), monitor)

    def _iterate(self, points: Points, start: Array) -> Iterator[Iterate]:
        point = points.first(start)
        step = 1 / max(1.0, float(np.linalg.norm(point.grad)))
        while True:
            yield Iterate(point)
            ray = points.along(point, -point.grad)
            taken = armijo(ray, step, noise=rounding(point, points.objective))
            if taken is None or ray.slope == 0:
                return
            point = ray.point(taken)
            step = taken * self.growth
