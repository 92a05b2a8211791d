"""Steps along a ray: Armijo backtracking, and the weak Wolfe conditions by bracketing."""

from __future__ import annotations

import math

from separatrix.solvers.points import Ray

__all__ = ["armijo", "wolfe"]

#: Share of the promised decrease that a step must deliver.
_DECREASE = 1e-4
#: Share of the starting slope that may be left at a step that is long enough.
_CURVATURE = 0.9
#: Slope, as a share of the starting one, below which rounding of the value is forgiven.
_FLAT = 0.8


def _decreases(ray: Ray, step: float, value: float, slope: float, noise: float) -> bool:
    """Armijo's condition, or its slope form within rounding (Hager & Zhang 2005, eq. 4.1)."""
    if not (math.isfinite(value) and math.isfinite(slope)):
        return False
    if value <= ray.value + _DECREASE * step * ray.slope:
        return True
    return value <= ray.value + noise and slope <= -_FLAT * ray.slope


def armijo(ray: Ray, step: float, *, noise: float, max_trials: int = 60) -> float | None:
    """The first of step, step/2, step/4, ... that decreases P enough; None if there is none.

    Values that are infinite or NaN count as too far.
    """
    for _ in range(max_trials):
        if _decreases(ray, step, *ray(step), noise):
            return step
        step /= 2
    return None


def wolfe(ray: Ray, step: float, *, noise: float, max_trials: int = 40) -> float | None:
    """A step that decreases P enough and is not too short; None if there is none.

    The weak Wolfe conditions by bracketing, after Lewis & Overton (2013), Algorithm 2.6; inside
    the bracket the next step is where the slope would vanish if it were linear. `noise` is the
    rounding error of a value. Values that are infinite or NaN count as too far.
    """
    low, slope_low = 0.0, ray.slope
    high, slope_high = math.inf, math.nan
    for _ in range(max_trials):
        value, slope = ray(step)
        if not _decreases(ray, step, value, slope, noise):
            high, slope_high = step, slope if math.isfinite(value) else math.nan
        elif slope < _CURVATURE * ray.slope:
            low, slope_low = step, slope
        else:
            return step
        if math.isinf(high):
            # Secant on the slope, but at least doubling: the minimum lies ahead.
            curvature = (slope_low - ray.slope) / low
            ahead = low - slope_low / curvature if curvature > 0 else math.inf
            step = min(max(ahead, 2 * low), 10 * low)
        else:
            width = high - low
            share = slope_low / (slope_low - slope_high) if slope_high > 0 else 0.5
            step = low + width * min(max(share, 0.1), 0.9)
    return low if low > 0 else None
