"""What a record of a fit claims, held against P and its minimum in extended precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.results import Solution, StopReason
from tests.laws.reference import Exact

#: Rounding of P in double at the few rows of the laws, generously: what a claim may be off.
ROUNDING = 1e-12
#: Rounding of tol * |P| itself.
SLACK = 1e-9


def faults(solution: Solution, tol: float, value: Any, lowest: Any, rounding: Any) -> list[str]:
    """Claims of a record that are not true.

    Parameters
    ----------
    solution : Solution
    tol : float
        What the fit was asked for.
    value, rounding : float
        P at the stored weights, and how far this number may be off.
    lowest : float
        The lowest P known: an upper bound of min P.
    """
    found = []
    true = value - lowest - rounding
    gap = solution.gap
    if not gap >= 0:
        found.append("gap is not a number from zero to infinity")
    if gap < true - ROUNDING * abs(value):
        found.append("claimed gap below the true one")
    if gap < np.finfo(np.float64).eps * abs(value):
        found.append("claimed gap below the rounding of P")
    if not math.isfinite(value):
        found.append("P is not finite at the stored weights")
    if solution.stopped is StopReason.CONVERGED:
        if not true <= (tol * (1 + SLACK) + ROUNDING) * abs(value):
            found.append("converged above tol")
        if not gap <= (tol * (1 + SLACK) + ROUNDING) * abs(value):
            found.append("converged on a gap above tol")
    return found


def in_words(name: str, fault: str, solution: Solution, tol: float, value: Any, lowest: Any) -> str:
    """A fault with the figures that show it."""
    return (
        f"{name}: {fault} (claimed {solution.gap:.6g}, true {float(value - lowest):.6g}, "
        f"P {float(value):.9g}, said {solution.objective:.9g}, tol {tol:g}, "
        f"{solution.stopped.value}, {solution.solver})"
    )


def untrue(model: Any, exact: Exact) -> list[str]:
    """What a fitted model claims that is not true of a problem, in words."""
    value, rounding = exact.value(model.coef_, model.intercept_)
    lowest = exact.minimum([exact.centered(model.coef_, model.intercept_)])
    solution, tol = model.solution_, model.tol
    return [
        in_words(type(model).__name__, fault, solution, tol, value, lowest)
        for fault in faults(solution, tol, value, lowest, rounding)
    ]
