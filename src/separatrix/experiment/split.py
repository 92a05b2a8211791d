"""Train, held-out and test rows; the test rows stay sealed until the choice is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, TokenSequences
from separatrix.errors import DataError, ParameterError, SeparatrixError
from separatrix.validation import distinct_values

__all__ = [
    "ByDocument",
    "ByTime",
    "Given",
    "Grouped",
    "SealError",
    "SealedTest",
    "Split",
    "Stratified",
    "documents_of",
]

Shares = tuple[float, float, float]
Parts = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]
Strata = npt.NDArray[np.intp]


class SealError(SeparatrixError, RuntimeError):
    """The test set was opened before, or something tried to copy it."""


class SealedTest:
    """Test rows that can be opened once, in the name of the models that were chosen.

    Parameters
    ----------
    rows : Dataset
        The test rows.

    Examples
    --------
    >>> sealed = SealedTest(Dataset("matrix", np.zeros((3, 2)), np.array([0, 1, 0])))
    >>> sealed.n_rows, sealed.opened_for
    (3, None)
    >>> sealed.open("linear_svm").X.shape
    (3, 2)
    >>> sealed.open("mira")
    Traceback (most recent call last):
    ...
    separatrix.experiment.split.SealError: The test set was opened before, for 'linear_svm'.
    """

    __slots__ = ("_take", "n_rows", "opened_for")

    def __init__(self, rows: Dataset) -> None:
        self.n_rows = len(rows)
        self.opened_for: str | None = None
        # A closure keeps the rows out of reach of vars(), dir() and a careless attribute.
        self._take = [lambda: rows]

    def open(self, chosen: str) -> Dataset:
        """Hand out the rows to score `chosen`; every later call raises SealError."""
        if self.opened_for is not None:
            raise SealError(f"The test set was opened before, for {self.opened_for!r}.")
        self.opened_for = chosen
        return self._take.pop()()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SealError("A sealed test set cannot be copied: a copy could be opened again.")


@dataclass(frozen=True)
class Split:
    """The three parts of an experiment's data, and how they were made, in words."""

    train: Dataset
    held_out: Dataset
    test: SealedTest
    rule: str = ""


@dataclass(frozen=True)
class Stratified:
    """Rows at random, each class (or each range of a quantity) in the same shares.

    Parameters
    ----------
    shares : (float, float, float)
        Shares of train, held-out and test; they sum to 1.

    Examples
    --------
    >>> data = Dataset("matrix", np.zeros((10, 1)), np.repeat([0, 1], 5))
    >>> parts = Stratified().rows(data, np.random.default_rng(0))
    >>> [len(rows) for rows in parts]
    [6, 2, 2]
    """

    shares: Shares = (0.6, 0.2, 0.2)

    #: The column that decides, which is then no feature.
    column = None

    def rows(
        self, data: Dataset, generator: np.random.Generator, strata: Strata | None = None
    ) -> Parts:
        """Row numbers of train, held-out and test, in random order; by default class by class."""
        shares = check_shares(self.shares)
        codes = distinct_values(data.y)[1] if strata is None else strata
        parts: tuple[list[npt.NDArray[np.intp]], ...] = ([], [], [])
        order = generator.permutation(len(codes))
        for code in range(codes.max() + 1):
            members = order[codes[order] == code]
            n_held_out, n_test = (int(share * len(members) + 0.5) for share in shares[1:])
            cuts = (len(members) - n_held_out - n_test, len(members) - n_test)
            if cuts[0] < 1:
                # Rounding took every row of a tiny class; training needs one.
                cuts = (1, max(1, cuts[1]))
            for part, rows in zip(parts, np.split(members, cuts), strict=True):
                part.append(rows)
        train, held_out, test = (generator.permutation(np.concatenate(part)) for part in parts)
        return train, held_out, test

    def describe(self, units: str = "rows", evenly: str = "stratified by the target") -> str:
        """The split in words."""
        return f"{units} at random" + (f", {evenly}" if evenly else "")


@dataclass(frozen=True)
class Grouped:
    """Whole groups of rows at random: no group is in two parts.

    Parameters
    ----------
    column : str
        The column that names the group of every row; it is no feature then. Of sequences, the
        column of their first token.
    shares : (float, float, float)
        Shares of train, held-out and test, met as closely as the groups allow.
    """

    column: str
    shares: Shares = (0.6, 0.2, 0.2)

    def rows(
        self, data: Dataset, generator: np.random.Generator, strata: Strata | None = None
    ) -> Parts:
        """Row numbers of train, held-out and test, in random order."""
        groups = _column(data, self.column).astype(str)
        if (n := len(np.unique(groups))) < 3:
            raise DataError(f"column {self.column!r} has {n} groups; a split needs three")
        return _whole_groups(groups, check_shares(self.shares), generator)

    def describe(self, units: str = "rows", evenly: str = "stratified by the target") -> str:
        """The split in words."""
        return f"whole groups of {self.column!r} at random"


@dataclass(frozen=True)
class ByDocument:
    """Sequences of whole documents at random, where a file marks documents.

    Sentences of one document share names and topics: parted, they would make held-out and test
    scores too good.

    Parameters
    ----------
    shares : (float, float, float)
        Shares of train, held-out and test, met as closely as the documents allow.
    """

    shares: Shares = (0.6, 0.2, 0.2)

    column = None

    def rows(
        self, data: Dataset, generator: np.random.Generator, strata: Strata | None = None
    ) -> Parts:
        """Row numbers of train, held-out and test, in random order."""
        documents = documents_of(data, self.shares)
        if documents is None:
            raise DataError("there are no documents, or too large ones, to split by")
        return _whole_groups(documents, check_shares(self.shares), generator)

    def describe(self, units: str = "rows", evenly: str = "stratified by the target") -> str:
        """The split in words."""
        return "whole documents at random"


def documents_of(data: Dataset, shares: Any) -> npt.NDArray[np.int64] | None:
    """The document of every sequence; None without marks, or where one is larger than a share."""
    documents = getattr(data.X, "documents", None)
    if documents is None or not len(documents):
        return None
    largest = np.unique(documents, return_counts=True)[1].max()
    return documents if largest <= min(shares) * len(documents) else None


def _whole_groups(
    groups: npt.NDArray[Any], shares: Shares, generator: np.random.Generator
) -> Parts:
    """Rows of train, held-out and test in random order, those of a group together."""
    _, codes = np.unique(groups, return_inverse=True)
    sizes = np.bincount(codes)
    part_of = np.empty(len(sizes), dtype=np.intp)
    filled = np.zeros(3)
    for group in generator.permutation(len(sizes)):
        # Where the most is missing; a part without any group comes first.
        part = int(np.argmax(np.array(shares) * len(codes) - filled + (filled == 0) * 1e18))
        part_of[group] = part
        filled[part] += sizes[group]
    order = generator.permutation(len(codes))
    train, held_out, test = (order[part_of[codes[order]] == part] for part in range(3))
    return train, held_out, test


@dataclass(frozen=True)
class ByTime:
    """The earliest rows to train, later ones held out, the latest to test.

    Parameters
    ----------
    column : str
        Numbers, dates, lengths of time, or words of one shape that begin with what matters most,
        like 2019-W05; the column is no feature then.
    shares : (float, float, float)
        Shares of train, held-out and test.
    """

    column: str
    shares: Shares = (0.6, 0.2, 0.2)

    def rows(
        self, data: Dataset, generator: np.random.Generator, strata: Strata | None = None
    ) -> Parts:
        """Row numbers of train, held-out and test; those of the train rows in random order."""
        shares = check_shares(self.shares)
        values = _column(data, self.column)
        late = np.array([value is None or value != value for value in values], dtype=bool)
        if late.any():
            row = int(np.argmax(late))
            raise DataError(f"column {self.column!r} has no time in row {row + 1}")
        if values.dtype == object and not _sorts_by_time(values):
            raise DataError(
                f"column {self.column!r} holds {values[0]!r}, which is no time that is known; "
                f"say how it is written, as --kind '{self.column}=date dmy' (day, month, year)"
            )
        order = np.argsort(values, kind="stable")
        n = len(values)
        cuts = (round(n * shares[0]), round(n * (shares[0] + shares[1])))
        train, held_out, test = np.split(order, cuts)
        return generator.permutation(train), held_out, test

    def describe(self, units: str = "rows", evenly: str = "stratified by the target") -> str:
        """The split in words."""
        return f"by the time in {self.column!r}: the latest rows test"


@dataclass(frozen=True)
class Given:
    """Test rows (and held-out rows) from files or data sets of their own.

    Parameters
    ----------
    test : path or Dataset
        The test rows.
    held_out : path or Dataset, optional
        The held-out rows; without them a quarter of the rows is held out, class by class, or whole
        documents where a file of sequences marks them.
    """

    test: Any
    held_out: Any = None

    column = None

    def rows(
        self, data: Dataset, generator: np.random.Generator, strata: Strata | None = None
    ) -> Parts:
        """Row numbers of train and held-out; none of the test rows is here."""
        nothing = np.empty(0, dtype=np.intp)
        if self.held_out is not None:
            return generator.permutation(len(data)), nothing, nothing
        shares = (0.75, 0.125, 0.125)
        way = Stratified(shares) if documents_of(data, shares) is None else ByDocument(shares)
        train, held_out, test = way.rows(data, generator, strata)
        return train, np.concatenate([held_out, test]), nothing

    def describe(self, units: str = "rows", evenly: str = "stratified by the target") -> str:
        """The split in words."""
        both = f" and held-out {units}" if self.held_out is not None else ""
        return f"test {units}{both} given"


def _sorts_by_time(values: npt.NDArray[Any]) -> bool:
    """Whether words are all of one shape, and no year stands at their end."""
    shapes = {re.sub(r"\d", "9", str(value)) for value in values}
    shapes = {re.sub(r"[^\W\d_]", "a", shape) for shape in shapes}
    return len(shapes) == 1 and re.search(r"\D9999$", shapes.pop()) is None


def check_shares(shares: Any) -> Shares:
    """Three positive shares that sum to one."""
    if np.shape(shares) != (3,) or min(shares) <= 0 or not np.isclose(sum(shares), 1):
        raise ParameterError(f"split must be three positive shares that sum to 1, got {shares!r}.")
    return shares[0], shares[1], shares[2]


def _column(data: Dataset, name: str) -> npt.NDArray[Any]:
    from separatrix.data.tables.assembly import find_column, with_schema

    if isinstance(data.X, TokenSequences):
        found = data.X.columns[find_column(name, list(data.X.names), "split")]
        firsts: npt.NDArray[Any] = found.flat[data.X.offsets[:-1]]
        return firsts
    data = with_schema(data)
    if not isinstance(data.X, dict):
        raise ParameterError(f"a split by {name!r} needs a table with that column")
    values: npt.NDArray[Any] = data.X[find_column(name, list(data.X), "split")]
    return values
