"""What templates learned: the attributes, in arrays that survive a pickle and a model file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import TemplateIndex
from separatrix.data.sequences.containers import TokenSequences, Vocabulary
from separatrix.features.sparse import make_csr
from separatrix.features.templates.compiled import CompiledTemplates
from separatrix.features.templates.encoded import AttributeNames, EncodedSequences
from separatrix.features.templates.values import Dictionaries, kernel_columns

__all__ = ["TemplateModel"]

_Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]


class TemplateModel:
    """Templates and the attributes they made of training data, or the columns they hash to.

    Parameters
    ----------
    compiled : CompiledTemplates
        The templates.
    dictionaries : dict of str to list of tuples of str
        Entries by name of the dictionary.
    n_hashed : int or None
        Number of columns to hash to; None to learn attributes.
    """

    def __init__(
        self, compiled: CompiledTemplates, dictionaries: Dictionaries, n_hashed: int | None
    ) -> None:
        self.compiled = compiled
        self.dictionaries = dictionaries
        self.n_hashed = n_hashed
        self.index: TemplateIndex | None = None
        self._names: AttributeNames | None = None
        self._masks: dict[str, npt.NDArray[np.bool_]] = {}

    def learn(
        self, sequences: TokenSequences, min_count: int, keep: bool, n_threads: int
    ) -> EncodedSequences | None:
        """Learn the attributes of sequences; with `keep`, encode them too."""
        columns = kernel_columns(self.compiled, sequences, self.dictionaries)
        if self.n_hashed is not None:
            return self.encode(sequences, n_threads) if keep else None
        self.index, rows = self.compiled.handle.learn(
            columns, sequences.offsets, min_count, keep, n_threads
        )
        self._names, self._masks = None, {}
        return None if rows is None else self._encoded(rows, sequences)

    def encode(self, sequences: TokenSequences, n_threads: int) -> EncodedSequences:
        """The rows of sequences; attributes that were not learned are passed over."""
        columns = kernel_columns(self.compiled, sequences, self.dictionaries)
        offsets = sequences.offsets
        if self.n_hashed is not None:
            rows = self.compiled.handle.hash(columns, offsets, self.n_hashed, n_threads)
        else:
            rows = self._learned().encode(columns, offsets, n_threads)
        return self._encoded(rows, sequences)

    def _learned(self) -> TemplateIndex:
        if self.index is None:
            raise RuntimeError("nothing was learned")
        return self.index

    @property
    def n_attributes(self) -> int:
        """Number of columns."""
        return self._learned().n_attributes if self.n_hashed is None else self.n_hashed

    @property
    def names(self) -> AttributeNames:
        """Names of the columns."""
        if self._names is None:
            self._names = AttributeNames(self.n_attributes, self._write_names)
        return self._names

    def _write_names(self) -> tuple[bytes, npt.NDArray[np.int64]]:
        if self.n_hashed is None:
            return self._learned().names()
        written = Vocabulary.of(f"hash{j}" for j in range(self.n_hashed))
        return written.data, written.offsets

    def goes_with(self, what: str) -> npt.NDArray[np.bool_]:
        """Which attributes go with "states" or with "transitions"; not to be written to."""
        if what not in self._masks:
            if self.n_hashed is None:
                mask = self.compiled.goes_with(what, self._learned().offsets())
            else:
                mask = np.full(self.n_hashed, what == "states", dtype=bool)
            mask.flags.writeable = False  # all rows that are encoded share it
            self._masks[what] = mask
        return self._masks[what]

    def _encoded(self, rows: _Rows, sequences: TokenSequences) -> EncodedSequences:
        return EncodedSequences(
            make_csr(*rows, self.n_attributes),
            self.names,
            sequences.offsets,
            on_states=self.goes_with("states"),
            on_transitions=self.goes_with("transitions"),
            label_bigrams=self.compiled.label_bigrams,
        )

    def __getstate__(self) -> dict[str, Any]:
        learned = None
        if self.index is not None:
            spaces = [
                (np.frombuffer(data, dtype=np.uint8), starts)
                for data, starts in self.index.spaces()
            ]
            learned = {"spaces": spaces, "keys": self.index.keys()}
        return {
            "compiled": self.compiled,
            "dictionaries": self.dictionaries,
            "n_hashed": self.n_hashed,
            "learned": learned,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["compiled"], state["dictionaries"], state["n_hashed"])  # type: ignore[misc]
        learned = state["learned"]
        if learned is not None:
            spaces = [(data.tobytes(), starts) for data, starts in learned["spaces"]]
            self.index = TemplateIndex(self.compiled.handle, spaces, learned["keys"])
