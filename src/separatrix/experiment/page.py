"""The report of a result: which values stand where."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform

from separatrix.experiment.result import LeaderboardRow, Result
from separatrix.registry import LEARNERS
from separatrix.report import content as shown

__all__ = ["content_of"]


def content_of(result: Result) -> shown.Content:
    """Everything that the report of `result` shows."""
    percent = result.metric.percent
    sizes = result.sizes
    data = shown.DataSummary(
        name=result.source,
        task=result.task.describe(sizes.get("classes")),
        task_reason=result.task.reason,
        splits=tuple((part, sizes[part]) for part in ("train", "held-out", "test")),
        split_rule=result.split,
        n_columns=len(result.inputs.columns) + len(result.inputs.left_out)
        or (result.inputs.n_features or 0),
        n_features=sizes["features"],
        target=result.inputs.target or "",
        fingerprint=result.fingerprint,
        steps=result.steps,
        unit=result.task.units.removesuffix("s"),
    )
    return shown.Content(
        title=result.source,
        verdict=result.verdict(),
        data=data,
        leaderboard=tuple(_row(row, result) for row in result.leaderboard),
        metric=shown.Metric(
            result.metric.title,
            percent,
            result.metric.higher_is_better,
            digits=2 if percent else 4,
        ),
        summary=result.notes,
        command=result.command,
        date=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        versions=_versions(),
        seconds=result.seconds,
        parts=result.parts,
    )


def _row(row: LeaderboardRow, result: Result) -> shown.LeaderboardRow:
    summaries = {learner.name: learner.summary for learner in LEARNERS}
    role = ""
    if row is result.champion:
        role = "champion"
    elif row is result.runner_up:
        role = "runner-up"
    cut = "" if row.settled else "ran out of passes or time: the score may change"
    note = "; ".join(one for one in (row.note, cut) if one)
    return shown.LeaderboardRow(
        row.learner,
        row.setting,
        row.held_out,
        row.seconds,
        row.passes,
        row.gap,
        row.solver,
        row.baseline,
        role,  # type: ignore[arg-type]
        note,
        summaries.get(row.learner, ""),
    )


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("Python", platform.python_version())]
    for name in ("separatrix", "numpy", "scipy", "scikit-learn"):
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found)
