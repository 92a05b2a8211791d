"""Profile of the data and warnings about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from separatrix.report.parts.base import NAN, Part

__all__ = [
    "Column",
    "Finding",
    "Findings",
    "Profile",
]


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

    n_rows: int
    columns: tuple[Column, ...] = ()
    classes: tuple[tuple[str, int], ...] = ()
    target: Column | None = None
    counted: str = "rows"


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

    findings: tuple[Finding, ...]
    checks: tuple[str, ...] = ()
