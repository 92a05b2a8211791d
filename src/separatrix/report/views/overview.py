"""The leaderboard, the test, and what they took."""

from __future__ import annotations

import math
import statistics

from separatrix.report import formats
from separatrix.report.content import Content, LeaderboardRow, Metric
from separatrix.report.draw.scales import linear_scale
from separatrix.report.draw.strips import bar, interval, interval_plot, shares
from separatrix.report.parts import Efforts, TestReport
from separatrix.report.views.common import Fact, View, champion, cut, limits

__all__ = [
    "MOST_LEARNERS",
    "efforts",
    "leaderboard",
    "leaderboard_facts",
    "repeat",
    "test",
    "test_facts",
]

MOST_LEARNERS = 200
COLORS = {"champion": "s1", "runner-up": "s2"}


def leaderboard(content: Content, _: Content) -> View:
    """Rows as text, and their scores on one axis."""
    rows, left_out = cut(content.leaderboard, MOST_LEARNERS)
    low, high = _axis(content.leaderboard, content.metric)
    gaps = any(math.isfinite(row.gap) for row in rows)
    return {
        "rows": [
            {
                "row": row,
                "place": place,
                "score": formats.score(row.score, content.metric, unit=False),
                "error": formats.decimal(
                    formats.scaled(row.standard_error, content.metric), content.metric.digits
                ),
                "strip": interval(
                    row.score,
                    row.standard_error,
                    low,
                    high,
                    "muted" if row.baseline else COLORS.get(row.role, "s0"),
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


def _axis(rows: tuple[LeaderboardRow, ...], metric: Metric) -> tuple[float, float]:
    """Ends of the axis of scores: all learners but those that are far behind the rest."""
    scores = [row.score for row in rows if math.isfinite(row.score) and not row.baseline]
    scores = scores or [row.score for row in rows if math.isfinite(row.score)] or [0.0, 1.0]
    best = max(scores) if metric.higher_is_better else min(scores)
    distances = [abs(best - value) for value in scores]
    reach = min(max(distances), 3 * statistics.median(distances)) or max(distances)
    errors = [row.standard_error for row in rows if math.isfinite(row.standard_error)]
    air = max([*errors, 0.05 * reach]) or 0.01 * max(abs(best), 1.0)
    ends = (best - reach - air, best + air)
    if not metric.higher_is_better:
        ends = (best - air, best + reach + air)
    return (max(ends[0], 0.0), min(ends[1], 1.0)) if metric.percent else ends


def leaderboard_facts(content: Content, _: Content) -> list[Fact]:
    """The champion and its held-out score."""
    best = champion(content)
    if best is None:
        return []
    value = formats.score(best.score, content.metric)
    error = best.standard_error
    detail = f"± {formats.score(error, content.metric)} standard error" if error == error else ""
    return [
        Fact("Champion", best.learner, _setting(best), "word"),
        Fact(f"Held-out {content.metric.name}", value, detail),
    ]


def _setting(row: LeaderboardRow) -> str:
    """The setting in words, empty for a learner that has none."""
    text = row.setting.strip()
    return "" if text in ("-", formats.DASH) else text


def test(part: TestReport, content: Content) -> View:
    """Scores with intervals over one axis, and who is better."""
    metric = content.metric
    ends = [x for row in part.scores for x in (row.score, row.low, row.high) if math.isfinite(x)]
    ends = [formats.scaled(x, metric) for x in ends] or [0.0, 1.0]
    axis = linear_scale(min(ends), max(ends), 0, 1, padding=0.15, limits=limits(metric), n_ticks=6)
    colors = [COLORS.get(row.role, "muted") for row in part.scores]
    names = list(dict.fromkeys(name for row in part.scores for name, _ in row.others))
    mass = formats.percent(part.level, 0)
    better, same = part.probability_better, part.probability_equivalent
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
                "others": [formats.short(dict(row.others).get(name, math.nan)) for name in names],
            }
            for row, css in zip(part.scores, colors, strict=True)
        ],
        "plot": interval_plot(
            f"Test {metric.name} of "
            + ", ".join(f"{row.learner}: {formats.score(row.score, metric)}" for row in part.scores)
            + f", each with its {mass} {part.interval}",
            [
                (
                    formats.scaled(row.score, metric),
                    formats.scaled(row.low, metric),
                    formats.scaled(row.high, metric),
                    css,
                )
                for row, css in zip(part.scores, colors, strict=True)
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


def test_facts(part: TestReport, content: Content) -> list[Fact]:
    """The champion's test score, and how sure it is that it beats the runner-up."""
    if not part.scores:
        return []
    first = part.scores[0]
    detail = ""
    if math.isfinite(first.low):
        low = formats.score(first.low, content.metric, unit=False)
        mass = formats.percent(part.level, 0)
        detail = f"{mass} interval {low} to {formats.score(first.high, content.metric)}"
    value = formats.score(first.score, content.metric)
    facts = [Fact(f"Test {content.metric.name}", value, detail, "strong")]
    if math.isfinite(part.probability_better) and len(part.scores) > 1:
        chance = formats.probability(part.probability_better)
        facts.append(Fact("Beats the runner-up", chance, f"probability, {part.scores[1].learner}"))
    return facts


def efforts(part: Efforts, _: Content) -> View:
    """Times as bars of the longest."""
    rows, left_out = cut(part.efforts, MOST_LEARNERS)
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
        "budget": formats.duration(part.budget_seconds),
        "has_budget": math.isfinite(part.budget_seconds),
    }


def repeat(content: Content, _: Content) -> View:
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
