"""Findings, and the profile of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from separatrix.report import formats
from separatrix.report.draw.strips import bar, histogram
from separatrix.report.parts.part import NAN, Fact, Part, Section, View, cut

if TYPE_CHECKING:
    from separatrix.report.content import Content

MOST_COLUMNS = 200
MOST_CLASSES = 40
MOST_FINDINGS = 50
MOST_DETAILS = 12


@dataclass(frozen=True)
class Column:
    """Profile of one column.

    Attributes
    ----------
    name, kind : str
        Name, and "number", "category", "text", "flag" or the like.
    n_missing, n_distinct : int
        Empty cells, and different values.
    low, middle, high : float
        Smallest value, median and largest, of a column of numbers.
    frequent : tuple of (str, int)
        The most frequent values of any other column, with their counts.
    histogram : tuple of int
        Counts in bins of equal width from low to high.
    used : bool
        Whether the learners saw it.
    note : str
        Why it was left out, or what is odd about it.
    """

    name: str
    kind: str
    n_missing: int = 0
    n_distinct: int = 0
    low: float = NAN
    middle: float = NAN
    high: float = NAN
    frequent: tuple[tuple[str, int], ...] = ()
    histogram: tuple[int, ...] = ()
    used: bool = True
    note: str = ""


@dataclass(frozen=True)
class Profile(Part):
    """Profile of the data.

    Attributes
    ----------
    n_rows : int
        Rows in all.
    columns : tuple of Column
        The columns, in their order.
    classes : tuple of (str, int)
        Classes with their rows, of a classification.
    target : Column or None
        The target, of a regression.
    counted : str
        What the numbers of the classes and of frequent values count: "rows", "tokens".
    """

    section = Section("profile", "Data", 170)
    template = """\
{% macro line(one) %}
<tr{% if not one.column.used %} class="unused"{% endif %}>
  <th scope="row" dir="auto">{{ one.column.name | clip(60) }}</th>
  <td>{{ one.column.kind }}</td>
  <td class="n">{{ one.missing }}</td>
  <td class="n">{{ one.column.n_distinct | count }}</td>
  {% if view.histograms %}<td class="spark">{% if one.histogram %}{{ one.histogram }}{% endif %}</td>{% endif %}

  <td class="wide" dir="auto">{{ one.range }}</td>
  {% if view.notes %}<td class="wide">{% if not one.column.used %}<span class="badge">not used</span> {% endif %}{{ one.column.note | clip(200) }}</td>{% endif %}
</tr>
{% endmacro %}
<p class="lead">{{ part.n_rows | counted(content.data.unit) }}{% if part.columns %}, {{ part.columns | length | counted("column") }}{% endif %}{% if part.classes %}, {{ part.classes | length | counted("class", "classes") }}{% endif %}.</p>
{% if view.classes %}
<h3>Classes</h3>
{% call m.scroll("Classes", tall=true) %}
<table class="balance">
  <thead><tr><th scope="col">class</th><th scope="col" class="n">{{ part.counted }}</th><th scope="col" class="n">%</th><th scope="col" class="bars"><span class="sr">as a bar</span></th></tr></thead>
  <tbody>
    {% for name, rows, share, bar in view.classes %}
    <tr><th scope="row" dir="auto">{{ name | clip(60) }}</th><td class="n">{{ rows | count }}</td><td class="n">{{ share }}</td><td class="bars">{{ bar }}</td></tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
{{ m.left_out(view.classes_left_out, "classes") }}
{% endif %}
{% if view.columns or view.target %}
<h3>Columns</h3>
{% call m.scroll("Columns", tall=true) %}
<table class="columns">
  <thead>
    <tr>
      <th scope="col">column</th>
      <th scope="col">kind</th>
      <th scope="col" class="n">missing, %</th>
      <th scope="col" class="n">distinct</th>
      {% if view.histograms %}<th scope="col" class="spark"><span class="sr">distribution</span></th>{% endif %}

      <th scope="col">range or most frequent ({{ part.counted }})</th>
      {% if view.notes %}<th scope="col">note</th>{% endif %}
    </tr>
  </thead>
  <tbody>
    {% if view.target %}{{ line(view.target) }}{% endif %}
    {% for one in view.columns %}{{ line(one) }}{% endfor %}
  </tbody>
</table>
{% endcall %}
{{ m.left_out(view.columns_left_out, "columns") }}
{% endif %}
"""

    n_rows: int
    columns: tuple[Column, ...] = ()
    classes: tuple[tuple[str, int], ...] = ()
    target: Column | None = None
    counted: str = "rows"

    def view(self, content: Content) -> View:
        """Classes as bars, columns as rows of a table."""
        classes = sorted(self.classes, key=lambda item: -item[1])
        shown, left_out = cut(classes, MOST_CLASSES)
        top = max((rows for _, rows in classes), default=1)
        total = max(sum(rows for _, rows in classes), 1)
        shown_columns, columns_left_out = cut(self.columns, MOST_COLUMNS)
        columns = [_column(column, self.n_rows) for column in shown_columns]
        target = None if self.target is None else _column(self.target, self.n_rows)
        return {
            "classes": [
                (name, rows, formats.decimal(100 * rows / total, 1), bar(rows / max(top, 1)))
                for name, rows in shown
            ],
            "classes_left_out": left_out,
            "target": target,
            "columns": columns,
            "histograms": any(
                one["histogram"] for one in [*columns, *([target] if target else [])]
            ),
            "columns_left_out": columns_left_out,
            "notes": any(column.note or not column.used for column in self.columns),
        }


@dataclass(frozen=True)
class Finding:
    """Something about the data or the experiment that the reader should know.

    Attributes
    ----------
    kind : str
        In two or three words: "leak suspect", "duplicates", "imbalance", "missing values".
    message : str
        One sentence: what was found and what to do.
    severity : {"note", "serious"}
        Serious is what can make the result wrong.
    details : tuple of str
        Columns, rows or pairs, if they help.
    """

    kind: str
    message: str
    severity: Literal["note", "serious"] = "note"
    details: tuple[str, ...] = ()

    @property
    def serious(self) -> bool:
        """Whether it can make the result wrong."""
        return self.severity == "serious"


@dataclass(frozen=True)
class Findings(Part):
    """Warnings; an empty tuple says that the checks ran and found nothing.

    Attributes
    ----------
    findings : tuple of Finding
        What was found.
    checks : tuple of str
        What was looked for, in a few words each.
    """

    section = Section("warnings", "Warnings", 10, facts_last=True)
    template = """\
{% for finding, details in view.findings %}
<div class="finding{{ ' serious' if finding.serious }}">
  <h3>{{ finding.kind }}{% if finding.serious %} <span class="badge bad">serious</span>{% endif %}</h3>
  <p dir="auto">{{ finding.message | clip(600) }}</p>
  {% if details.shown %}
  <ul class="details">
    {% for detail in details.shown %}<li dir="auto">{{ detail | clip(200) }}</li>{% endfor %}
    {% if details.left_out %}<li class="quiet">and {{ details.left_out | count }} more</li>{% endif %}
  </ul>
  {% endif %}
</div>
{% else %}
<p>Nothing was found.</p>
{% endfor %}
{{ m.left_out(view.left_out, "warnings") }}
{% if part.checks %}
<p class="note">Looked for: {{ part.checks | join(", ") }}.</p>
{% endif %}
"""

    findings: tuple[Finding, ...]
    checks: tuple[str, ...] = ()

    def view(self, _: Content) -> View:
        """The serious ones first."""
        ordered = sorted(self.findings, key=lambda one: not one.serious)
        shown, left_out = cut(ordered, MOST_FINDINGS)
        return {
            "findings": [(one, cut(one.details, MOST_DETAILS)) for one in shown],
            "left_out": left_out,
        }

    def facts(self, _: Content) -> list[Fact]:
        """How many warnings there are."""
        serious = sum(one.serious for one in self.findings)
        total = len(self.findings)
        if not total:
            return [Fact("Warnings", "none", f"{len(self.checks)} checks" if self.checks else "")]
        detail = f"{serious} serious" if serious else "none serious"
        return [Fact("Warnings", formats.count(total), detail, "bad" if serious else "")]


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
