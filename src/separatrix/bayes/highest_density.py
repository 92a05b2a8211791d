"""Modes, shortest intervals and highest-density sets, by search."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage, optimize

from separatrix.bayes.posterior import FloatArray, atoms
from separatrix.errors import ParameterError

__all__ = [
    "discrete_mode",
    "discrete_set",
    "draws_mode",
    "draws_set",
    "highest_set",
    "mode_of_density",
    "shortest_discrete",
    "shortest_interval",
    "shortest_of_draws",
]

_SCAN = 129

#: A cell of the scan is 2 / 128 wide at most; 42 halvings leave 4e-15.
_STEPS = 42


def shortest_interval(distribution: Any, level: float) -> FloatArray:
    """The shortest interval of mass `level`, of shape (..., 2), for every element of a density.

    Searches the lower tail p: the width Q(p + level) - Q(p) of the quantile function Q falls where
    the density is lower at the left end than at the right one. A scan finds the basin, so that
    densities of several modes are served too; a bisection then finds the end.
    """
    shape = np.shape(distribution.ppf(0.5))
    column = (-1,) + (1,) * len(shape)
    grid = np.linspace(0.0, 1.0 - level, _SCAN).reshape(column)
    with np.errstate(invalid="ignore"):
        width = distribution.ppf(grid + level) - distribution.ppf(grid)
    width = np.where(np.isnan(width), np.inf, width)
    # A flat density has many shortest intervals: the middle one is taken.
    tied = width <= width.min(axis=0) * (1 + 1e-12)
    distance = np.where(tied, np.abs(grid - (1.0 - level) / 2), np.inf)
    best = np.argmin(distance, axis=0)
    line = grid.ravel()
    low, high = line[np.maximum(best - 1, 0)], line[np.minimum(best + 1, _SCAN - 1)]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        left, right = distribution.pdf(distribution.ppf(np.stack([middle, middle + level])))
        low, high = np.where(left <= right, middle, low), np.where(left >= right, middle, high)
    tail = (low + high) / 2
    # A density that falls (or rises) throughout has its interval at the end of the support.
    tail = np.where(tail < 1e-12, 0.0, np.where(1 - level - tail < 1e-12, 1 - level, tail))
    upper = np.minimum(tail + level, 1.0)
    upper = np.where(tail == 1 - level, 1.0, upper)
    return np.stack([distribution.ppf(tail), distribution.ppf(upper)], axis=-1)


def mode_of_density(distribution: Any, bounds: tuple[float, float] | None = None) -> float:
    """Where the density is highest; an error where it is flat, or without bound at both ends."""
    start, stop = distribution.support()
    levels = np.concatenate([[1e-6, 1e-4], np.linspace(1e-3, 1 - 1e-3, 255), [1 - 1e-4, 1 - 1e-6]])
    points = distribution.ppf(levels)
    if bounds is not None:
        start, stop = max(float(start), bounds[0]), min(float(stop), bounds[1])
        inner = points[(points > start) & (points < stop)]
        ends = [float(distribution.ppf(level)) for level in (1e-9, 1 - 1e-9)]
        low = start if np.isfinite(start) else min(ends[0], stop - 1)
        high = stop if np.isfinite(stop) else max(ends[1], start + 1)
        points = np.concatenate([inner, np.linspace(low, high, 257)])
    points = np.unique(np.concatenate([points, [x for x in (start, stop) if np.isfinite(x)]]))
    with np.errstate(divide="ignore", invalid="ignore"):
        height = np.nan_to_num(distribution.logpdf(points), nan=-np.inf, posinf=np.inf)
    if np.isposinf(height).sum() > 1:
        place = " and ".join(f"{x:g}" for x in points[np.isposinf(height)])
        raise ParameterError(f"the density is unbounded at {place}: there is no single mode")
    finite = height[np.isfinite(height)]
    if len(finite) > 2 and np.ptp(finite) < 1e-12:
        raise ParameterError("the density is flat: every point is a mode, there is no single one")
    best = int(np.argmax(height))
    if np.isposinf(height[best]):
        return float(points[best])
    low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
    found = optimize.minimize_scalar(
        lambda x: -distribution.logpdf(x),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-12 * max(1.0, abs(high - low))},
    )
    return float(found.x if -found.fun > height[best] else points[best])


def highest_set(distribution: Any, level: float) -> FloatArray:
    """The set {x : f(x) >= t} of mass `level`, as rising intervals of shape (m, 2).

    The threshold t is found by bisection on its mass, the ends by bisection on the density between
    neighbors of a fine grid. Modes that hold less than 1/500 of the mass may be missed.
    """
    points = np.unique(distribution.ppf(np.linspace(1e-9, 1 - 1e-9, 513)))
    ends = np.asarray(distribution.support(), dtype=np.float64)
    points = np.unique(np.concatenate([points, ends[np.isfinite(ends)]]))
    # A grid in x as well: between two far modes there are few quantiles.
    points = np.unique(np.concatenate([points, np.linspace(points[1], points[-2], 4097)]))
    with np.errstate(divide="ignore"):
        height = distribution.logpdf(points)

    def intervals(threshold: float) -> FloatArray:
        inside = np.concatenate([[False], height >= threshold, [False]])
        rises = np.flatnonzero(inside[1:] & ~inside[:-1])
        falls = np.flatnonzero(~inside[1:] & inside[:-1]) - 1
        left = _cross(distribution, points, rises - 1, rises, threshold)
        right = _cross(distribution, points, falls + 1, falls, threshold)
        return np.stack([left, right], axis=1)

    def excess(threshold: float) -> float:
        found = intervals(threshold)
        return float((distribution.cdf(found[:, 1]) - distribution.cdf(found[:, 0])).sum() - level)

    finite = height[np.isfinite(height)]
    low, high = float(finite.min()), float(finite.max())
    if excess(low) <= 0:
        return intervals(low)
    if excess(high) >= 0:
        if np.isposinf(height).any():
            raise ParameterError(
                f"the density is unbounded and holds {level} of its mass in a set too thin to find"
            )
        return shortest_interval(distribution, level)[None]  # a flat density
    threshold = optimize.bisect(excess, low, high, xtol=1e-13 * max(1.0, high - low), rtol=1e-15)
    return intervals(float(threshold))


def _cross(
    distribution: Any, points: FloatArray, out: Any, inside: Any, threshold: float
) -> FloatArray:
    """Where the density meets the threshold between grid points that lie out and inside."""
    last = len(points) - 1
    edge = (out < 0) | (out > last)  # the set runs to the end of the grid
    inner = points[np.clip(inside, 0, last)]
    outer = np.where(edge, inner, points[np.clip(out, 0, last)])
    for _ in range(50):
        middle = (inner + outer) / 2
        above = distribution.logpdf(middle) >= threshold
        inner, outer = np.where(above, middle, inner), np.where(above, outer, middle)
    return np.asarray(inner, dtype=np.float64)


def shortest_discrete(distribution: Any, level: float) -> FloatArray:
    """The shortest interval of atoms with at least `level` of the mass; ties go to more mass."""
    values, mass = atoms(distribution)
    total = np.concatenate([[0.0], np.cumsum(mass)])
    first = np.arange(len(values))
    last = np.searchsorted(total, total[:-1] + level - 1e-12)
    reachable = last <= len(values)
    first, last = first[reachable], last[reachable]
    width, held = values[last - 1] - values[first], total[last] - total[first]
    best = np.lexsort((-held, width))[0]
    return np.array([values[first[best]], values[last[best] - 1]])


def discrete_set(distribution: Any, level: float) -> FloatArray:
    """The fewest atoms that hold at least `level`, as runs of neighbors of shape (m, 2)."""
    values, mass = atoms(distribution)
    order = np.argsort(-mass, kind="stable")
    count = int(np.searchsorted(np.cumsum(mass[order]), level - 1e-12)) + 1
    chosen = np.zeros(len(values) + 2, dtype=bool)
    chosen[order[:count] + 1] = True
    starts = np.flatnonzero(chosen[1:] & ~chosen[:-1])
    stops = np.flatnonzero(~chosen[1:] & chosen[:-1]) - 1
    return np.stack([values[starts], values[stops]], axis=1)


def discrete_mode(distribution: Any) -> float:
    """The likeliest atom; the smallest one at a tie."""
    values, mass = atoms(distribution)
    return float(values[int(np.argmax(mass))])


def shortest_of_draws(values: FloatArray, level: float) -> FloatArray:
    """The shortest interval that holds `level` of the draws, of shape (..., 2)."""
    ordered = np.sort(values, axis=0)
    count = max(1, int(np.ceil(level * len(ordered) - 1e-9)))
    width = ordered[count - 1 :] - ordered[: len(ordered) - count + 1]
    best = np.expand_dims(np.argmin(width, axis=0), 0)
    low = np.take_along_axis(ordered, best, axis=0)[0]
    high = np.take_along_axis(ordered, best + count - 1, axis=0)[0]
    return np.stack([low, high], axis=-1)


def _kernel_density(values: FloatArray, n_bins: int = 4096) -> tuple[FloatArray, FloatArray]:
    """Grid and density of a Gaussian kernel estimate, on bins, mirrored at no end.

    The bandwidth is Silverman's 0.9 min(s, IQR / 1.34) n^(-1/5) (Silverman 1986, eq. 3.31).
    """
    spread = float(values.std())
    quartiles = np.quantile(values, [0.25, 0.75])
    robust = float(np.ptp(quartiles)) / 1.34
    bandwidth = 0.9 * (min(spread, robust) or spread) * len(values) ** -0.2
    if bandwidth == 0:
        raise ParameterError("all draws are the same: they have no density")
    low, high = values.min() - 4 * bandwidth, values.max() + 4 * bandwidth
    n_bins = int(min(1 << 20, max(n_bins, 8 * (high - low) / bandwidth)))
    counts, edges = np.histogram(values, bins=n_bins, range=(low, high))
    step = edges[1] - edges[0]
    smooth = ndimage.gaussian_filter1d(counts.astype(np.float64), bandwidth / step, mode="constant")
    return (edges[:-1] + edges[1:]) / 2, smooth / (len(values) * step)


def draws_mode(values: FloatArray, discrete: bool) -> float:
    """The most frequent value of discrete draws, else the highest point of a kernel estimate."""
    unique, counts = np.unique(values, return_counts=True)
    if discrete or len(unique) == 1:
        return float(unique[int(np.argmax(counts))])
    grid, density = _kernel_density(values)
    return float(grid[int(np.argmax(density))])


def draws_set(values: FloatArray, level: float, discrete: bool) -> FloatArray:
    """Highest-density intervals of draws (Hyndman 1996), of shape (m, 2)."""
    unique, counts = np.unique(values, return_counts=True)
    if discrete or len(unique) == 1:
        order = np.argsort(-counts, kind="stable")
        count = int(np.searchsorted(np.cumsum(counts[order]), level * len(values) - 1e-9)) + 1
        kept = np.sort(unique[order[:count]])
        breaks = np.flatnonzero(np.diff(kept) > 1)
        starts, stops = np.append(0, breaks + 1), np.append(breaks, len(kept) - 1)
        return np.stack([kept[starts], kept[stops]], axis=1)
    grid, density = _kernel_density(values)
    threshold = np.quantile(np.interp(values, grid, density), 1 - level)
    inside = np.concatenate([[False], density >= threshold, [False]])
    starts = np.flatnonzero(inside[1:] & ~inside[:-1])
    stops = np.flatnonzero(~inside[1:] & inside[:-1]) - 1
    return np.stack([grid[starts], grid[stops]], axis=1)
