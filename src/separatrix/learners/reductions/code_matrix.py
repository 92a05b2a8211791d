"""Code matrices: a word over -1, 0 and +1 for every class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError

__all__ = ["CodeMatrix"]

_SIGNS = {-1: "-", 0: "0", 1: "+"}


@dataclass(frozen=True, eq=False)
class CodeMatrix:
    """A code: row k is the word of class k, column l a two-class problem (Allwein et al. 2000).

    In column l the classes with +1 stand against those with -1; classes with 0 are left out. No
    two rows may be equal, and every column needs a +1 and a -1.

    Parameters
    ----------
    values : array-like of shape (K, L)
        Entries -1, 0 or +1.

    Examples
    --------
    >>> code = CodeMatrix([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> code.minimum_distance, code.errors_corrected
    (2.0, 0)
    >>> print(code)
    class  1 2 3
        1  + + +
        2  + - -
        3  - + -
        4  - - +
    4 classes, 3 columns; rows differ by 2 or more (2 on average), columns by 2; corrects no error
    """

    values: npt.NDArray[np.int8]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _checked(self.values))

    @property
    def n_classes(self) -> int:
        """K, the number of rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """L, the number of two-class problems."""
        return int(self.values.shape[1])

    @cached_property
    def row_distances(self) -> npt.NDArray[np.float64]:
        """Distances of shape (K, K): entries that differ, where a 0 counts one half."""
        M = self.values.astype(np.float64)
        return np.asarray((self.n_columns - M @ M.T) / 2)

    @cached_property
    def column_distances(self) -> npt.NDArray[np.float64]:
        """Distances of shape (L, L): to the column or to its negative, whichever is nearer.

        A column and its negative are the same problem with the sides exchanged.
        """
        M = self.values.astype(np.float64)
        return np.asarray((self.n_classes - np.abs(M.T @ M)) / 2)

    @property
    def minimum_distance(self) -> float:
        """Smallest distance of two rows, rho in Allwein et al. (2000)."""
        return float(_off_diagonal(self.row_distances).min())

    @property
    def errors_corrected(self) -> int:
        """How many columns may be wrong before Hamming decoding can go wrong.

        For codes without zeros that is floor((d - 1) / 2), d the minimum distance. Where the word
        of the right class has a 0 the column may say anything, which is counted against it.
        """
        M = self.values.astype(np.int64)
        positive, absolute = M != 0, np.abs(M)
        differ = (absolute @ absolute.T - M @ M.T) // 2
        only_own = positive.astype(np.int64) @ (~positive).T.astype(np.int64)
        # Twice the lead of the right class over another when no column of its own is wrong.
        lead = 2 * differ + only_own - only_own.T
        # A wrong column costs 4 where both words have an entry and differ, 2 where only it has.
        errors = np.where(
            lead <= 4 * differ, (lead - 1) // 4, differ + (lead - 4 * differ - 1) // 2
        )
        return max(0, int(_off_diagonal(errors).min()))

    def __repr__(self) -> str:
        return (
            f"CodeMatrix({self.n_classes} classes, {self.n_columns} columns, "
            f"minimum distance {self.minimum_distance:g}, corrects {self.errors_corrected})"
        )

    def __str__(self) -> str:
        width = max(5, len(str(self.n_classes)))
        cell = len(str(self.n_columns))
        head = " ".join(f"{number:>{cell}}" for number in range(1, self.n_columns + 1))
        lines = [f"{'class':>{width}}  {head}"]
        for number, row in enumerate(self.values.tolist(), start=1):
            signs = " ".join(f"{_SIGNS[value]:>{cell}}" for value in row)
            lines.append(f"{number:>{width}}  {signs}")
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        mean = float(_off_diagonal(self.row_distances).mean())
        columns = ""
        if self.n_columns > 1:
            columns = f", columns by {_off_diagonal(self.column_distances).min():g}"
        errors = self.errors_corrected
        corrects = f"{errors} errors" if errors > 1 else "one error" if errors else "no error"
        return (
            f"{self.n_classes} classes, {self.n_columns} columns; rows differ by "
            f"{self.minimum_distance:g} or more ({mean:.3g} on average){columns}; "
            f"corrects {corrects}"
        )


def _off_diagonal(matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = matrix[~np.eye(len(matrix), dtype=bool)]
    return values


def _checked(values: Any) -> npt.NDArray[np.int8]:
    """The entries as int8, or ParameterError with the place."""
    given = np.asarray(values)
    if given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise ParameterError(
            f"a code needs two rows or more and a column, got an array of shape {given.shape}"
        )
    wrong = ~np.isin(given, (-1, 0, 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ParameterError(
            f"code[{row}, {column}] = {given[row, column]!r}: entries must be -1, 0 or +1"
        )
    M = np.ascontiguousarray(given, dtype=np.int8)
    for sign in (1, -1):
        missing = np.count_nonzero(M * sign > 0, axis=0) == 0
        if missing.any():
            raise ParameterError(
                f"column {int(np.argmax(missing))} of the code has no {sign:+d}: a column must set "
                "classes against others"
            )
    _, first, inverse = np.unique(M, axis=0, return_index=True, return_inverse=True)
    earlier = first[inverse.ravel()]
    repeated = np.flatnonzero(earlier != np.arange(len(M)))
    if len(repeated):
        row = int(repeated[0])
        raise ParameterError(
            f"rows {int(earlier[row])} and {row} of the code are equal: their classes could not be "
            "told apart; add a column that separates them"
        )
    M.flags.writeable = False
    return M
