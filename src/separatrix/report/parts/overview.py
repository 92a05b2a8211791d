"""What every report begins and ends with: leaderboard, test, time, how to repeat it."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.metrics import Metric
from separatrix.report import formats
from separatrix.report.draw.scales import linear_scale
from separatrix.report.draw.strips import bar, interval, interval_plot, shares
from separatrix.report.parts.part import NAN, Fact, Part, Section, View, champion, cut, limits

if TYPE_CHECKING:
    from separatrix.report.content import Content, LeaderboardRow

MOST_LEARNERS = 200
COLORS = {"champion": "s1", "runner-up": "s2"}
_CUT = "ran out of passes or time: the score may change"


@dataclass(frozen=True)
class TestScore:
    """Score of one frozen model on the test rows, with its credible interval.

    Attributes
    ----------
    learner, role : str
        Name, and "champion", "runner-up" or "baseline".
    score, low, high : float
        Score and the ends of its credible interval.
    others : tuple of (str, float)
        Further scores, shown as they are: ("log loss", 0.113).
    """

    __test__ = False  # not for pytest

    learner: str
    role: str
    score: float
    low: float = NAN
    high: float = NAN
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class TestReport(Part):
    """The test set, opened once for champion and runner-up together.

    Attributes
    ----------
    scores : tuple of TestScore
        Champion first.
    n_rows : int
        Test rows.
    level : float
        Mass of the credible intervals.
    interval : str
        What intervals they are, in words.
    probability_better : float
        That the champion beats the runner-up.
    probability_equivalent : float
        That both are practically the same.
    method : str
        How these probabilities were computed, in words.
    """

    section = Section("test", "Test", 30)
    template = """\
<p class="lead">The test set ({{ part.n_rows | counted(content.data.unit) }}) was opened once, after all choices were made.</p>
<div class="pair">
  <figure>
    <h3>Test {{ view.heading }}</h3>
    {{ view.plot }}
    <ul class="legend">
      {% for one in view.rows %}<li><span class="swatch dot {{ one.css }}"></span>{{ one.row.learner | clip(60) }}{% if one.row.role %}, {{ one.row.role }}{% endif %}</li>{% endfor %}
    </ul>
    <figcaption>Lines: {{ view.level }} {{ part.interval }}.</figcaption>
  </figure>
  {% if view.odds %}
  <figure>
    <h3>Is the champion better?</h3>
    {{ view.odds.bar }}
    <ul class="odds">
      <li><span class="swatch block s1"></span><b>{{ view.odds.better }}</b> champion better</li>
      {% if view.odds.same %}<li><span class="swatch block muted"></span><b>{{ view.odds.same }}</b> practically the same</li>{% endif %}
      <li><span class="swatch block s2"></span><b>{{ view.odds.worse }}</b> runner-up {{ "better" if view.odds.same else "as good or better" }}</li>
    </ul>
    {% if part.method %}<figcaption>{{ part.method | sentence }}</figcaption>{% endif %}
  </figure>
  {% endif %}
</div>
{% call m.scroll("Test scores") %}
<table>
  <thead>
    <tr>
      <th scope="col">learner</th>
      <th scope="col" class="n">{{ view.heading }}</th>
      <th scope="col" class="n">from</th>
      <th scope="col" class="n">to</th>
      {% for name in view.others %}<th scope="col" class="n">{{ name }}</th>{% endfor %}
    </tr>
  </thead>
  <tbody>
    {% for one in view.rows %}
    <tr class="{{ one.row.role }}">
      <th scope="row"><span class="learner">{{ one.row.learner | clip(80) }}</span>{% if one.row.role %} <span class="badge {{ one.row.role }}">{{ one.row.role }}</span>{% endif %}</th>
      <td class="n score">{{ one.score }}</td>
      <td class="n">{{ one.low }}</td>
      <td class="n">{{ one.high }}</td>
      {% for cell in one.others %}<td class="n">{{ cell }}</td>{% endfor %}
    </tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
"""

    __test__ = False

    scores: tuple[TestScore, ...]
    n_rows: int
    level: float = 0.95
    probability_better: float = NAN
    probability_equivalent: float = NAN
    method: str = ""
    interval: str = "credible interval"

    def view(self, content: Content) -> View:
        """Scores with intervals over one axis, and who is better."""
        metric = content.metric
        ends = [
            x for row in self.scores for x in (row.score, row.low, row.high) if math.isfinite(x)
        ]
        ends = [formats.scaled(x, metric) for x in ends] or [0.0, 1.0]
        axis = linear_scale(
            min(ends), max(ends), 0, 1, padding=0.15, limits=limits(metric), n_ticks=6
        )
        colors = [COLORS.get(row.role, "muted") for row in self.scores]
        names = list(dict.fromkeys(name for row in self.scores for name, _ in row.others))
        mass = formats.percent(self.level, 0)
        better, same = self.probability_better, self.probability_equivalent
        rest = 1 - better - (same if math.isfinite(same) else 0.0)
        return {
            "heading": formats.heading(metric),
            "level": mass,
            "others": names,
            "rows": [
                {
                    "row": row,
                    "css": css,
                    "score": formats.score(row.score, metric, unit=False),
                    "low": formats.score(row.low, metric, unit=False),
                    "high": formats.score(row.high, metric, unit=False),
                    "others": [
                        formats.short(dict(row.others).get(name, math.nan)) for name in names
                    ],
                }
                for row, css in zip(self.scores, colors, strict=True)
            ],
            "plot": interval_plot(
                f"Test {metric.title} of "
                + ", ".join(
                    f"{row.learner}: {formats.score(row.score, metric)}" for row in self.scores
                )
                + f", each with its {mass} {self.interval}",
                [
                    (
                        formats.scaled(row.score, metric),
                        formats.scaled(row.low, metric),
                        formats.scaled(row.high, metric),
                        css,
                    )
                    for row, css in zip(self.scores, colors, strict=True)
                ],
                axis.ticks,
                axis.low,
                axis.high,
            ),
            "odds": None
            if not math.isfinite(better)
            else {
                "bar": shares(
                    f"Probability that the champion is better: {formats.probability(better)}",
                    [(better, "s1"), *([(same, "muted")] if same == same else []), (rest, "s2")],
                ),
                "better": formats.probability(better),
                "same": formats.probability(same) if same == same else "",
                "worse": formats.probability(max(rest, 0.0)),
            },
        }

    def facts(self, content: Content) -> list[Fact]:
        """The champion's test score, and how sure it is that it beats the runner-up."""
        if not self.scores:
            return []
        first = self.scores[0]
        detail = ""
        if math.isfinite(first.low):
            low = formats.score(first.low, content.metric, unit=False)
            mass = formats.percent(self.level, 0)
            detail = f"{mass} interval {low} to {formats.score(first.high, content.metric)}"
        value = formats.score(first.score, content.metric)
        facts = [Fact(f"Test {content.metric.title}", value, detail, "strong")]
        if math.isfinite(self.probability_better) and len(self.scores) > 1:
            chance = formats.probability(self.probability_better)
            facts.append(
                Fact("Beats the runner-up", chance, f"probability, {self.scores[1].learner}")
            )
        return facts


@dataclass(frozen=True)
class Effort:
    """What one learner took.

    Attributes
    ----------
    learner : str
        Name.
    search_seconds, refit_seconds : float
        Time of the search for its setting, and of the last fit.
    predict_microseconds : float
        Time to predict one row, within a batch.
    passes : float
        Passes over the train rows.
    settings : int
        Settings tried.
    cost : float
        Mean cost per held-out row, where costs were given.
    """

    learner: str
    search_seconds: float
    refit_seconds: float = NAN
    predict_microseconds: float = NAN
    passes: float = NAN
    settings: int = 0
    cost: float = NAN


@dataclass(frozen=True)
class Efforts(Part):
    """Time and cost of each learner, in the order of the leaderboard."""

    section = Section("efforts", "Time", 160)
    template = """\
<p class="lead">The searches took {{ view.total }}{% if view.has_budget %} of a budget of {{ view.budget }}{% endif %}.</p>
{% call m.scroll("Time of each learner") %}
<table>
  <thead>
    <tr>
      <th scope="col">learner</th>
      <th scope="col" class="n">search, s</th>
      <th scope="col" class="bars"><span class="sr">as a bar</span></th>
      {% if view.has.settings %}<th scope="col" class="n">settings</th>{% endif %}
      {% if view.has.passes %}<th scope="col" class="n">passes</th>{% endif %}
      {% if view.has.refit %}<th scope="col" class="n">last fit, s</th>{% endif %}
      {% if view.has.predict %}<th scope="col" class="n">prediction, µs per {{ content.data.unit }}</th>{% endif %}
      {% if view.has.cost %}<th scope="col" class="n">mean cost, held-out</th>{% endif %}
    </tr>
  </thead>
  <tbody>
    {% for one in view.rows %}
    <tr>
      <th scope="row"><span class="learner">{{ one.row.learner | clip(80) }}</span></th>
      <td class="n">{{ one.search }}</td>
      <td class="bars">{{ one.bar }}</td>
      {% if view.has.settings %}<td class="n">{{ one.row.settings or "–" }}</td>{% endif %}
      {% if view.has.passes %}<td class="n">{{ one.passes }}</td>{% endif %}
      {% if view.has.refit %}<td class="n">{{ one.refit }}</td>{% endif %}
      {% if view.has.predict %}<td class="n">{{ one.predict }}</td>{% endif %}
      {% if view.has.cost %}<td class="n">{{ one.cost }}</td>{% endif %}
    </tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
{{ m.left_out(view.left_out, "learners") }}
"""

    efforts: tuple[Effort, ...]
    budget_seconds: float = NAN

    def view(self, _: Content) -> View:
        """Times as bars of the longest."""
        rows, left_out = cut(self.efforts, MOST_LEARNERS)
        longest = max((row.search_seconds for row in rows if row.search_seconds > 0), default=1.0)
        columns = {
            "search": formats.times(row.search_seconds for row in rows),
            "refit": formats.times(row.refit_seconds for row in rows),
            "predict": formats.aligned(row.predict_microseconds for row in rows),
            "passes": [formats.decimal(row.passes, 0) for row in rows],
            "cost": formats.aligned((row.cost for row in rows), 4),
        }
        return {
            "rows": [
                {"row": row, "bar": bar(row.search_seconds / longest, "s1")}
                | {name: cells[index] for name, cells in columns.items()}
                for index, row in enumerate(rows)
            ],
            # A column that no learner fills is left out.
            "has": {
                name: any(cell != formats.DASH for cell in cells) for name, cells in columns.items()
            }
            | {"settings": any(row.settings for row in rows)},
            "left_out": left_out,
            "total": formats.duration(
                sum(row.search_seconds for row in rows if math.isfinite(row.search_seconds))
            ),
            "budget": formats.duration(self.budget_seconds),
            "has_budget": math.isfinite(self.budget_seconds),
        }


@dataclass(frozen=True)
class Leaderboard(Part):
    """The learners by held-out score; every report has it."""

    section = Section("leaderboard", "Leaderboard", 20)
    template = """\
<p class="lead">Learners by {{ content.metric.title }} on the held-out {{ content.data.unit }}s, {{ "higher" if content.metric.higher_is_better else "lower" }} is better. Each was fitted on the train {{ content.data.unit }}s; its setting is the best of those tried.</p>
{% call m.scroll("Leaderboard") %}
<table class="leaderboard">
  <thead>
    <tr>
      <th scope="col" class="n">#</th>
      <th scope="col">learner</th>
      <th scope="col" class="n score">held-out {{ view.heading }}</th>
      <th scope="col" class="place"><span class="sr">on an axis from</span><span class="ends"><span>{{ view.axis[0] }}</span><span>{{ view.axis[1] }}</span></span></th>
      <th scope="col">setting</th>
      {% if view.times %}<th scope="col" class="n">seconds</th>{% endif %}
      {% if view.passes %}<th scope="col" class="n">passes</th>{% endif %}
      {% if view.gaps %}<th scope="col" class="n">relative gap</th>{% endif %}
      {% if view.solvers %}<th scope="col">solver</th>{% endif %}
    </tr>
  </thead>
  <tbody>
    {% for one in view.rows %}
    <tr class="{{ one.row.role or ('baseline' if one.row.baseline or one.row.reference else 'other') }}">
      <td class="n quiet">{{ one.place }}</td>
      <th scope="row"><span class="learner">{{ one.row.learner | clip(80) }}</span>
        {%- if one.row.role %} <span class="badge {{ one.row.role }}">{{ one.row.role }}</span>{% endif %}
        {%- if one.row.baseline %} <span class="badge">baseline</span>{% endif %}
        {%- if one.row.reference %} <span class="badge">not linear</span>{% endif %}
        {%- if one.row.summary %}<small>{{ one.row.summary | clip(160) }}</small>{% endif %}
        {%- if one.note %}<small class="warn">{{ one.note | clip(200) }}</small>{% endif %}</th>
      <td class="n score">{{ one.score }}{% if view.errors %}<small>± {{ one.error }}</small>{% endif %}</td>
      <td class="place">{{ one.strip }}</td>
      <td>{{ one.setting }}</td>
      {% if view.times %}<td class="n">{{ one.seconds }}</td>{% endif %}
      {% if view.passes %}<td class="n">{{ one.passes }}</td>{% endif %}
      {% if view.gaps %}<td class="n">{{ one.gap }}</td>{% endif %}
      {% if view.solvers %}<td>{{ one.row.solver | clip(40) }}</td>{% endif %}
    </tr>
    {% else %}
    <tr><td colspan="5">No learner ran.</td></tr>
    {% endfor %}
  </tbody>
</table>
{% endcall %}
<p class="note">{% if view.errors %}± is one standard error. {% endif %}{% if view.times %}Time {{ "and passes are those" if view.passes else "is that" }} of the whole search for the setting. {% endif %}{% if view.gaps %}The relative gap certifies how close the fit is to the optimum of its objective. {% endif %}An arrow in the picture points to a score outside of its range.</p>
{{ m.left_out(view.left_out, "learners") }}
"""

    def view(self, content: Content) -> View:
        """Rows as text, and their scores on one axis."""
        rows, left_out = cut(content.leaderboard, MOST_LEARNERS)
        low, high = _axis(content.leaderboard, content.metric)
        gaps = any(math.isfinite(row.gap) for row in rows)
        return {
            "rows": [
                {
                    "row": row,
                    "place": place,
                    "note": "; ".join(one for one in (row.note, _CUT * (not row.settled)) if one),
                    "score": formats.score(row.held_out, content.metric, unit=False),
                    "error": formats.decimal(
                        formats.scaled(row.standard_error, content.metric), content.metric.decimals
                    ),
                    "strip": interval(
                        row.held_out,
                        row.standard_error,
                        low,
                        high,
                        "muted" if row.baseline or row.reference else COLORS.get(row.role, "s0"),
                    ),
                    "seconds": seconds,
                    "passes": passes,
                    "gap": formats.scientific(row.gap),
                    "setting": formats.clip(_setting(row), 80) or formats.DASH,
                }
                for place, row, seconds, passes in zip(
                    range(1, len(rows) + 1),
                    rows,
                    formats.times(row.seconds for row in rows),
                    [formats.decimal(row.passes, 0) for row in rows],
                    strict=True,
                )
            ],
            "left_out": left_out,
            "heading": formats.heading(content.metric),
            "axis": (
                formats.score(low, content.metric, unit=False),
                formats.score(high, content.metric),
            ),
            "errors": any(math.isfinite(row.standard_error) for row in rows),
            "times": any(math.isfinite(row.seconds) for row in rows),
            "passes": any(math.isfinite(row.passes) for row in rows),
            "gaps": gaps,
            "solvers": any(row.solver for row in rows),
        }

    def facts(self, content: Content) -> list[Fact]:
        """The champion and its held-out score."""
        best = champion(content)
        if best is None:
            return []
        value = formats.score(best.held_out, content.metric)
        error = best.standard_error
        detail = (
            f"± {formats.score(error, content.metric)} standard error" if error == error else ""
        )
        return [
            Fact("Champion", best.learner, _setting(best), "word"),
            Fact(f"Held-out {content.metric.title}", value, detail),
        ]


@dataclass(frozen=True)
class Repeat(Part):
    """What repeats the experiment; every report has it."""

    section = Section("repeat", "How to repeat this", 180)
    template = """\
{% if content.command %}
<pre class="command" tabindex="0" aria-label="Command"><code>{% for word in content.command.split(" ") %}<span>{{ word }}</span>{{ " " if not loop.last }}{% endfor %}</code></pre>
{% endif %}
<dl class="record">
  <div><dt>data</dt><dd dir="auto">{{ content.data.name }}{% if content.data.fingerprint %}<small class="mono">{{ content.data.fingerprint }}</small>{% endif %}</dd></div>
  <div><dt>task</dt><dd>{{ content.data.task }}{% if content.data.task_reason %}<small>{{ content.data.task_reason | sentence }}</small>{% endif %}</dd></div>
  {% if content.data.target %}<div><dt>target</dt><dd dir="auto">{{ content.data.target }}</dd></div>{% endif %}
  {% if view.splits %}
  <div><dt>{{ content.data.unit }}s</dt><dd>{% for name, rows, share in view.splits %}{{ rows | count }} {{ name }} ({{ share }}){{ ", " if not loop.last }}{% endfor %}{% if content.data.split_rule %}<small>{{ content.data.split_rule | sentence }}</small>{% endif %}</dd></div>
  {% endif %}
  {% if content.data.n_columns or content.data.n_features is not none %}
  <div><dt>columns</dt><dd>{% if content.data.n_columns %}{{ content.data.n_columns | count }}{% endif %}{% if content.data.n_features is not none %}{{ ", turned into " if content.data.n_columns }}{{ content.data.n_features | count }} features{% endif %}</dd></div>
  {% endif %}
  {% if content.data.steps %}
  <div><dt>steps</dt><dd>{% for step in content.data.steps %}<span class="line">{{ step | sentence }}</span>{% endfor %}</dd></div>
  {% endif %}
  {% if view.has_seconds %}<div><dt>time</dt><dd>{{ view.seconds }}</dd></div>{% endif %}
  {% if content.date %}<div><dt>date</dt><dd>{{ content.date }}</dd></div>{% endif %}
  {% if content.versions %}
  <div><dt>software</dt><dd>{% for name, version in content.versions %}{{ name }} {{ version }}{{ ", " if not loop.last }}{% endfor %}</dd></div>
  {% endif %}
</dl>
"""

    def view(self, content: Content) -> View:
        """The data and the split in a few lines."""
        data = content.data
        total = sum(rows for _, rows in data.splits)
        return {
            "total": total,
            "splits": [
                (name, rows, formats.percent(rows / max(total, 1), 0)) for name, rows in data.splits
            ],
            "seconds": formats.duration(content.seconds),
            "has_seconds": math.isfinite(content.seconds),
        }


def _axis(rows: tuple[LeaderboardRow, ...], metric: Metric) -> tuple[float, float]:
    """Ends of the axis of scores: all learners but those that are far behind the rest."""
    known = [row for row in rows if math.isfinite(row.held_out)]
    scores = [row.held_out for row in known if not row.baseline]
    scores = scores or [row.held_out for row in known] or [0.0, 1.0]
    best = max(scores) if metric.higher_is_better else min(scores)
    distances = [abs(best - value) for value in scores]
    reach = min(max(distances), 3 * statistics.median(distances)) or max(distances)
    errors = [row.standard_error for row in rows if math.isfinite(row.standard_error)]
    air = max([*errors, 0.05 * reach]) or 0.01 * max(abs(best), 1.0)
    ends = (best - reach - air, best + air)
    if not metric.higher_is_better:
        ends = (best - air, best + reach + air)
    return (max(ends[0], 0.0), min(ends[1], 1.0)) if metric.percent else ends


def _setting(row: LeaderboardRow) -> str:
    """The setting in words, empty for a learner that has none."""
    text = row.setting.strip()
    return "" if text in ("-", formats.DASH) else text
