"""The lines of the leaderboard, and who of them is tested."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from separatrix.errors import ParameterError
from separatrix.experiment.families import Family
from separatrix.experiment.metric import Metric
from separatrix.experiment.result import LeaderboardRow
from separatrix.experiment.rows import Rows
from separatrix.experiment.testing import Finalist
from separatrix.experiment.tuning import Tuned, describe
from separatrix.report.parts import Effort, Efforts

__all__ = ["efforts_of", "finalists_of", "row_of", "row_of_previous"]


def row_of(one: Tuned) -> LeaderboardRow:
    """The line of a tuned learner."""
    return LeaderboardRow(
        learner=one.learner.name,
        setting=describe(one.learner, one.value),
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
    )


def row_of_previous(model: Any, held_out: Rows, metric: Metric, family: Family) -> LeaderboardRow:
    """The line of a model that was there before."""
    family.check_previous(model, held_out.y)
    start = time.perf_counter()
    score = metric(model, held_out.X, held_out.y)
    seconds = time.perf_counter() - start
    return LeaderboardRow(
        "previous_model", "-", None, score, seconds, 0, math.nan, "given", True, True,
        note="may have seen these rows in its training",
    )  # fmt: skip


def finalists_of(
    leaderboard: tuple[LeaderboardRow, ...], wanted: str | None, notes: Sequence[str]
) -> tuple[LeaderboardRow, ...]:
    """Champion and runner-up; a baseline is a runner-up only if nothing else is there."""
    front = [row for row in leaderboard if wanted in (None, row.learner)]
    if not front:
        reasons = [note for note in notes if note.startswith(f"{wanted} ")]
        raise ParameterError(*reasons or [f"champion={wanted!r} is not among the learners"])
    champion = front[0]
    others = [row for row in leaderboard if row is not champion]
    rest = [row for row in others if not row.baseline] or others
    return (champion, *rest[:1])


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
        ),
        budget if math.isfinite(budget) else math.nan,
    )
