"""What the views share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from separatrix.report.content import Content, LeaderboardRow, Metric

__all__ = ["Cut", "Fact", "Swatch", "View", "champion", "cut", "limits"]

View = Mapping[str, Any]
Item = TypeVar("Item")


class Fact(NamedTuple):
    """One number at the head of the report, with a name above and a word below it."""

    name: str
    value: str
    detail: str = ""
    tone: str = ""


class Swatch(NamedTuple):
    """One line of a legend."""

    name: str
    css: str
    dashed: bool = False


class Cut(NamedTuple):
    """The first items of a long list, and how many were left out."""

    shown: Sequence[Any]
    left_out: int


def cut(items: Sequence[Item], most: int) -> Cut:
    """Keep the first `most` items.

    Examples
    --------
    >>> cut("abcd", 3)
    Cut(shown='abc', left_out=1)
    """
    return Cut(items[:most], max(0, len(items) - most))


def champion(content: Content) -> LeaderboardRow | None:
    """The row that is called the champion, or else the first."""
    called = [row for row in content.leaderboard if row.role == "champion"]
    return next(iter([*called, *content.leaderboard]), None)


def limits(metric: Metric) -> tuple[float, float]:
    """Where an axis of this score ends."""
    return (0.0, 100.0) if metric.percent else (-float("inf"), float("inf"))
