"""From values to places on an axis, and where the ticks stand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from separatrix.report.parts.part import Array

__all__ = ["Scale", "linear_scale", "log_scale", "range_of"]

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` on places from `start` to `end`, with labeled ticks."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of `value`."""
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether `value` can be placed: finite, and positive on a logarithmic axis."""
        return math.isfinite(value) and (value > 0 or not self.logarithmic)


def range_of(arrays: Iterable[Array | None], *, positive: bool = False) -> tuple[float, float]:
    """Smallest and largest finite (and positive, if asked) value; (0, 1) where there is none.

    Examples
    --------
    >>> range_of([np.array([1.0, np.nan]), None, np.array([4.0])])
    (1.0, 4.0)
    """
    found = [np.asarray(array, dtype=np.float64).ravel() for array in arrays if array is not None]
    values = np.concatenate(found) if found else np.empty(0)
    values = values[np.isfinite(values) & ((values > 0) | (not positive))]
    if not values.size:
        return (1.0, 10.0) if positive else (0.0, 1.0)
    return float(values.min()), float(values.max())


def linear_scale(
    low: float,
    high: float,
    start: float,
    end: float,
    *,
    padding: float = 0.06,
    limits: tuple[float, float] = (-math.inf, math.inf),
    n_ticks: int = 5,
    smallest_step: float = 0.0,
) -> Scale:
    """A scale with some air at both ends, inside of `limits`, and ticks at round numbers.

    Examples
    --------
    >>> scale = linear_scale(0.0, 10.0, 0.0, 100.0, padding=0)
    >>> scale(5.0), [label for _, label in scale.ticks]
    (50.0, ['0', '2', '4', '6', '8', '10'])
    """
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        air = 0.05 * max(abs(low), 1.0)
    else:
        air = padding * (high - low)
    # The limits hold for the air alone: data that lies beyond them is still shown.
    low, high = min(low, max(low - air, limits[0])), max(high, min(high + air, limits[1]))
    if not high > low:
        low, high = low - air, high + air
    step = max(_round_step((high - low) / n_ticks), smallest_step)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    places = [index * step for index in range(first, last + 1)]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return Scale(low, high, start, end, tuple((at, _plain(at, digits)) for at in places))


def log_scale(low: float, high: float, start: float, end: float) -> Scale:
    """A logarithmic scale with ticks at powers of ten, or at 1, 2, 5 where there are few powers.

    Examples
    --------
    >>> scale = log_scale(1e-3, 1e4, 0.0, 70.0)
    >>> scale(1.0), [label for _, label in scale.ticks]
    (30.0, ['10⁻³', '10⁻²', '10⁻¹', '1', '10', '10²', '10³', '10⁴'])
    """
    if not high > low:
        low, high = low / 2, high * 2
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    within = (low * (1 - 1e-9), high * (1 + 1e-9))
    powers = [10.0**k for k in decades if within[0] <= 10.0**k <= within[1]]
    if len(powers) >= 3:
        stride = math.ceil(len(powers) / 8)
        ticks = tuple((at, _power(at)) for at in powers[::stride])
        return Scale(low, high, start, end, ticks, True)
    places = [m * 10.0**k for k in decades for m in (1, 2, 5)]
    places = [at for at in places if within[0] <= at <= within[1]]
    if len(places) < 2:
        places = [low, high]
    return Scale(low, high, start, end, tuple((at, _general(at)) for at in places), True)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9))


def _plain(value: float, digits: int) -> str:
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-4:
        return f"{value:.3g}".replace("-", "−")
    return f"{value:,.{digits}f}".replace("-", "−")


def _general(value: float) -> str:
    return f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:.3g}"


def _power(value: float) -> str:
    exponent = round(math.log10(value))
    if exponent in (0, 1):
        return str(10**exponent)
    return "10" + str(exponent).translate(_SUPERSCRIPTS)
