"""Confusion, scores per class, mistakes, calibration and costs."""

from __future__ import annotations

import math

import numpy as np

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw import pixels
from separatrix.report.draw.chart import Series, chart
from separatrix.report.draw.heat import heat_map
from separatrix.report.draw.strips import bar
from separatrix.report.parts import Calibration, ClassReport, Confusion, CostMatrix, Mistakes
from separatrix.report.views.common import Swatch, View, cut

__all__ = ["calibration", "class_report", "confusion", "costs", "mistakes"]

#: With more classes than this only the most confused pairs are shown.
MOST_SQUARES = 30
MOST_PAIRS = 20
#: With more classes than this the weakest come first.
MOST_IN_ORDER = 12
MOST_CLASSES = 500
MOST_MISTAKES = 24
MOST_COSTS = 30
LONGEST_NAME = 18


def confusion(part: Confusion, _: Content) -> View:
    """A heat map of few classes; the pairs that are confused most, of any number."""
    counts = np.asarray(part.counts)
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    n_rows, n_wrong = int(counts.sum()), int(wrong.sum())
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    totals = counts.sum(axis=1)
    pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)]
    pairs = [(i, j) for i, j in pairs if wrong[i, j] > 0]
    top = max((int(wrong[i, j]) for i, j in pairs), default=1)
    few = len(part.labels) <= MOST_SQUARES
    return {
        "map": heat_map(
            f"Confusion matrix of the {part.rows} {part.units}: "
            f"{n_rows - n_wrong:,} of {n_rows:,} right",
            [formats.clip(name, LONGEST_NAME) for name in part.labels],
            counts,
            row_title="truth",
            column_title="prediction",
        )
        if few and part.labels
        else None,
        "n_rows": n_rows,
        "n_wrong": n_wrong,
        "share": formats.percent(n_wrong / max(n_rows, 1)),
        "n_classes": len(part.labels),
        "pairs": [
            {
                "truth": part.labels[i],
                "prediction": part.labels[j],
                "count": int(wrong[i, j]),
                "share": formats.decimal(100 * wrong[i, j] / max(totals[i], 1), 1),
                "bar": bar(wrong[i, j] / top, "s2"),
            }
            for i, j in pairs
        ],
        "left_out": int((wrong > 0).sum()) - len(pairs),
    }


def class_report(part: ClassReport, _: Content) -> View:
    """Rows of text with bars; of many classes the weakest come first."""
    sort = len(part.classes) > MOST_IN_ORDER
    classes = list(part.classes)
    if sort:
        classes.sort(key=lambda row: (math.inf if math.isnan(row.f1) else row.f1, -row.support))
    shown, left_out = cut(classes, MOST_CLASSES)

    def cells(row: object, names: tuple[str, ...] = ("precision", "recall", "f1")) -> list[object]:
        return [
            (formats.decimal(100 * getattr(row, name), 1), bar(getattr(row, name), "s1"))
            for name in names
        ]

    return {
        "rows": [{"row": row, "cells": cells(row)} for row in shown],
        "averages": [{"row": row, "cells": cells(row)} for row in part.averages],
        "sorted": sort,
        "left_out": left_out,
    }


def mistakes(part: Mistakes, _: Content) -> View:
    """Cards, with the picture if there is one."""
    shown, left_out = cut(part.mistakes, MOST_MISTAKES)
    return {
        "cards": [
            {
                "mistake": one,
                "confidence": formats.percent(one.confidence),
                "truth_probability": formats.percent(one.truth_probability),
                "has_confidence": math.isfinite(one.confidence),
                "has_truth": math.isfinite(one.truth_probability),
                "image": None if one.picture is None else pixels.ink(one.picture),
            }
            for one in shown
        ],
        "chances": any(math.isfinite(one.confidence) for one in shown),
        "left_out": left_out,
        "share": formats.percent(part.n_mistakes / max(part.n_rows, 1)),
    }


def calibration(part: Calibration, _: Content) -> View:
    """Reliability of all curves over one diagonal; marks as large as their mass."""
    series, legend = [], []
    # The last curve is what the model now says: it gets the first color and lies in front.
    for index, curve in enumerate(reversed(part.curves), start=1):
        mass = np.nan_to_num(np.asarray(curve.mass, np.float64), posinf=0.0, neginf=0.0)
        series.append(
            Series(
                curve.name,
                100 * np.asarray(curve.confidence, dtype=np.float64),
                100 * np.asarray(curve.frequency, dtype=np.float64),
                css=f"s{index}",
                dashed=index > 1,
                sizes=2 + 6 * np.sqrt(mass / max(float(mass.max(initial=0.0)), 1e-12)),
            )
        )
        legend.append(Swatch(curve.name, f"s{index}", index > 1))
    return {
        "drawing": chart(
            f"Observed frequency against predicted probability of {part.event}; "
            + "; ".join(
                f"{c.name}: calibration error {formats.percent(c.error)}" for c in part.curves
            ),
            series,
            x_title="predicted probability, %",
            y_title="observed frequency, %",
            diagonal=True,
            limits=(0.0, 100.0),
            height=330.0,
        ),
        "legend": legend,
        "rows": [
            (
                curve.name,
                formats.decimal(100 * curve.error, 2),
                formats.decimal(curve.log_loss, 4),
            )
            for curve in part.curves
        ],
        "losses": any(math.isfinite(curve.log_loss) for curve in part.curves),
    }


def costs(part: CostMatrix, _: Content) -> View:
    """A table of few classes; the dearest mistakes of many."""
    matrix = np.asarray(part.costs, dtype=np.float64)
    small = max(matrix.shape, default=0) <= MOST_COSTS
    order = np.argsort(-matrix, axis=None, kind="stable")[:MOST_PAIRS]
    places = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, matrix.shape), strict=True)]
    return {
        "small": small,
        "rows": [
            (label, [formats.setting(float(value)) for value in row])
            for label, row in zip(part.labels, matrix, strict=True)
        ]
        if small
        else [],
        "dearest": [
            (part.labels[i], part.actions[j], formats.setting(float(matrix[i, j])))
            for i, j in places
        ],
    }
