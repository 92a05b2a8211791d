"""A confusion matrix as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from separatrix.report.draw.elements import Drawing, element, number
from separatrix.report.parts.base import Array

__all__ = ["heat_map"]

CHARACTER = 6.7  # width of a letter at the size that the style sheet gives to labels


def heat_map(
    label: str, names: Sequence[str], counts: Array, *, row_title: str, column_title: str
) -> Drawing:
    """Draw counts as squares, each as strong as its share of its row.

    The diagonal and the rest have colors of their own, so that mistakes stand out. The picture has
    its own size in pixels: where the page is narrower, it scrolls in its frame.

    Parameters
    ----------
    label : str
        What the picture shows, for those who do not see it.
    names : sequence of str
        Names of the classes, short.
    counts : ndarray of shape (K, K)
        Rows first.
    row_title, column_title : str
        What rows and columns are.

    Returns
    -------
    Drawing
        SVG.
    """
    size = len(names)
    widest = len(f"{int(np.max(counts, initial=0)):,}")
    cell = 22.0 if size > 16 else max(34.0, 12 + 7.2 * widest)
    upright = max((len(name) for name in names), default=0) * CHARACTER > cell - 4
    gutter = 14 + CHARACTER * max((len(name) for name in names), default=0)
    top = 24 + (14 + CHARACTER * max(len(name) for name in names) * 0.75 if upright else 18)
    left = max(gutter, 60.0)
    totals = np.maximum(counts.sum(axis=1), 1)
    # The names of columns lean to the right: room for the last of them.
    lean = 0.75 * CHARACTER * len(names[-1]) if upright else 4.0
    width, height = left + size * cell + lean, top + size * cell + 4
    parts = [
        element("text", escape(row_title), x=2.0, y=top - 8, class_="name"),
        element("text", escape(column_title), x=left, y=12.0, class_="name"),
    ]
    for index, name in enumerate(names):
        middle = index * cell + cell / 2
        parts.append(
            element(
                "text",
                escape(name),
                x=left - 8,
                y=top + middle + 4,
                class_="tick",
                text_anchor="end",
            )
        )
        x, y = left + middle, top - 8
        turned = f"rotate(-45 {number(x)} {number(y)})" if upright else None
        parts.append(
            element(
                "text",
                escape(name),
                x=x,
                y=y,
                class_="tick",
                transform=turned,
                text_anchor=None if upright else "middle",
            )
        )
    for row in range(size):
        for column in range(size):
            parts += _cell(names, counts, totals, row, column, left, top, cell)
    return Drawing(
        element(
            "svg",
            *parts,
            viewBox=f"0 0 {number(width)} {number(height)}",
            width=round(width),
            height=round(height),
            role="img",
            aria_label=label,
            class_="heat",
        )
    )


def _cell(
    names: Sequence[str],
    counts: Array,
    totals: Array,
    row: int,
    column: int,
    left: float,
    top: float,
    cell: float,
) -> list[str]:
    count = int(counts[row, column])
    x, y = left + column * cell, top + row * cell
    common = {"x": x + 1, "y": y + 1, "width": cell - 2, "height": cell - 2, "rx": 2}
    if not count:
        return [element("rect", class_="empty", **common)]
    share = count / int(totals[row])
    # A square root, so that a few mistakes among many rows are seen.
    strength = 0.1 + 0.9 * share**0.5 if row != column else 0.15 + 0.7 * share
    tip = element(
        "title",
        escape(f"{names[row]} taken for {names[column]}: {count:,}")
        if row != column
        else escape(f"{names[row]} right: {count:,}"),
    )
    css = "right" if row == column else "wrong"
    parts = [element("rect", tip, class_=css, fill_opacity=f"{strength:.2f}", **common)]
    if cell >= 30 or len(str(count)) <= 2:
        shade = " strong" if strength > 0.55 else ""
        parts.append(
            element(
                "text",
                f"{count:,}",
                x=x + cell / 2,
                y=y + cell / 2 + 4,
                class_=f"count{shade}",
                text_anchor="middle",
            )
        )
    return parts
