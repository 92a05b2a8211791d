"""What the champion looks at: weights, and sums behind predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separatrix.explanation import Explanation
from separatrix.report import formats
from separatrix.report.draw import pixels
from separatrix.report.draw.scales import range_of
from separatrix.report.draw.strips import step_bar
from separatrix.report.parts.part import NAN, Array, Part, Section, View, check_lengths, cut

if TYPE_CHECKING:
    from separatrix.report.content import Content

#: Groups that are open from the start; the others unfold.
MOST_OPEN = 12
MOST_GROUPS = 120
MOST_FEATURES, FEW_FEATURES = 20, 8
#: Beside a picture of all weights a few features will do.
BESIDE_PICTURE = 6
MOST_EXAMPLES = 12
MOST_STEPS = 30
LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The features with the largest weights of one class.

    Attributes
    ----------
    label : str
        The class that a positive value speaks for.
    features : tuple of str
        Names of the features, largest value first.
    values : ndarray of shape (m,)
        Signed weights or log ratios.
    against : str
        The class that a negative value speaks for, where there are only two.
    intercept : float
        The intercept of the class.
    picture : ndarray of shape (height, width) or None
        All weights as an image, where the features are pixels.
    """

    label: str
    features: tuple[str, ...]
    values: Array
    against: str = ""
    intercept: float = NAN
    picture: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "features", "values")


@dataclass(frozen=True)
class Weights(Part):
    """What the champion looks at.

    Attributes
    ----------
    learner : str
        Whose weights.
    groups : tuple of ClassWeights
        One per class; a single one where there are two classes.
    measure : str
        What the values are: "weight", "log odds ratio".
    odds : bool
        Whether exp(value) is an odds ratio worth showing.
    note : str
        How to read them: "per standard deviation of the feature".
    n_features : int or None
        Features in all.
    positive, negative : str
        What values above and below zero do; of a regression "raises price" and "lowers it".
    """

    section = Section("weights", "What the champion looks at", 140)
    template = """\
{% macro group(one) %}
<div class="weights">
  <h3><span dir="auto">{{ one.label | clip(60) }}</span>{% if one.against %} <span class="quiet">against {{ one.against | clip(60) }}</span>{% endif %}</h3>
  <div class="looks">
  {% if one.image %}<img class="pixels signed" src="{{ one.image }}" width="112" height="112" alt="Weights of {{ one.label | clip(60) }} as an image">{% endif %}
  {% call m.scroll("Weights of " ~ (one.label | clip(60))) %}
  <table>
    <thead>
      <tr>
        <th scope="col">feature</th>
        <th scope="col" class="bars"><span class="sr">as a bar</span></th>
        <th scope="col" class="n">{{ part.measure }}</th>
        {% if part.odds %}<th scope="col" class="n">odds ×</th>{% endif %}
      </tr>
    </thead>
    <tbody>
      {% for row in one.rows %}
      <tr>
        <th scope="row" dir="auto">{{ row.feature | clip(60) }}</th>
        <td class="bars">{{ row.bar }}</td>
        <td class="n">{{ row.value }}</td>
        {% if part.odds %}<td class="n">{{ row.odds }}</td>{% endif %}
      </tr>
      {% endfor %}
    </tbody>
    {% if one.has_intercept %}
    <tfoot><tr><th scope="row">intercept</th><td></td><td class="n">{{ one.intercept }}</td>{% if part.odds %}<td></td>{% endif %}</tr></tfoot>
    {% endif %}
  </table>
  {% endcall %}
  </div>
</div>
{% endmacro %}
<p class="lead">The largest {{ part.measure }}s of {{ part.learner }}{% if part.n_features %} among {{ part.n_features | count }} features{% endif %}. <span class="swatch block plus"></span>&nbsp;{{ part.positive }}, <span class="swatch block minus"></span>&nbsp;{{ part.negative }}.{% if part.note %} {{ part.note | sentence }}{% endif %}</p>
<div class="groups">
  {% for one in view.open %}{{ group(one) }}{% endfor %}
</div>
{% if view.folded %}
<details>
  <summary>{{ view.folded | length | count }} more classes</summary>
  <div class="groups">
    {% for one in view.folded %}{{ group(one) }}{% endfor %}
  </div>
</details>
{% endif %}
{{ m.left_out(view.left_out, "classes") }}
"""

    learner: str
    groups: tuple[ClassWeights, ...]
    measure: str = "weight"
    odds: bool = False
    note: str = ""
    n_features: int | None = None
    positive: str = "speaks for the class"
    negative: str = "against it"

    def view(self, _: Content) -> View:
        """A table with bars per class; with many classes, fewer features each."""
        most = MOST_FEATURES if len(self.groups) <= MOST_OPEN else FEW_FEATURES
        groups, left_out = cut(self.groups, MOST_GROUPS)
        # One axis for all groups, from zero to both sides as far as there is something.
        low, high = range_of([np.zeros(1), *(np.asarray(one.values) for one in groups)])
        shown = [_group(one, most, low, high, self.odds) for one in groups]
        return {
            "open": shown[:MOST_OPEN],
            "folded": shown[MOST_OPEN:],
            "left_out": left_out,
        }


@dataclass(frozen=True)
class Explained:
    """Why one example got its prediction, term by term.

    Attributes
    ----------
    terms : Explanation
        The sum.
    text : str
        The example: its text, or the row in short.
    prediction, truth : str
        In words.
    row : str
        Which row or line of the source.
    """

    terms: Explanation
    text: str = ""
    prediction: str = ""
    truth: str = ""
    row: str = ""

    @property
    def scores(self) -> tuple[str, ...]:
        """Names of the columns of totals: ("spam", "ham"), or ("spam against ham",)."""
        labels = [str(label) for label in self.terms.labels]
        one = self.terms.addends.shape[1] == 1
        return (" against ".join(labels) or "prediction",) if one else tuple(labels)

    @property
    def probability(self) -> float:
        """Of the prediction; NaN where it is not known."""
        labels = [str(label) for label in self.terms.labels]
        if self.terms.posterior is None or self.prediction not in labels:
            return NAN
        return float(self.terms.posterior[labels.index(self.prediction)])


@dataclass(frozen=True)
class Explanations(Part):
    """Running totals of some examples."""

    section = Section("explanations", "Predictions explained", 150)
    template = """\
<p class="lead">A linear model adds up: each line is what one feature contributes{% if part.learner %} in {{ part.learner }}{% endif %}, and the total so far.</p>
{% for one in view.examples %}
<article class="explained">
  <h3>Predicted <span dir="auto">{{ one.example.prediction | clip(60) }}</span>{% if one.has_probability %}, {{ one.probability }} sure{% endif %}
    {%- if one.example.truth %}{% if one.right %} <span class="badge good">right</span>{% else %} <span class="badge bad">truth: {{ one.example.truth | clip(60) }}</span>{% endif %}{% endif %}</h3>
  {% if one.example.text %}<p class="quote" dir="auto">{{ one.example.text | clip(500) }}</p>{% endif %}
  {% if one.example.row %}<p class="source">{{ one.example.row | clip(120) }}</p>{% endif %}
  {% if one.score %}<p class="note" dir="auto">Score: {{ one.score | clip(120) }}</p>{% endif %}
  {% call m.scroll("Running total", tall=true) %}
  <table class="running">
    <thead>
      <tr>
        <th scope="col">feature</th>
        <th scope="col" class="n">value</th>
        {% for name in one.headings %}<th scope="col" class="n" dir="auto">{{ name }}</th>{% endfor %}
        <th scope="col" class="bars" dir="auto">{{ one.bars }}</th>
      </tr>
    </thead>
    <tbody>
      {% for step in one.steps %}
      {% if step.after_gap %}<tr><td class="quiet" colspan="{{ 3 + 2 * (one.example.scores | length) }}">… {{ one.left_out | count }} more lines</td></tr>{% endif %}
      <tr>
        <th scope="row" dir="auto">{{ step.feature | clip(60) }}</th>
        <td class="n">{{ step.value | clip(30) }}</td>
        {% for cell in step.contributions %}<td class="n">{{ cell }}</td>{% endfor %}
        {% for cell in step.totals %}<td class="n total">{{ cell }}</td>{% endfor %}
        <td class="bars">{{ step.bar }}</td>
      </tr>
      {% endfor %}
    </tbody>
  </table>
  {% endcall %}
  {% if one.unknown %}<p class="note" dir="auto">Unknown to the model, left out: {{ one.unknown | clip(400) }}.</p>{% endif %}
</article>
{% endfor %}
{{ m.left_out(view.left_out, "examples") }}
"""

    examples: tuple[Explained, ...]
    learner: str = ""

    def view(self, _: Content) -> View:
        """Running totals as tables."""
        shown, left_out = cut(self.examples, MOST_EXAMPLES)
        return {"examples": [_example(one) for one in shown], "left_out": left_out}


def _group(one: ClassWeights, most: int, low: float, high: float, odds: bool) -> dict[str, object]:
    """The features with the largest values of either sign, in falling order."""
    values = np.asarray(one.values, dtype=np.float64)
    most = most if one.picture is None else BESIDE_PICTURE
    keep = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    order = keep[np.argsort(-values[keep], kind="stable")]
    cells = formats.aligned(values[order])
    with np.errstate(over="ignore"):
        ratios = np.exp(values[order])
    return {
        "label": one.label,
        "against": one.against,
        "intercept": formats.short(one.intercept),
        "has_intercept": math.isfinite(one.intercept),
        "image": None if one.picture is None else pixels.signed(one.picture),
        "left_out": len(values) - len(order),
        "rows": [
            {
                "feature": one.features[i],
                "value": cell,
                "bar": step_bar(0.0, float(values[i]), low, high),
                "odds": formats.short(float(ratio)) if odds else "",
            }
            for i, cell, ratio in zip(order, cells, ratios, strict=True)
        ],
    }


def _example(one: Explained) -> dict[str, object]:
    terms = one.terms
    adds, totals = terms.addends.astype(float), terms.totals.astype(float)
    n = len(terms.names)
    # Of a long sum the last steps are shown too: they hold the result.
    left_out = max(0, n - MOST_STEPS)
    kept = [*range(MOST_STEPS - 1), n - 1] if left_out else range(n)
    # With two or more scores the bars show how the first gains on the second.
    margins = [float(row[0] - (row[1] if len(row) > 1 else 0.0)) for row in totals]
    before = [0.0, *margins[:-1]]
    low, high = min([0.0, *margins]), max([0.0, *margins])
    cells = iter(
        formats.aligned(
            value for pair in zip(adds, totals, strict=True) for row in pair for value in row
        )
    )
    rows = [
        ([next(cells) for _ in one.scores], [next(cells) for _ in one.scores]) for _ in terms.names
    ]
    values = np.full(n, np.nan) if terms.values is None else terms.values
    names = [formats.clip(name, LONGEST_NAME) for name in one.scores]
    single = len(names) == 1
    return {
        "example": one,
        "probability": formats.percent(one.probability),
        "has_probability": math.isfinite(one.probability),
        "right": one.truth == one.prediction,
        "score": one.scores[0] if single else "",
        "headings": ["adds", "total"]
        if single
        else [*(f"adds to {name}" for name in names), *(f"total {name}" for name in names)],
        "bars": "total" if single else " minus ".join(names[:2]),
        "steps": [
            {
                "feature": terms.names[i],
                "value": f"{values[i]:.4g}" if math.isfinite(values[i]) else "",
                "contributions": rows[i][0],
                "totals": rows[i][1],
                "bar": step_bar(before[i], margins[i], low, high),
                "after_gap": left_out > 0 and i == n - 1,
            }
            for i in kept
        ],
        "left_out": left_out,
        "unknown": ", ".join(terms.unknown[:40]),
    }
