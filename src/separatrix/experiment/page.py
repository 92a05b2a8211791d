"""The report of a result: which values stand where."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform

from separatrix.experiment.result import Result
from separatrix.report import content as shown

__all__ = ["content_of"]


def content_of(result: Result) -> shown.Content:
    """Everything that the report of `result` shows."""
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
        leaderboard=result.leaderboard,
        metric=result.metric,
        summary=result.notes,
        command=result.command,
        date=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        versions=_versions(),
        seconds=result.seconds,
        parts=result.parts,
    )


def _versions() -> tuple[tuple[str, str], ...]:
    found = [("Python", platform.python_version())]
    for name in ("separatrix", "numpy", "scipy", "scikit-learn"):
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return tuple(found)
