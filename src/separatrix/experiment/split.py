"""Train, held-out and test rows; the test rows stay sealed until the choice is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError, SeparatrixError

__all__ = ["Rows", "SealError", "SealedTest", "Split", "split_rows"]


class SealError(SeparatrixError, RuntimeError):
    """The test set was opened before, or something tried to copy it."""


class Rows(NamedTuple):
    """Some rows of the data: X of shape (n, d), dense or CSR, and y of shape (n,)."""

    X: Any
    y: npt.NDArray[Any]


class SealedTest:
    """Test rows that can be opened once, in the name of the learner that was chosen.

    Parameters
    ----------
    rows : Rows
        The test rows.

    Examples
    --------
    >>> sealed = SealedTest(Rows(np.zeros((3, 2)), np.array([0, 1, 0])))
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

    def __init__(self, rows: Rows) -> None:
        self.n_rows = len(rows.y)
        self.opened_for: str | None = None
        # A closure keeps the rows out of reach of vars(), dir() and a careless attribute.
        self._take = [lambda: rows]

    def open(self, chosen: str) -> Rows:
        """Hand out the rows to score `chosen`; every later call raises SealError."""
        if self.opened_for is not None:
            raise SealError(f"The test set was opened before, for {self.opened_for!r}.")
        self.opened_for = chosen
        return self._take.pop()()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SealError("A sealed test set cannot be copied: a copy could be opened again.")


@dataclass(frozen=True)
class Split:
    """The three parts of a comparison's data."""

    train: Rows
    held_out: Rows
    test: SealedTest


def split_rows(
    X: Any,
    y: npt.NDArray[Any],
    shares: tuple[float, float, float] = (0.6, 0.2, 0.2),
    random_state: int = 0,
) -> Split:
    """Split rows at random into train, held-out and test, each class in the same shares.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The features.
    y : ndarray of shape (n,)
        The labels.
    shares : tuple of three floats, default=(0.6, 0.2, 0.2)
        Shares of train, held-out and test; they sum to 1.
    random_state : int, default=0
        Seed of the shuffle.

    Returns
    -------
    Split
        Rows in random order. Every class has at least one train row; a class of less than three
        rows may lack held-out or test rows.
    """
    if len(shares) != 3 or min(shares) <= 0 or not np.isclose(sum(shares), 1):
        raise ParameterError(f"split must be three positive shares that sum to 1, got {shares!r}.")
    generator = np.random.default_rng(random_state)
    parts: tuple[list[npt.NDArray[np.intp]], ...] = ([], [], [])
    _, codes = np.unique(y, return_inverse=True)
    order = generator.permutation(len(y))
    for code in range(codes.max() + 1):
        members = order[codes[order] == code]
        n_held_out, n_test = (int(share * len(members) + 0.5) for share in shares[1:])
        cuts = (len(members) - n_held_out - n_test, len(members) - n_test)
        if cuts[0] < 1:
            # Rounding took every row of a tiny class; training needs one.
            cuts = (1, max(1, cuts[1]))
        for part, rows in zip(parts, np.split(members, cuts), strict=True):
            part.append(rows)
    chosen = [generator.permutation(np.concatenate(part)) for part in parts]
    for name, rows in zip(("held-out", "test"), chosen[1:], strict=True):
        if len(rows) == 0:
            raise DataError(
                f"{len(y)} rows in {codes.max() + 1} classes are too few: no {name} rows are left."
            )
    train, held_out, test = (Rows(X[rows], y[rows]) for rows in chosen)
    return Split(train, held_out, SealedTest(test))
