"""What templates make of sequences: sparse rows with named attributes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.sequences.containers import AttributeSequences, Vocabulary

__all__ = ["AttributeNames", "EncodedSequences"]

_Words = tuple[bytes, npt.NDArray[np.int64]]


class AttributeNames(Vocabulary):
    """The names of attributes, written when first looked at.

    Parameters
    ----------
    n : int
        How many there are.
    write : callable
        Gives the names in UTF-8, one after another, and where each begins and the last ends.
    """

    def __init__(self, n: int, write: Callable[[], _Words]) -> None:
        self.__dict__.update(_n=n, _write=write)  # a frozen dataclass has no other way

    @cached_property
    def _words(self) -> _Words:
        words: _Words = self.__dict__["_write"]()
        return words

    @property
    def data(self) -> bytes:
        """The names in UTF-8, one after another."""
        return self._words[0]

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each name begins, and where the last ends."""
        return self._words[1]

    def __len__(self) -> int:
        return int(self.__dict__["_n"])

    def __repr__(self) -> str:
        return f"AttributeNames({len(self)})"

    def __reduce__(self) -> tuple[type[Vocabulary], _Words]:
        return Vocabulary, self._words


@dataclass(frozen=True, eq=False, kw_only=True)
class EncodedSequences(AttributeSequences):
    """Sequences of tokens as sparse rows; a sequence of lists of dicts.

    Parameters
    ----------
    matrix : CSR matrix of shape (n_tokens, n_attributes)
        How often each attribute occurs at each token, float32.
    vocabulary : Vocabulary
        Names of the attributes, written when first looked at.
    offsets : int64 array of shape (n_sequences + 1,)
        Where each sequence begins, and where the last ends.
    on_states, on_transitions : bool arrays of shape (n_attributes,)
        Which attributes go with a label, and which with a pair of consecutive labels: those of the
        token before and of the token itself.
    label_bigrams : bool
        Whether the templates ask for pairs of labels as such.
    """

    vocabulary: Vocabulary = field(kw_only=False)
    on_states: npt.NDArray[np.bool_]
    on_transitions: npt.NDArray[np.bool_]
    label_bigrams: bool = True

    def parted(self) -> AttributeSequences:
        """The sequences with attributes of tokens and of edges in matrices of their own."""
        if not self.on_transitions.any():
            return self
        parts: list[Any] = []
        for mask in (self.on_states, self.on_transitions):
            names = Vocabulary.of(self.vocabulary.array[mask].tolist())
            parts.append((self.matrix[:, np.flatnonzero(mask)], names))
        (tokens, token_names), (edges, edge_names) = parts
        return AttributeSequences(tokens, token_names, self.offsets, edges, edge_names)

    def take(self, rows: npt.ArrayLike) -> EncodedSequences:
        """The sequences named by `rows`, with the same attributes."""
        taken = super().take(rows)
        return replace(self, matrix=taken.matrix, offsets=taken.offsets)
