"""Small drawings that stand in the rows of tables, and bars that fill their place."""

from __future__ import annotations

import math
from collections.abc import Sequence

from separatrix.report.draw.elements import Drawing, decoration, element, picture

__all__ = ["bar", "histogram", "interval", "interval_plot", "shares", "step_bar"]


def bar(share: float, css: str = "s1") -> Drawing:
    """A bar of this share of its place, from 0 to 1."""
    share = min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0
    return decoration(
        100,
        8,
        "bar",
        [
            element("rect", width=100, height=8, class_="track"),
            element(
                "rect",
                width=max(100 * share, 0.6 if share else 0.0),
                height=8,
                class_=f"fill {css}",
            ),
        ],
    )


def step_bar(before: float, after: float, low: float, high: float) -> Drawing:
    """The step of a running total from `before` to `after`, on an axis from `low` to `high`."""
    scale = 100 / (high - low) if high > low else 0.0
    places = (before - low) * scale, (after - low) * scale
    start, end = sorted(place if math.isfinite(place) else 0.0 for place in places)
    zero = min(max(-low * scale, 0.0), 99.5)
    return decoration(
        100,
        8,
        "bar",
        [
            element(
                "rect",
                x=start,
                width=max(end - start, 0.6),
                height=8,
                class_="fill plus" if after >= before else "fill minus",
            ),
            element("rect", x=zero, y=0, width=0.5, height=8, class_="zero"),
        ],
    )


def interval(value: float, error: float, low: float, high: float, css: str) -> Drawing:
    """A score with its standard error on a common axis; an arrow where it lies outside."""
    scale = 100 / (high - low) if high > low else 0.0
    at = (value - low) * scale
    parts = [element("rect", y=3.7, width=100, height=0.6, class_="track")]
    if not math.isfinite(at):
        return decoration(100, 8, "strip", parts)
    if at < 0 or at > 100:
        tip, base = (0, 4) if at < 0 else (100, 96)
        parts.append(element("path", d=f"M{tip} 4L{base} 0.5V7.5Z", class_=f"fill {css}"))
        return decoration(100, 8, "strip", parts)
    if math.isfinite(error):
        start, end = max(at - error * scale, 0.0), min(at + error * scale, 100.0)
        parts.append(
            element("rect", x=start, y=2.75, width=end - start, height=2.5, class_=f"error {css}")
        )
    parts.append(
        element("rect", x=min(max(at - 1, 0.0), 98.0), width=2, height=8, class_=f"fill {css}")
    )
    return decoration(100, 8, "strip", parts)


def histogram(counts: Sequence[int]) -> Drawing:
    """Counts as a row of columns."""
    top = max(counts, default=0)
    width = 100 / max(len(counts), 1)
    parts = [
        element(
            "rect",
            x=index * width,
            y=24 * (1 - count / top),
            width=width * 0.86,
            height=24 * count / top,
            class_="fill s1",
        )
        for index, count in enumerate(counts)
        if count
    ]
    return decoration(100, 24, "histogram", parts or [element("rect", width=100, height=0.5)])


def shares(label: str, parts: Sequence[tuple[float, str]]) -> Drawing:
    """Shares of one bar that sum to 1, each with the class of its color."""
    drawn, start = [], 0.0
    for share, css in parts:
        width = max(100 * share - 0.3, 0.0)
        drawn.append(element("rect", x=start, width=width, height=8, class_=f"fill {css}"))
        start += 100 * share
    return Drawing(
        element(
            "svg",
            *drawn,
            viewBox="0 0 100 8",
            preserveAspectRatio="none",
            role="img",
            aria_label=label,
            class_="shares",
        )
    )


def interval_plot(
    label: str,
    rows: Sequence[tuple[float, float, float, str]],
    ticks: Sequence[tuple[float, str]],
    low: float,
    high: float,
) -> Drawing:
    """Scores with their credible intervals over one axis: (score, low, high, class) per row."""
    width, step, left, right = 360.0, 26.0, 14.0, 14.0

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - right)

    bottom = step * len(rows) + 6
    parts = []
    for at, text in ticks:
        parts.append(element("line", x1=place(at), y1=2.0, x2=place(at), y2=bottom, class_="grid"))
        parts.append(
            element("text", text, x=place(at), y=bottom + 16, class_="tick", text_anchor="middle")
        )
    for index, (score, start, end, css) in enumerate(rows):
        y = step * index + step / 2 + 2
        if math.isfinite(start) and math.isfinite(end):
            parts.append(
                element("line", x1=place(start), y1=y, x2=place(end), y2=y, class_=f"whisker {css}")
            )
        if math.isfinite(score):
            parts.append(element("circle", cx=place(score), cy=y, r=5, class_=f"dot {css}"))
    return picture(label, width, bottom + 22, "chart", parts)
