"""A linear model of a table as a scorecard: curves of numbers, points of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.features.tables.scorecard import Card, Scorecard
from separatrix.report.draw.chart import Series, chart
from separatrix.report.parts.part import Part, Section, Swatch, View, cut

if TYPE_CHECKING:
    from separatrix.report.content import Content

#: Columns and values that are shown, and classes whose curves fit into one picture.
MOST_COLUMNS, MOST_VALUES, MOST_CURVES = 24, 40, 6


@dataclass(frozen=True)
class ScorecardPart(Part):
    """What each value of each column adds to the champion's score."""

    section = Section("scorecard", "Scorecard", 145)
    template = """\
<p class="lead">Every column adds its points to the score, whatever the others hold: {{ view.verdict }}. Intercept: {{ view.intercept }}.</p>
{{ m.legend(view.legend) }}
<div class="multiples">
  {% for one in view.figures %}
  <figure>
    <h3 dir="auto">{{ one.title | clip(60) }}</h3>
    {% if one.drawing %}
    {{ one.drawing }}
    {{ m.numbers("Points of " ~ (one.title | clip(60)), view.headings, one.rows) }}
    {% else %}
    {% call m.scroll("Points of " ~ (one.title | clip(60)), tall=true) %}
    <table class="plain">
      <thead><tr>{% for name in view.headings %}<th scope="col">{{ name | clip(30) }}</th>{% endfor %}</tr></thead>
      <tbody>
      {% for row in one.rows %}
      <tr><th scope="row" dir="auto">{{ row[0] | clip(60) }}</th>{% for cell in row[1:] %}<td class="n">{{ cell }}</td>{% endfor %}</tr>
      {% endfor %}
      </tbody>
    </table>
    {% endcall %}
    {% endif %}
    {{ m.left_out(one.left_out, "values") }}
  </figure>
  {% endfor %}
</div>
{{ m.left_out(view.left_out, "columns") }}
"""

    card: Scorecard

    def view(self, content: Content) -> View:
        """A picture of every column of numbers, a table of every other."""
        cards, left_out = cut(self.card.cards, MOST_COLUMNS)
        scores = self.card.scores
        several = len(scores) > 1
        legend = [
            Swatch(name, f"s{at + 1}") for at, name in enumerate(scores[:MOST_CURVES]) if several
        ]
        return {
            "verdict": self.card.verdict(),
            "intercept": ", ".join(f"{value:+.3f}" for value in self.card.intercept.tolist()),
            "headings": ["value", *(scores if several else ["points"])],
            "legend": legend,
            "figures": [self._figure(one) for one in cards],
            "left_out": left_out,
        }

    def _figure(self, one: Card) -> dict[str, object]:
        told = [
            [value, *(f"{point:+.3f}" for point in points)]
            for value, points in zip(one.values, one.points.tolist(), strict=True)
        ]
        rows, left_out = cut(told, MOST_VALUES)
        drawing = None
        if one.x is not None and one.y is not None:
            names = self.card.scores[:MOST_CURVES]
            drawing = chart(
                f"Points of {one.column}",
                [
                    Series(name, one.x, one.y[:, at], css=f"s{at + 1}")
                    for at, name in enumerate(names)
                ],
                x_title=one.column,
                y_title="points",
                level=0.0,
            )
        return {"title": one.column, "drawing": drawing, "rows": rows, "left_out": left_out}
