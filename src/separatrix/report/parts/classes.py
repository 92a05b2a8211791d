"""Class by class: confusion, scores, mistakes, calibration and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from separatrix.errors import ParameterError
from separatrix.metrics import ClassReport
from separatrix.report import formats
from separatrix.report.draw import pixels
from separatrix.report.draw.chart import Series, chart
from separatrix.report.draw.heat import heat_map
from separatrix.report.draw.strips import bar
from separatrix.report.parts.part import NAN, Array, Part, Section, Swatch, View, check_lengths, cut

if TYPE_CHECKING:
    from separatrix.report.content import Content

#: With more classes than this only the most confused pairs are shown.
MOST_SQUARES = 30
MOST_PAIRS = 20
#: With more classes than this the weakest come first.
MOST_IN_ORDER = 12
MOST_CLASSES = 500
MOST_MISTAKES = 24
MOST_COSTS = 30
LONGEST_NAME = 18


@dataclass(frozen=True, eq=False)
class Confusion(Part):
    """Truth against prediction.

    Attributes
    ----------
    labels : tuple of str
        Class names.
    counts : ndarray of shape (K, K)
        Rows are the truth, columns the prediction.
    rows : str
        Which rows were counted: "test".
    units : str
        What was counted: "rows", "tokens".
    """

    section = Section("confusion", "Confusion", 70)
    template = """\
<p class="lead">{{ view.n_wrong | count }} of {{ view.n_rows | count }} {{ part.rows }} {{ part.units }} are wrong ({{ view.share }}).{% if not view.map %} There are {{ view.n_classes | count }} classes, so the most confused pairs are shown.{% endif %}</p>
<div class="confusion">
  {% if view.map %}
  <figure>
    <div class="scroll" role="region" tabindex="0" aria-label="Confusion matrix">{{ view.map }}</div>
    <ul class="legend">
      <li><span class="swatch block s1"></span>right</li>
      <li><span class="swatch block s2"></span>wrong; the stronger, the larger its share of the true class</li>
    </ul>
  </figure>
  {% endif %}
  {% if view.pairs %}
  <div>
    <h3>Most confused</h3>
    {% call m.scroll("Most confused pairs", tall=true) %}
    <table>
      <thead>
        <tr>
          <th scope="col">truth</th>
          <th scope="col">taken for</th>
          <th scope="col" class="n">{{ part.units }}</th>
          <th scope="col" class="n">% of the class</th>
          <th scope="col" class="bars"><span class="sr">{{ part.units }} as a bar</span></th>
        </tr>
      </thead>
      <tbody>
        {% for pair in view.pairs %}
        <tr>
          <th scope="row" dir="auto">{{ pair.truth | clip(60) }}</th>
          <td dir="auto">{{ pair.prediction | clip(60) }}</td>
          <td class="n">{{ pair.count | count }}</td>
          <td class="n">{{ pair.share }}</td>
          <td class="bars">{{ pair.bar }}</td>
        </tr>
        {% endfor %}
      </tbody>
    </table>
    {% endcall %}
    {{ m.left_out(view.left_out, "pairs") }}
  </div>
  {% endif %}
</div>
"""

    labels: tuple[str, ...]
    counts: Array
    rows: str = "test"
    units: str = "rows"

    def __post_init__(self) -> None:
        size = len(self.labels)
        if np.shape(self.counts) != (size, size):
            raise ParameterError(
                f"Confusion has {size} labels, so counts must have the shape ({size}, {size}), "
                f"got {np.shape(self.counts)}"
            )

    def view(self, _: Content) -> View:
        """A heat map of few classes; the pairs that are confused most, of any number."""
        counts = np.asarray(self.counts)
        wrong = counts.copy()
        np.fill_diagonal(wrong, 0)
        n_rows, n_wrong = int(counts.sum()), int(wrong.sum())
        order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
        totals = counts.sum(axis=1)
        pairs = [
            (int(i), int(j)) for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
        ]
        pairs = [(i, j) for i, j in pairs if wrong[i, j] > 0]
        top = max((int(wrong[i, j]) for i, j in pairs), default=1)
        few = len(self.labels) <= MOST_SQUARES
        return {
            "map": heat_map(
                f"Confusion matrix of the {self.rows} {self.units}: "
                f"{n_rows - n_wrong:,} of {n_rows:,} right",
                [formats.clip(name, LONGEST_NAME) for name in self.labels],
                counts,
                row_title="truth",
                column_title="prediction",
            )
            if few and self.labels
            else None,
            "n_rows": n_rows,
            "n_wrong": n_wrong,
            "share": formats.percent(n_wrong / max(n_rows, 1)),
            "n_classes": len(self.labels),
            "pairs": [
                {
                    "truth": self.labels[i],
                    "prediction": self.labels[j],
                    "count": int(wrong[i, j]),
                    "share": formats.decimal(100 * wrong[i, j] / max(totals[i], 1), 1),
                    "bar": bar(wrong[i, j] / top, "s2"),
                }
                for i, j in pairs
            ],
            "left_out": int((wrong > 0).sum()) - len(pairs),
        }


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of one class, and its number of rows."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class PerClass(Part):
    """Scores per class, and averages over them ("macro average", "weighted average").

    `rows` says which rows were looked at, `units` what was counted: "rows", "tokens".
    """

    section = Section("classes", "Scores per class", 90)
    template = """\
<p class="lead">On the {{ part.rows }} {{ part.units }}. Precision: how often a prediction of the class is right. Recall: how much of the class is found. F1: their harmonic mean.{% if view.sorted %} The weakest classes come first.{% endif %}</p>
{{ m.scores(view, "Scores per class", "class", part.units, "classes") }}
"""

    classes: tuple[ClassScores, ...]
    averages: tuple[ClassScores, ...] = ()
    rows: str = "test"
    units: str = "rows"

    @classmethod
    def of(cls, report: ClassReport, units: str = "rows") -> Self:
        """The part that shows a report of `separatrix.metrics`."""
        columns = (report.labels, report.precision, report.recall, report.f1, report.support)
        named = {"micro": report.micro, "macro": report.macro, "weighted": report.weighted}
        total = int(report.support.sum())
        return cls(
            tuple(
                ClassScores(str(label), float(p), float(r), float(f), int(n))
                for label, p, r, f, n in zip(*columns, strict=True)
            ),
            tuple(
                ClassScores(f"{name} average", one.precision, one.recall, one.f1, total)
                for name, one in named.items()
                if one is not None
            ),
            units=units,
        )

    def view(self, _: Content) -> View:
        """Rows of text with bars; of many classes the weakest come first."""
        sort = len(self.classes) > MOST_IN_ORDER
        classes = list(self.classes)
        if sort:
            classes.sort(key=lambda row: (math.inf if math.isnan(row.f1) else row.f1, -row.support))
        shown, left_out = cut(classes, MOST_CLASSES)

        def cells(
            row: object, names: tuple[str, ...] = ("precision", "recall", "f1")
        ) -> list[object]:
            return [
                (formats.decimal(100 * getattr(row, name), 1), bar(getattr(row, name), "s1"))
                for name in names
            ]

        return {
            "rows": [{"row": row, "cells": cells(row)} for row in shown],
            "averages": [{"row": row, "cells": cells(row)} for row in self.averages],
            "sorted": sort,
            "left_out": left_out,
        }


@dataclass(frozen=True, eq=False)
class Mistake:
    """One wrong prediction.

    Attributes
    ----------
    row : str
        Which row or line of the source.
    text : str
        The text, or the row in short.
    truth, prediction : str
        Classes.
    confidence : float
        Probability given to the prediction.
    truth_probability : float
        Probability given to the truth.
    picture : ndarray of shape (height, width) or None
        The example as an image, if it is one: 0 is paper, the largest value ink.
    """

    row: str
    text: str
    truth: str
    prediction: str
    confidence: float = NAN
    truth_probability: float = NAN
    picture: Array | None = None


@dataclass(frozen=True)
class Mistakes(Part):
    """The most confident mistakes, the surest first, and how many there are in all."""

    section = Section("mistakes", "Most confident mistakes", 100)
    template = """\
<p class="lead">{{ part.n_mistakes | count }} of {{ part.n_rows | count }} {{ part.rows }} rows are wrong ({{ view.share }}). These are the ones of which the champion is surest: look for wrong labels and for what the features do not tell.{% if view.chances %} Beside each class stands the probability that it got.{% endif %}</p>
<ol class="cards">
  {% for one in view.cards %}
  <li class="card">
    <div class="card-head">
      {% if one.image %}<img class="pixels" src="{{ one.image }}" width="72" height="72" alt="The example, {{ one.mistake.truth | clip(60) }}, as an image">{% endif %}
      <dl>
        <div class="wrong"><dt>prediction</dt><dd dir="auto">{{ one.mistake.prediction | clip(60) }}</dd>{% if one.has_confidence %}<dd class="chance">{{ one.confidence }}</dd>{% endif %}</div>
        <div><dt>truth</dt><dd dir="auto">{{ one.mistake.truth | clip(60) }}</dd>{% if one.has_truth %}<dd class="chance">{{ one.truth_probability }}</dd>{% endif %}</div>
      </dl>
    </div>
    {% if one.mistake.text %}<p class="quote" dir="auto">{{ one.mistake.text | clip(500) }}</p>{% endif %}
    {% if one.mistake.row %}<p class="source">{{ one.mistake.row | clip(120) }}</p>{% endif %}
  </li>
  {% endfor %}
</ol>
{{ m.left_out(view.left_out, "mistakes") }}
"""

    mistakes: tuple[Mistake, ...]
    n_mistakes: int
    n_rows: int
    rows: str = "test"

    def view(self, _: Content) -> View:
        """Cards, with the picture if there is one."""
        shown, left_out = cut(self.mistakes, MOST_MISTAKES)
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
            "share": formats.percent(self.n_mistakes / max(self.n_rows, 1)),
        }


@dataclass(frozen=True, eq=False)
class Reliability:
    """Reliability bins of one set of probabilities.

    Attributes
    ----------
    name : str
        "before calibration", "after isotonic calibration".
    confidence, frequency, mass : ndarray of shape (m,)
        Mean probability, observed frequency and share of the rows of each bin.
    error : float
        Expected calibration error.
    log_loss : float
        Mean negative log probability of the truth.
    """

    name: str
    confidence: Array
    frequency: Array
    mass: Array
    error: float
    log_loss: float = NAN

    def __post_init__(self) -> None:
        check_lengths(self, "confidence", "frequency", "mass")


@dataclass(frozen=True)
class Calibration(Part):
    """Do the probabilities mean what they say, before and after calibration.

    Attributes
    ----------
    curves : tuple of Reliability
        Before, then after, as far as there are both.
    event : str
        What the probability is of.
    method : str
        How the calibration was fitted, in one sentence.
    rows : str
        Which rows were looked at.
    """

    section = Section("calibration", "Calibration", 120)
    template = """\
<p class="lead">Of the {{ part.rows }} rows to which the model gives a probability of 80 %, 80 % should be right: points on the diagonal. Below it the model is too sure of itself.{% if part.method %} {{ part.method | sentence }}{% endif %}</p>
<div class="pair">
  <figure>
    {{ m.legend(view.legend) }}
    {{ view.drawing }}
    <figcaption>Probability of {{ part.event }}. The larger a point, the more rows it stands for.</figcaption>
  </figure>
  <div>
    {% call m.scroll("Calibration errors") %}
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="sr">probabilities</span></th>
          <th scope="col" class="n">expected calibration error, %</th>
          {% if view.losses %}<th scope="col" class="n">log loss, nats</th>{% endif %}
        </tr>
      </thead>
      <tbody>
        {% for name, error, loss in view.rows %}
        <tr><th scope="row">{{ name }}</th><td class="n">{{ error }}</td>{% if view.losses %}<td class="n">{{ loss }}</td>{% endif %}</tr>
        {% endfor %}
      </tbody>
    </table>
    {% endcall %}
  </div>
</div>
"""

    curves: tuple[Reliability, ...]
    event: str = "the predicted class"
    method: str = ""
    rows: str = "test"

    def view(self, _: Content) -> View:
        """Reliability of all curves over one diagonal; marks as large as their mass."""
        series, legend = [], []
        # The last curve is what the model now says: it gets the first color and lies in front.
        for index, curve in enumerate(reversed(self.curves), start=1):
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
                f"Observed frequency against predicted probability of {self.event}; "
                + "; ".join(
                    f"{c.name}: calibration error {formats.percent(c.error)}" for c in self.curves
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
                for curve in self.curves
            ],
            "losses": any(math.isfinite(curve.log_loss) for curve in self.curves),
        }


@dataclass(frozen=True, eq=False)
class Costs(Part):
    """What each decision costs.

    Attributes
    ----------
    labels : tuple of str
        The true classes, one per row.
    actions : tuple of str
        The decisions, one per column: the classes, and "reject" if it is one.
    costs : ndarray of shape (K, A)
        Cost of each decision for each truth.
    """

    section = Section("costs", "Costs", 130)
    template = """\
<p class="lead">What each decision costs, by the true class. The champion decides for the smallest expected cost.</p>
{% if view.small %}
{% call m.scroll("Costs") %}
<table>
  <thead>
    <tr><th scope="col">truth</th>{% for name in part.actions %}<th scope="col" class="n" dir="auto">{{ name | clip(30) }}</th>{% endfor %}</tr>
  </thead>
  <tbody>
    {% for label, cells in view.rows %}
    <tr><th scope="row" dir="auto">{{ label | clip(60) }}</th>{% for cell in cells %}<td class="n">{{ cell }}</td>{% endfor %}</tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
{% else %}
{% call m.scroll("The dearest decisions") %}
<table>
  <thead><tr><th scope="col">truth</th><th scope="col">decision</th><th scope="col" class="n">cost</th></tr></thead>
  <tbody>
    {% for label, action, cost in view.dearest %}
    <tr><th scope="row" dir="auto">{{ label | clip(60) }}</th><td dir="auto">{{ action | clip(60) }}</td><td class="n">{{ cost }}</td></tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
<p class="note">There are {{ part.labels | length | count }} classes, so the dearest decisions are shown.</p>
{% endif %}
"""

    labels: tuple[str, ...]
    actions: tuple[str, ...]
    costs: Array

    def __post_init__(self) -> None:
        wanted = (len(self.labels), len(self.actions))
        if np.shape(self.costs) != wanted:
            raise ParameterError(
                f"Costs has {wanted[0]} labels and {wanted[1]} actions, but costs of the "
                f"shape {np.shape(self.costs)}"
            )

    def view(self, _: Content) -> View:
        """A table of few classes; the dearest mistakes of many."""
        matrix = np.asarray(self.costs, dtype=np.float64)
        small = max(matrix.shape, default=0) <= MOST_COSTS
        order = np.argsort(-matrix, axis=None, kind="stable")[:MOST_PAIRS]
        places = [
            (int(i), int(j)) for i, j in zip(*np.unravel_index(order, matrix.shape), strict=True)
        ]
        return {
            "small": small,
            "rows": [
                (label, [formats.setting(float(value)) for value in row])
                for label, row in zip(self.labels, matrix, strict=True)
            ]
            if small
            else [],
            "dearest": [
                (self.labels[i], self.actions[j], formats.setting(float(matrix[i, j])))
                for i, j in places
            ],
        }
