"""Which kind of variable each column is, and errors that name the column."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import survey
from separatrix.errors import DataError, ParameterError
from separatrix.structures.labels import Design
from separatrix.validation import is_sparse

__all__ = ["BERNOULLI", "CATEGORICAL", "GAUSSIAN", "KINDS", "MULTINOMIAL", "Columns", "named"]

#: Kinds in the order of the kernels' numbers.
KINDS = ("multinomial", "bernoulli", "gaussian", "categorical")
MULTINOMIAL, BERNOULLI, GAUSSIAN, CATEGORICAL = range(4)


@dataclass(frozen=True, eq=False)
class Columns:
    """The kind of every column.

    Attributes
    ----------
    kinds : ndarray of uint8 of shape (d,)
        Positions in `KINDS`.
    guessed : ndarray of bool of shape (d,)
        Whether the column was taken for Bernoulli because it held nothing but zeros and ones.
    bags : ndarray of int32 of shape (d,) or None
        Numbers of the bags of multinomial columns, where there are several.
    """

    kinds: npt.NDArray[np.uint8]
    guessed: npt.NDArray[np.bool_]
    bags: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(cls, features: Any, X: Any, design: Design, names: Any, n_threads: int) -> Columns:
        """The kinds that the parameter `features` asks for, "auto" decided by the data."""
        given, bags = _given_kinds(features, X.shape[1], names)
        auto = given < 0
        guessed = np.zeros(len(given), dtype=bool)
        if auto.any():
            lowest, _, binary, _ = survey(design, n_threads)
            binary = binary.astype(bool)
            counts = not binary[auto].all() and not (lowest[auto] < 0).any()
            if counts and _like_words(X, auto):
                given[auto] = MULTINOMIAL
            else:
                guessed = auto & binary
                given[auto] = np.where(binary[auto], BERNOULLI, GAUSSIAN)
        return cls(given.astype(np.uint8), guessed, bags)

    def sizes(self, design: Design, at_least: Any, n_threads: int) -> npt.NDArray[np.int64] | None:
        """Number of categories of every column, 0 where it has none; None where no column has."""
        categorical = self.kinds == CATEGORICAL
        if not categorical.any():
            return None
        lowest, highest, _, whole = survey(design, n_threads)
        bad = categorical & ((whole == 0) | (lowest < 0))
        if bad.any():
            column = int(np.argmax(bad))
            raise DataError(
                "categorical features must be whole numbers 0, 1, 2, …; there are others in "
                f"column {column}: encode it first (sklearn.preprocessing.OrdinalEncoder)"
            )
        if (highest[categorical] >= 2**31).any():
            column = int(np.argmax(categorical & (highest >= 2**31)))
            raise DataError(f"there are too many categories (beyond 2^31) in column {column}")
        seen = np.where(np.isfinite(highest), highest, 0) + 1
        wanted = np.zeros(len(seen)) if at_least is None else np.asarray(at_least)
        return np.where(categorical, np.maximum(seen, wanted), 0).astype(np.int64)

    def check(self, X: Any, design: Design, n_threads: int) -> None:
        """Raise DataError where further rows show that a guess was wrong."""
        if not self.guessed.any():
            return
        wrong = self.guessed & (survey(design, n_threads)[2] == 0)
        if wrong.any():
            raise DataError(
                "features='auto' took columns of zeros and ones for Bernoulli variables, but now "
                f"there are other values in column {int(np.argmax(wrong))}; name the kinds, for "
                "example features='gaussian'"
            )


def _like_words(X: Any, columns: npt.NDArray[np.bool_]) -> bool:
    """Whether these columns are mostly zero, and none of them is other than zero in every row.

    Of all words a page uses few, and hardly any is on all pages; a table has numbers that are
    never zero beside its many flags.
    """
    if is_sparse(X):
        filled = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])[columns]
    else:
        filled = np.count_nonzero(X if columns.all() else X[:, columns], axis=0)
    n = X.shape[0]
    return bool(2 * filled.sum() < n * len(filled) and (filled < n).all())


def _given_kinds(
    features: Any, d: int, names: Any
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32] | None]:
    """The kind of every column as requested, -1 for "auto", and the numbers of their bags."""
    codes = {name: code for code, name in enumerate(KINDS)} | {"auto": -1}
    # What follows "multinomial:" is the name of a bag; those without one are a bag together.
    numbers = {"": 0}

    def code(kind: Any) -> int:
        if not isinstance(kind, str):
            raise ParameterError(f"features must be of {tuple(codes)}, got {kind!r}")
        plain, colon, bag = str(kind).partition(":")
        if plain not in codes or (colon and plain != "multinomial"):
            raise ParameterError(
                f"features must be of {tuple(codes)}, or 'multinomial:' and the name of a bag, "
                f"got {kind!r}"
            )
        return codes[plain] + (numbers.setdefault(bag, len(numbers)) << 3 if colon else 0)

    given = _codes(features, d, names, code)
    kinds = np.where(given < 0, -1, given & 7)
    return kinds, np.maximum(given >> 3, 0).astype(np.int32) if len(numbers) > 1 else None


def _codes(features: Any, d: int, names: Any, code: Callable[[Any], int]) -> npt.NDArray[np.int64]:
    """A number for the kind of every column, -1 where none is named."""
    if isinstance(features, Mapping):
        given = np.full(d, -1)
        numbers = {} if names is None else {name: j for j, name in enumerate(names)}
        for column, kind in features.items():
            j = numbers.get(column, column)
            if isinstance(j, bool) or not isinstance(j, int | np.integer) or not -d <= j < d:
                raise ParameterError(f"features names a column {column!r} that X does not have")
            given[j] = code(kind)
        return given
    if isinstance(features, str):
        return np.full(d, code(features))
    kinds = list(features)
    if len(kinds) != d:
        raise ParameterError(f"features names {len(kinds)} kinds, but X has {d} columns")
    return np.array([code(kind) for kind in kinds], dtype=np.int64)


def named(error: DataError, names: Any) -> DataError:
    """The error with the column's name in place of its number, where X has names."""
    if names is None:
        return error
    return DataError(
        re.sub(r"column (\d+)", lambda found: f"column {names[int(found[1])]!r}", str(error))
    )
