"""Errors, coverage, bands and residuals of a regression."""

from __future__ import annotations

import math

import numpy as np

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.draw.chart import Series, chart
from separatrix.report.draw.strips import bar
from separatrix.report.parts import Band, RegressionReport, Residuals
from separatrix.report.views.common import Fact, Swatch, View

__all__ = ["regression", "regression_facts"]


def regression(part: RegressionReport, _: Content) -> View:
    """Scores as a list, coverage as a table, two pictures."""
    target = f"{part.target}, {part.unit}" if part.unit else part.target
    unit = f" {part.unit}" if part.unit else ""
    scores = [
        ("Root mean squared error", part.rmse, unit),
        ("Mean absolute error", part.mean_absolute_error, unit),
        ("Log predictive density, mean per row", part.log_predictive_density, " nats"),
    ]
    return {
        "scores": [
            (name, formats.short(value, 4) + mark)
            for name, value, mark in scores
            if math.isfinite(value)
        ],
        "coverage": [
            (
                formats.decimal(100 * one.level, 0),
                formats.decimal(100 * one.observed, 1),
                bar(one.observed),
            )
            for one in part.coverage
        ],
        "band": None if part.band is None else _band(part.band, target),
        "residuals": None if part.residuals is None else _residuals(part.residuals, target),
    }


def _band(band: Band, target: str) -> dict[str, object]:
    mass = formats.percent(band.level, 0)
    series = [Series("prediction", band.x, band.mean, band.low, band.high)]
    legend = [Swatch("prediction", "s1"), Swatch(f"{mass} interval", "band s1")]
    if band.observed is not None and band.observed_x is not None:
        series.append(Series("observed", band.observed_x, band.observed, css="s2", line=False))
        legend.append(Swatch("observed", "dot s2"))
    label = f"Prediction of {target} with its {mass} interval against {band.axis}"
    return {
        "drawing": chart(label, series, x_title=band.axis, y_title=target, height=280.0),
        "legend": legend,
    }


def _residuals(residuals: Residuals, target: str) -> dict[str, object]:
    series = [Series("rows", residuals.predicted, residuals.residual, css="s2", line=False)]
    return {
        "drawing": chart(
            f"Observed minus predicted {target} against the prediction",
            series,
            x_title=f"predicted {target}",
            y_title="observed minus predicted",
            level=0.0,
            height=280.0,
        ),
        "n_rows": int(np.isfinite(residuals.residual).sum()),
    }


def regression_facts(part: RegressionReport, _: Content) -> list[Fact]:
    """Coverage of the intervals; the error stands there as the test score."""
    return [
        Fact(
            f"In the {formats.percent(one.level, 0)} intervals",
            formats.percent(one.observed),
            f"of the {part.rows} rows",
        )
        for one in part.coverage
        if one.level == max(other.level for other in part.coverage)
    ]
