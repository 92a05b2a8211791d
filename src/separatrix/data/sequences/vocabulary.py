"""Distinct words, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from separatrix._core import WordIndex
from separatrix.errors import DataError

__all__ = ["Vocabulary"]


@dataclass(frozen=True, eq=False)
class Vocabulary(Sequence[str]):
    """Distinct words in the order of their first use, decoded when first looked at.

    Parameters
    ----------
    data : bytes
        The words in UTF-8, one after another.
    offsets : array of shape (n + 1,)
        Where each word begins in `data`, and where the last ends.

    Examples
    --------
    >>> words = Vocabulary.of(["the", "cat"])
    >>> words[1], len(words), list(words)
    ('cat', 2, ['the', 'cat'])
    """

    data: bytes
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """The vocabulary of distinct words."""
        words = list(words)
        try:
            data = "".join(words).encode()
        except UnicodeEncodeError:
            half = next(word for word in words if any("\ud800" <= c <= "\udfff" for c in word))
            message = f"word {half!r} holds half a character (a lone surrogate)"
            raise DataError(message) from None
        sizes = [len(word) if word.isascii() else len(word.encode()) for word in words]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        return cls(data, offsets)

    @cached_property
    def array(self) -> npt.NDArray[np.object_]:
        """The words as an array of str, shape (n,)."""
        bounds = self.offsets.tolist()
        pairs = pairwise(bounds)
        words = np.empty(len(self), dtype=object)
        words[:] = [self.data[start:end].decode() for start, end in pairs]
        return words

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of every word."""
        return {word: number for number, word in enumerate(self.array.tolist())}

    @cached_property
    def word_index(self) -> WordIndex:
        """Numbers of the words, for kernels that look words up."""
        return WordIndex(self.data, np.ascontiguousarray(self.offsets, dtype=np.int64))

    def __getstate__(self) -> dict[str, Any]:
        # What is made of the words on first use is made again elsewhere.
        return {"data": self.data, "offsets": self.offsets}

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        found = self.array[index]
        return found.tolist() if isinstance(index, slice) else str(found)

    def numbers_in(self, other: Vocabulary) -> npt.NDArray[np.int64]:
        """For each word its number in `other`, -1 where it has none; shape (n,).

        Examples
        --------
        >>> Vocabulary.of(["the", "cat"]).numbers_in(Vocabulary.of(["a", "cat"])).tolist()
        [-1, 1]
        """
        known = other.numbers
        found = (known.get(word, -1) for word in self.array.tolist())
        return np.fromiter(found, dtype=np.int64, count=len(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        same = self.data == other.data and np.array_equal(self.offsets, other.offsets)
        return bool(same)

    __hash__ = None  # type: ignore[assignment]
