"""Numerical search of the action of least risk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from separatrix.bayes.decision.expectation import Method, evaluate, weighted_points
from separatrix.bayes.estimates import posterior_mean
from separatrix.bayes.posterior import Continuous, Discrete, Draws, FloatArray, View
from separatrix.bayes.quadrature import Panels
from separatrix.errors import ParameterError

__all__ = ["search", "search_vector"]

_SCAN = 201


def search(
    seen: View,
    loss: Callable[..., Any],
    bounds: tuple[float, float] | None,
    n_draws: int,
    random_state: Any,
) -> tuple[float, Method]:
    """The number of least risk, and how risks were found.

    The values of a discrete theta are tried one by one. A continuous action is scanned, over a
    range that grows while the risk falls at its end, and then searched within the best cell.
    """
    panels: Panels | None = None
    method: Method
    if isinstance(seen, Continuous):
        panels, method = Panels(seen.distribution), "quadrature"
        theta, weights = panels.points
    else:
        theta, weights, method = weighted_points(seen, n_draws, random_state)

    def rough(action: float) -> float:
        return float(weights @ evaluate(loss, action, theta))

    def risk(action: float) -> float:
        if panels is None:
            return rough(action)
        points, masses = panels.split_at(action)
        return float(masses @ evaluate(loss, action, points))

    start, stop = _support(seen) if bounds is None else bounds
    low, high = (float(theta.min()), float(theta.max())) if bounds is None else bounds
    discrete = isinstance(seen, Discrete) or (isinstance(seen, Draws) and seen.discrete)
    if discrete and bounds is None:
        values = np.unique(theta)
        return float(values[int(np.argmin([rough(value) for value in values]))]), method
    for _ in range(20):
        grid = np.linspace(low, high, _SCAN)
        if bounds is None and isinstance(seen, Continuous):
            # Dense where theta is likely, for tails may be long.
            quantiles = seen.distribution.ppf(np.linspace(0.01, 0.99, _SCAN))
            grid = np.unique(np.concatenate([grid, quantiles]))
        risks = np.array([rough(float(point)) for point in grid])
        best = int(np.argmin(risks))
        at_start = best == 0 and low > start
        at_stop = best == len(grid) - 1 and high < stop
        if not (at_start or at_stop):
            break
        # The best action lies beyond the likely thetas: look further out.
        width = high - low
        low, high = (max(start, low - width), high) if at_start else (low, min(stop, high + width))
    else:
        raise ParameterError(
            f"the risk still falls at the action {grid[best]:.4g}; give bounds or a list of actions"
        )
    found = optimize.minimize_scalar(
        risk,
        bounds=(float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])),
        method="bounded",
        options={"xatol": 1e-10 * max(1.0, high - low)},
    )
    return min((float(found.x), float(grid[best])), key=risk), method


def _support(seen: View) -> tuple[float, float]:
    if isinstance(seen, Continuous):
        start, stop = seen.distribution.support()
        return float(start), float(stop)
    return -np.inf, np.inf


def search_vector(seen: View, loss: Callable[..., Any]) -> tuple[FloatArray, Method]:
    """The vector of least risk over draws, by Nelder and Mead from the posterior mean."""
    if not isinstance(seen, Draws):
        raise ParameterError("a vector is searched from draws")
    theta = seen.values
    start = np.asarray(posterior_mean(theta))
    options: Any = {"xatol": 1e-8, "fatol": 1e-12, "maxfev": 2000 * start.size, "adaptive": True}

    def risk(action: FloatArray) -> float:
        return float(evaluate(loss, action, theta).mean())

    found = optimize.minimize(
        risk,
        start,
        method="Nelder-Mead",  # losses may bend
        options=options,
    )
    if not found.success:
        raise ParameterError(
            f"no minimum of the risk over {start.size} coordinates was found ({found.message}); "
            "give a list of actions"
        )
    return np.asarray(found.x), "sampling"
