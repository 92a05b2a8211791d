"""Warnings and the profile of the data."""

from __future__ import annotations

import math

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw.strips import bar, histogram
from separatrix.report.parts import Column, Findings, Profile
from separatrix.report.views.common import Fact, View, cut

__all__ = ["finding_facts", "findings", "profile"]

MOST_COLUMNS = 200
MOST_CLASSES = 40
MOST_FINDINGS = 50
MOST_DETAILS = 12


def findings(part: Findings, _: Content) -> View:
    """The serious ones first."""
    ordered = sorted(part.findings, key=lambda one: not one.serious)
    shown, left_out = cut(ordered, MOST_FINDINGS)
    return {
        "findings": [(one, cut(one.details, MOST_DETAILS)) for one in shown],
        "left_out": left_out,
    }


def finding_facts(part: Findings, _: Content) -> list[Fact]:
    """How many warnings there are."""
    serious = sum(one.serious for one in part.findings)
    total = len(part.findings)
    if not total:
        return [Fact("Warnings", "none", f"{len(part.checks)} checks" if part.checks else "")]
    detail = f"{serious} serious" if serious else "none serious"
    return [Fact("Warnings", formats.count(total), detail, "bad" if serious else "")]


def profile(part: Profile, content: Content) -> View:
    """Classes as bars, columns as rows of a table."""
    classes = sorted(part.classes, key=lambda item: -item[1])
    shown, left_out = cut(classes, MOST_CLASSES)
    top = max((rows for _, rows in classes), default=1)
    total = max(sum(rows for _, rows in classes), 1)
    shown_columns, columns_left_out = cut(part.columns, MOST_COLUMNS)
    columns = [_column(column, part.n_rows) for column in shown_columns]
    target = None if part.target is None else _column(part.target, part.n_rows)
    return {
        "classes": [
            (name, rows, formats.decimal(100 * rows / total, 1), bar(rows / max(top, 1)))
            for name, rows in shown
        ],
        "classes_left_out": left_out,
        "target": target,
        "columns": columns,
        "histograms": any(one["histogram"] for one in [*columns, *([target] if target else [])]),
        "columns_left_out": columns_left_out,
        "notes": any(column.note or not column.used for column in part.columns),
    }


def _column(column: Column, n_rows: int) -> dict[str, object]:
    share = column.n_missing / max(n_rows, 1)
    return {
        "column": column,
        "missing": formats.decimal(100 * share, 1) if column.n_missing else "0",
        "range": _range(column),
        "histogram": histogram(column.histogram) if any(column.histogram) else None,
    }


def _range(column: Column) -> str:
    """The range of numbers, or the most frequent values."""
    if math.isfinite(column.low) and math.isfinite(column.high):
        text = f"{formats.setting(column.low, 4)} to {formats.setting(column.high, 4)}"
        if math.isfinite(column.middle):
            text += f", median {formats.setting(column.middle, 4)}"
        return text
    return ", ".join(
        f"{formats.clip(value, 30)} ({formats.count(rows)})" for value, rows in column.frequent[:4]
    )
