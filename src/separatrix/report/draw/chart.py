"""Lines, bands and points over two axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np

from separatrix.report.draw.elements import Drawing, element, number, picture
from separatrix.report.draw.scales import Scale, linear_scale, log_scale, range_of
from separatrix.report.formats import clip
from separatrix.report.parts.part import Array

__all__ = ["Mark", "Series", "chart"]

WIDTH, HEIGHT = 360.0, 248.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 34.0, 38.0

#: Characters of the name of an axis, so that it stays in the picture.
LONGEST_TITLE = 40
#: More points than this are thinned out evenly: they would lie over each other.
MOST_POINTS = 800
#: Points of a line, thinned out likewise.
MOST_CORNERS = 300
#: Up to this many points of a line get a mark each that tells its value.
MOST_MARKERS = 60


@dataclass(frozen=True, eq=False)
class Series:
    """One line or cloud of points.

    Attributes
    ----------
    name : str
        Its name in the legend.
    x, y : ndarray of shape (m,)
        Places; points that are not finite are left out.
    low, high : ndarray of shape (m,) or None
        Ends of a band.
    css : str
        Class that gives the color: "s1" to "s6".
    line : bool
        Whether the points are joined; a cloud otherwise.
    dashed : bool
        Whether the line is dashed.
    sizes : ndarray of shape (m,) or None
        Radii of the marks.
    """

    name: str
    x: Array
    y: Array
    low: Array | None = None
    high: Array | None = None
    css: str = "s1"
    line: bool = True
    dashed: bool = False
    sizes: Array | None = None


@dataclass(frozen=True)
class Mark:
    """A vertical line at `x`, with a word beside it."""

    x: float
    text: str


def chart(
    label: str,
    series: Sequence[Series],
    *,
    x_title: str,
    y_title: str,
    logarithmic: bool = False,
    marks: Sequence[Mark] = (),
    level: float | None = None,
    diagonal: bool = False,
    limits: tuple[float, float] = (-math.inf, math.inf),
    height: float = HEIGHT,
) -> Drawing:
    """Draw some series over common axes.

    Parameters
    ----------
    label : str
        What the picture shows, for those who do not see it.
    series : sequence of Series
        What to draw, the first in front.
    x_title, y_title : str
        What the axes are, with units.
    logarithmic : bool, default=False
        Whether x is drawn on a logarithmic scale.
    marks : sequence of Mark
        Vertical lines.
    level : float, optional
        Height of a horizontal line.
    diagonal : bool, default=False
        Draw the line y = x, both axes over the same range.
    limits : tuple of two floats
        Air around the data stops here.
    height : float
        Height of the picture.

    Returns
    -------
    Drawing
        SVG.
    """
    series = [_thinned(one) for one in series]
    x_range = range_of([one.x for one in series], positive=logarithmic)
    y_arrays = [array for one in series for array in (one.y, one.low, one.high)]
    y_range = range_of([*y_arrays, None if level is None else np.array([level])])
    if diagonal:
        x_range = y_range = min(x_range[0], y_range[0]), max(x_range[1], y_range[1])
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    y_scale = linear_scale(*y_range, bottom, TOP, limits=limits)
    left = max(LEFT, 14.0 + 6.9 * max((len(text) for _, text in y_scale.ticks), default=0))
    if logarithmic:
        x_scale = log_scale(*x_range, left, right)
    else:
        x_limits = limits if diagonal else (-math.inf, math.inf)
        whole = all(np.all(one.x == np.round(one.x)) for one in series)
        x_scale = linear_scale(
            *x_range, left, right, padding=0.03, limits=x_limits, smallest_step=float(whole)
        )
    parts = _axes(x_scale, y_scale, x_title, y_title)
    if diagonal:
        low, high = max(x_scale.low, y_scale.low), min(x_scale.high, y_scale.high)
        parts.append(_line(x_scale(low), y_scale(low), x_scale(high), y_scale(high), "guide"))
    if level is not None:
        parts.append(_line(left, y_scale(level), right, y_scale(level), "guide"))
    parts += [_mark(mark, x_scale, y_scale) for mark in marks if x_scale.holds(mark.x)]
    for one in reversed(series):
        parts += _band(one, x_scale, y_scale)
    for one in reversed(series):
        parts += _lines(one, x_scale, y_scale) if one.line else _cloud(one, x_scale, y_scale)
    return picture(label, WIDTH, height, "chart", parts)


def _thinned(one: Series) -> Series:
    """Keep the points that can be told apart, the first and the last among them."""
    x, y = np.asarray(one.x, dtype=np.float64), np.asarray(one.y, dtype=np.float64)
    most = MOST_CORNERS if one.line else MOST_POINTS
    keep = np.arange(len(x)) if one.line else np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if keep.size > most:
        keep = keep[np.linspace(0, keep.size - 1, most).astype(int)]
    low, high, sizes = (
        None if array is None else np.asarray(array, dtype=np.float64)[keep]
        for array in (one.low, one.high, one.sizes)
    )
    return replace(one, x=x[keep], y=y[keep], low=low, high=high, sizes=sizes)


def _line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=css)


def _text(x: float, y: float, text: str, css: str, anchor: str | None = None) -> str:
    return element("text", escape(text), x=x, y=y, class_=css, text_anchor=anchor)


def _axes(x: Scale, y: Scale, x_title: str, y_title: str) -> list[str]:
    parts = []
    for at, text in y.ticks:
        parts.append(_line(x.start, y(at), x.end, y(at), "grid"))
        parts.append(_text(x.start - 7, y(at) + 3.8, text, "tick", "end"))
    parts.append(_line(x.start, y.start, x.end, y.start, "axis"))
    taken = -math.inf
    for at, text in x.ticks:
        half = 3.3 * len(text)
        if x(at) - half < taken + 4 or x(at) + half > WIDTH:  # labels never touch
            continue
        taken = x(at) + half
        parts.append(_line(x(at), y.start, x(at), y.start + 4, "axis"))
        parts.append(_text(x(at), y.start + 16, text, "tick", "middle"))
    parts.append(_text(x.end, y.start + 32, clip(x_title, LONGEST_TITLE), "name", "end"))
    parts.append(_text(2.0, 12.0, clip(y_title, LONGEST_TITLE), "name"))
    return parts


def _mark(mark: Mark, x: Scale, y: Scale) -> str:
    at = min(max(x(mark.x), x.start), x.end)
    left = at > (x.start + x.end) / 2
    return _line(at, y.start, at, y.end, "mark") + _text(
        at, y.end - 5, mark.text, "name", "end" if left else None
    )


def _band(one: Series, x: Scale, y: Scale) -> list[str]:
    if one.low is None or one.high is None:
        return []
    rows = [
        (x(at), y(low), y(high))
        for at, low, high in zip(one.x, one.low, one.high, strict=True)
        if x.holds(at) and math.isfinite(low) and math.isfinite(high)
    ]
    if not rows:
        return []
    there = [f"{number(at)} {number(high)}" for at, _, high in rows]
    back = [f"{number(at)} {number(low)}" for at, low, _ in reversed(rows)]
    return [element("path", d="M" + "L".join(there + back) + "Z", class_=f"band {one.css}")]


def _lines(one: Series, x: Scale, y: Scale) -> list[str]:
    path, pen_down = [], False
    dots = []
    few = len(one.x) <= MOST_MARKERS
    for index, (at, value) in enumerate(zip(one.x, one.y, strict=True)):
        if not (x.holds(at) and math.isfinite(value)):
            pen_down = False
            continue
        place = f"{number(x(at))} {number(y(value))}"
        path.append(("L" if pen_down else "M") + place)
        pen_down = True
        if few:
            tip = element("title", escape(f"{one.name}: {value:.4g} at {at:.4g}"))
            radius = 2.6 if one.sizes is None else float(one.sizes[index])
            dots.append(
                element("circle", tip, cx=x(at), cy=y(value), r=radius, class_=f"dot {one.css}")
            )
    if not path:
        return []
    css = f"line {one.css}" + (" dashed" if one.dashed else "")
    return [element("path", d="".join(path), class_=css), *dots]


def _cloud(one: Series, x: Scale, y: Scale) -> list[str]:
    # Lines of no length with round ends: one path for all points.
    moves = "".join(
        f"M{number(x(at))} {number(y(value))}h0" for at, value in zip(one.x, one.y, strict=True)
    )
    return [element("path", d=moves, class_=f"cloud {one.css}")] if moves else []
