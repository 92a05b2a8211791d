"""A solver, all that there is to write: gradient steps by Barzilai & Borwein (1988)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.solvers import SOLVERS
from separatrix.solvers.base import check_needs
from separatrix.solvers.driver import Iterate, drive, rounding
from separatrix.solvers.points import Points
from separatrix.solvers.primal.line_search import armijo


@dataclass(frozen=True)
class BarzilaiBorwein:
    """w <- w - t grad P(w) with t = |s|^2 / <s, y> of the last step, halved until P falls."""

    needs: ClassVar[frozenset[str]] = frozenset({"value_grad", "smooth"})

    def minimize(self, objective, w0, monitor):
        check_needs(self, objective)
        points = Points(objective)
        start = points.start(w0)
        iterates = self._iterate(points, points.first(start))
        return drive("Barzilai-Borwein", points, start, iterates, monitor)

    def _iterate(self, points, point):
        step = 1 / max(1.0, float(np.linalg.norm(point.grad)))
        while True:
            yield Iterate(point)
            ray = points.along(point, -point.grad)
            taken = armijo(ray, step, noise=rounding(point, points.objective))
            if taken is None or ray.slope == 0:
                return
            before, point = point, ray.point(taken)
            moved, turned = point.w - before.w, point.grad - before.grad
            bend = float(np.vdot(moved, turned))
            step = float(np.vdot(moved, moved)) / bend if bend > 0 else 2 * taken


SOLVERS["toy"] = BarzilaiBorwein
