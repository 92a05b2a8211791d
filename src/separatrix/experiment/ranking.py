"""The lines of the leaderboard, and who of them is tested."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from separatrix.errors import ParameterError
from separatrix.experiment.result import LeaderboardRow
from separatrix.experiment.testing import Finalist
from separatrix.experiment.tuning import Tuned, describe
from separatrix.metrics import Metric
from separatrix.report.parts import Effort, Efforts, Finding, TestReport
from separatrix.tasks import Task
from separatrix.tasks.rows import Rows

__all__ = [
    "efforts_of",
    "finalists_of",
    "preferred",
    "result_findings",
    "row_of",
    "row_of_previous",
]

#: Below this probability of being better on the test, a champion has lost to its runner-up.
_LOST = 0.05


def row_of(one: Tuned) -> LeaderboardRow:
    """The line of a tuned learner."""
    return LeaderboardRow(
        learner=one.learner.name,
        setting=describe(one.learner, one.value),
        summary=one.learner.summary,
        value=one.value,
        held_out=one.held_out,
        seconds=one.seconds,
        passes=one.passes,
        gap=one.gap,
        solver=one.solver,
        converged=one.converged,
        baseline=one.learner.baseline,
        n_settings=max(1, len(one.curve)),
        note="" if one.complete else "stopped by the budget",
        settled=one.settled,
        settings=one.curve,
    )


def row_of_previous(model: Any, held_out: Rows, metric: Metric, task: Task) -> LeaderboardRow:
    """The line of a model that was there before."""
    task.check_previous(model, held_out.y)
    start = time.perf_counter()
    score = metric(model, held_out.X, held_out.y)
    seconds = time.perf_counter() - start
    return LeaderboardRow(
        "previous_model", "-", score, seconds, 0, solver="given", baseline=True,
        note="may have seen these rows in its training",
    )  # fmt: skip


def preferred(
    leaderboard: tuple[LeaderboardRow, ...],
    tuned: Mapping[str, Tuned],
    metric: Metric,
    y: Any,
) -> LeaderboardRow:
    """The first row; where its solver was cut short, the best settled one within the noise."""
    first = leaderboard[0]
    if first.settled:
        return first
    for row in leaderboard[1:]:
        one = tuned.get(row.learner)
        if row.settled and one is not None and not row.baseline:
            lead = metric.gain(first.held_out) - metric.gain(row.held_out)
            noise = metric.noise(tuned[first.learner].outcome, one.outcome, y)
            return first if lead > noise else row
    return first


def finalists_of(
    leaderboard: tuple[LeaderboardRow, ...],
    wanted: str | None,
    notes: Sequence[str],
    champion: LeaderboardRow,
) -> tuple[LeaderboardRow, ...]:
    """Champion and runner-up; a baseline is a runner-up only if nothing else is there."""
    front = [row for row in leaderboard if row.learner == wanted]
    if wanted is not None and not front:
        reasons = [note for note in notes if note.startswith(f"{wanted} ")]
        raise ParameterError(*reasons or [f"champion={wanted!r} is not among the learners"])
    champion = front[0] if front else champion
    others = [row for row in leaderboard if row is not champion]
    rest = [row for row in others if not row.baseline] or others
    return (champion, *rest[:1])


def result_findings(
    chosen: Sequence[LeaderboardRow],
    leaderboard: Sequence[LeaderboardRow],
    tuned: Mapping[str, Tuned],
    test: TestReport,
    metric: Metric,
    y: Any,
) -> list[Finding]:
    """A champion that is no better than a baseline, and a runner-up that is better on the test."""
    found = []
    champion = chosen[0]
    baselines = [row for row in leaderboard if row.learner in tuned and row.baseline]
    best = max(baselines, key=lambda row: metric.gain(row.held_out), default=None)
    learned = any(not (row.baseline or row.reference) for row in leaderboard)
    if learned and best is not None and champion.learner in tuned:
        own, other = tuned[champion.learner].outcome, tuned[best.learner].outcome
        lead = metric.gain(own.score) - metric.gain(other.score)
        if champion.baseline or lead <= metric.noise(own, other, y):
            is_it = champion.baseline and champion.learner == best.learner
            what = "is a baseline" if is_it else f"is no better than the baseline {best.learner}"
            found.append(
                Finding(
                    "no better than a baseline",
                    f"{champion.learner} {what} on the held-out rows, as far as their noise lets "
                    "one see: nothing was learned from the features, or the metric does not show "
                    "it. Look at the features, or decide by another metric.",
                    "serious",
                )
            )
    scores = [metric.gain(one.score) for one in test.scores]
    if len(scores) > 1 and scores[1] > scores[0]:
        first, second = test.scores[:2]
        found.append(
            Finding(
                "runner-up better on the test",
                f"{second.learner} has {second.score:.4f} on the test rows, the champion "
                f"{first.learner} {first.score:.4f}; the champion was chosen before they were "
                "opened, and to choose again now would make its score too good to be true. Look "
                "whether the test rows differ from the others, and compare the two again on new "
                "rows before you rely on either.",
                "serious" if test.probability_better < _LOST else "note",
            )
        )
    return found


def efforts_of(
    leaderboard: tuple[LeaderboardRow, ...],
    finalists: Sequence[Finalist],
    microseconds: Sequence[float],
    budget: float,
    metric: Metric,
) -> Efforts:
    """Time, passes and cost of every learner."""
    refits = {one.row.learner: one.refit_seconds for one in finalists}
    speeds = {one.row.learner: speed for one, speed in zip(finalists, microseconds, strict=True)}
    return Efforts(
        tuple(
            Effort(
                row.learner,
                row.seconds,
                refits.get(row.learner, math.nan),
                speeds.get(row.learner, math.nan),
                row.passes,
                row.n_settings,
                row.held_out if metric.name == "cost" else math.nan,
            )
            for row in leaderboard
            if not row.reference
        ),
        budget if math.isfinite(budget) else math.nan,
    )
