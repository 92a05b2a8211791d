"""Errors, coverage, bands and residuals of a regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separatrix.report import formats
from separatrix.report.draw.chart import Series, chart
from separatrix.report.draw.strips import bar
from separatrix.report.parts.part import (
    NAN,
    Array,
    Fact,
    Part,
    Section,
    Swatch,
    View,
    check_lengths,
)

if TYPE_CHECKING:
    from separatrix.report.content import Content


@dataclass(frozen=True)
class Coverage:
    """How many of the observed values fell into their intervals.

    Attributes
    ----------
    level : float
        Mass of the intervals.
    observed : float
        Share of the rows inside.
    """

    level: float
    observed: float


@dataclass(frozen=True, eq=False)
class Band:
    """Predictions with intervals, and what was observed.

    Attributes
    ----------
    x : ndarray of shape (m,)
        Where the prediction is drawn, rising.
    mean, low, high : ndarray of shape (m,)
        Prediction and the ends of its interval.
    observed_x, observed : ndarray of shape (n,) or None
        Observed points.
    axis : str
        What x is: a feature, or "rows by prediction".
    level : float
        Mass of the intervals.
    """

    x: Array
    mean: Array
    low: Array
    high: Array
    observed_x: Array | None = None
    observed: Array | None = None
    axis: str = "x"
    level: float = 0.95

    def __post_init__(self) -> None:
        check_lengths(self, "x", "mean", "low", "high")
        check_lengths(self, "observed_x", "observed")


@dataclass(frozen=True, eq=False)
class Residuals:
    """Prediction and observed minus predicted of each row."""

    predicted: Array
    residual: Array

    def __post_init__(self) -> None:
        check_lengths(self, "predicted", "residual")


@dataclass(frozen=True)
class RegressionReport(Part):
    """How good a regression is.

    Attributes
    ----------
    rmse, mean_absolute_error : float
        Errors in units of the target.
    log_predictive_density : float
        Mean log density of the observed values.
    coverage : tuple of Coverage
        Of intervals of one or more levels.
    target, unit : str
        Name and unit of what is predicted.
    band : Band or None
        Picture of the predictions.
    residuals : Residuals or None
        Picture of the errors.
    rows : str
        Which rows were looked at.
    """

    section = Section("regression", "Predictions and intervals", 40)
    template = """\
<p class="lead">On the {{ part.rows }} rows.</p>
<div class="pair">
  <div>
    {% call m.scroll("Scores of the regression") %}
    <table>
      <thead><tr><th scope="col">score</th><th scope="col" class="n">value</th></tr></thead>
      <tbody>{% for name, value in view.scores %}<tr><th scope="row">{{ name }}</th><td class="n">{{ value }}</td></tr>{% endfor %}</tbody>
    </table>
    {% endcall %}
  </div>
  {% if view.coverage %}
  <div>
    {% call m.scroll("Coverage of the intervals") %}
    <table>
      <thead><tr><th scope="col" class="n">interval, %</th><th scope="col" class="n">rows inside, %</th><th scope="col" class="bars"><span class="sr">as a bar</span></th></tr></thead>
      <tbody>{% for level, observed, bar in view.coverage %}<tr><th scope="row" class="n">{{ level }}</th><td class="n">{{ observed }}</td><td class="bars">{{ bar }}</td></tr>{% endfor %}</tbody>
    </table>
    {% endcall %}
  </div>
  {% endif %}
</div>
<div class="pair">
  {% if view.band %}
  <figure>
    <h3>Predictions</h3>
    {{ m.legend(view.band.legend) }}
    {{ view.band.drawing }}
  </figure>
  {% endif %}
  {% if view.residuals %}
  <figure>
    <h3>Residuals</h3>
    {{ view.residuals.drawing }}
    <figcaption>{{ view.residuals.n_rows | count }} rows. Without a pattern, the model has taken what it can.</figcaption>
  </figure>
  {% endif %}
</div>
"""

    rmse: float
    log_predictive_density: float = NAN
    mean_absolute_error: float = NAN
    coverage: tuple[Coverage, ...] = ()
    target: str = "target"
    unit: str = ""
    band: Band | None = None
    residuals: Residuals | None = None
    rows: str = "test"

    def view(self, _: Content) -> View:
        """Scores as a list, coverage as a table, two pictures."""
        target = f"{self.target}, {self.unit}" if self.unit else self.target
        unit = f" {self.unit}" if self.unit else ""
        scores = [
            ("Root mean squared error", self.rmse, unit),
            ("Mean absolute error", self.mean_absolute_error, unit),
            ("Log predictive density, mean per row", self.log_predictive_density, " nats"),
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
                for one in self.coverage
            ],
            "band": None if self.band is None else _band(self.band, target),
            "residuals": None if self.residuals is None else _residuals(self.residuals, target),
        }

    def facts(self, _: Content) -> list[Fact]:
        """Coverage of the intervals; the error stands there as the test score."""
        return [
            Fact(
                f"In the {formats.percent(one.level, 0)} intervals",
                formats.percent(one.observed),
                f"of the {self.rows} rows",
            )
            for one in self.coverage
            if one.level == max(other.level for other in self.coverage)
        ]


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
