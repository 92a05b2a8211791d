"""A confusion matrix as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from separatrix.report.draw.elements import Drawing, element, number
from separatrix.report.parts.part import Array

__all__ = ["heat_map", "shade"]

#: Up to this width of all squares the names of columns lie flat.
WIDEST = 420.0
CHARACTER = 6.9  # width of a letter at the size that the style sheet gives to labels


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
    widths = [CHARACTER * len(name) for name in names]
    longest = max(widths, default=0.0)
    widest = 12 + 7.2 * len(f"{int(np.max(counts, initial=0)):,}")
    cell = 22.0 if size > 16 else max(34.0, widest)
    if size * (longest + 10) <= WIDEST:  # wide enough for the names to lie flat
        cell = max(cell, longest + 10)
    lean = longest > cell - 4
    left = max(14 + longest, 60.0)
    top = 42.0 if not lean else 38 + 0.72 * longest
    totals = np.maximum(counts.sum(axis=1), 1)
    # Names of columns that lean reach beyond their column, the last ones beyond the squares.
    overhang = [0.72 * (width + 8) - (size - i - 0.5) * cell for i, width in enumerate(widths)]
    width = left + size * cell + (max([4.0, *overhang]) if lean else 4.0)
    row_height = min(cell, 40.0)
    height = top + size * row_height + 4
    parts = [
        element("text", escape(row_title), x=2.0, y=top - 8, class_="name"),
        element("text", escape(column_title), x=left, y=12.0, class_="name"),
    ]
    for index, name in enumerate(names):
        middle = index * cell + cell / 2
        center = index * row_height + row_height / 2
        parts.append(
            element(
                "text",
                escape(name),
                x=left - 8,
                y=top + center + 4,
                class_="tick",
                text_anchor="end",
            )
        )
        x, y = left + middle, top - 8
        turned = f"rotate(-45 {number(x)} {number(y)})" if lean else None
        parts.append(
            element(
                "text",
                escape(name),
                x=x,
                y=y,
                class_="tick",
                transform=turned,
                text_anchor=None if lean else "middle",
            )
        )
    for row in range(size):
        for column in range(size):
            parts += _cell(names, counts, totals, row, column, (left, top), (cell, row_height))
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


def shade(strength: float, css: str) -> str:
    """How the letters on a square are drawn, so that they are read in light and in dark alike."""
    if strength < 0.63:
        return "weak"
    return "strong" if strength >= 0.84 and css == "right" else "middle"


def _cell(
    names: Sequence[str],
    counts: Array,
    totals: Array,
    row: int,
    column: int,
    corner: tuple[float, float],
    cell: tuple[float, float],
) -> list[str]:
    count = int(counts[row, column])
    wide, high = cell
    x, y = corner[0] + column * wide, corner[1] + row * high
    common = {"x": x + 1, "y": y + 1, "width": wide - 2, "height": high - 2, "rx": 2}
    if not count:
        return [element("rect", class_="empty", **common)]
    share = count / int(totals[row])
    # A square root, so that a few mistakes among many rows are seen.
    strength = 0.1 + 0.9 * share**0.5 if row != column else 0.1 + 0.9 * share
    tip = element(
        "title",
        escape(f"{names[row]} taken for {names[column]}: {count:,}")
        if row != column
        else escape(f"{names[row]} right: {count:,}"),
    )
    css = "right" if row == column else "wrong"
    parts = [element("rect", tip, class_=css, fill_opacity=f"{strength:.2f}", **common)]
    if wide >= 30 or len(str(count)) <= 2:
        parts.append(
            element(
                "text",
                f"{count:,}",
                x=x + wide / 2,
                y=y + high / 2 + 4,
                class_=f"count {shade(strength, css)}",
                text_anchor="middle",
            )
        )
    return parts
