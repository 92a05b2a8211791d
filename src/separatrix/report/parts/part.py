"""What the parts of a report have in common: values, a heading, a template, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.metrics import Metric

if TYPE_CHECKING:
    from separatrix.report.content import Content, LeaderboardRow

__all__ = [
    "NAN", "Array", "Cut", "Fact", "Part", "Section", "Swatch", "View", "champion",
    "check_lengths", "cut", "limits",
]  # fmt: skip

Array = npt.NDArray[Any]
NAN = float("nan")
View = Mapping[str, Any]
Item = TypeVar("Item")


class Section(NamedTuple):
    """Address of a section in the page, its heading, and its place among the others.

    `facts_last`: whether its facts stand behind those of the others, at the head of the report.
    """

    name: str
    title: str
    place: int
    facts_last: bool = False


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


class Part:
    """Base of the optional parts: plain values, and how the page shows them.

    A part needs nothing but its class: the page takes heading, template and view from it.

    Attributes
    ----------
    section : Section
    template : str
        Of jinja2; sees the part as `part`, what `view` gives as `view`, the whole as `content`, and
        the macros of `templates/macros.html` as `m`. Tables go into `m.scroll`.
    """

    section: ClassVar[Section]
    template: ClassVar[str]

    def view(self, content: Content) -> View:
        """What the template shows: long lists cut, numbers as text, pictures."""
        return {}

    def facts(self, content: Content) -> list[Fact]:
        """What stands at the head of the report."""
        return []


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


def check_lengths(owner: object, *names: str) -> None:
    """Raise ParameterError unless these sequences of `owner` have one length; None is passed by."""
    lengths = {
        name: len(getattr(owner, name)) for name in names if getattr(owner, name) is not None
    }
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ParameterError(f"{type(owner).__name__} needs arrays of one length: {found}")
