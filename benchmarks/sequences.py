"""conll2000 with the template of the chunking benchmarks, encoded once.

The template: a bias; words and parts of speech at -2 … 2; word bigrams (-1, 0) and (0, 1); bigrams
and trigrams of parts of speech inside -2 … 2. A token's attributes are numbers, or -1 where the
sentence ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.data import data_root

IntArray = npt.NDArray[np.int64]

#: (column, offsets) of every attribute; the bias has none.
TEMPLATE: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("word", ()),
    *(("word", (offset,)) for offset in range(-2, 3)),
    *(("pos", (offset,)) for offset in range(-2, 3)),
    ("word", (-1, 0)),
    ("word", (0, 1)),
    *(("pos", (offset, offset + 1)) for offset in range(-2, 2)),
    *(("pos", (offset, offset + 1, offset + 2)) for offset in range(-2, 1)),
)


class Split(NamedTuple):
    """One file: attribute numbers (n_tokens, 20), labels (n_tokens,), tokens of each sentence."""

    attributes: IntArray
    labels: IntArray
    lengths: IntArray

    @property
    def matrix(self) -> Any:
        """The attributes as CSR of float32 ones, shape (n_tokens, largest number + 1)."""
        found = self.attributes >= 0
        indptr = np.append(0, np.cumsum(found.sum(axis=1))).astype(np.int32)
        indices = self.attributes[found].astype(np.int32)
        ones = np.ones(len(indices), dtype=np.float32)
        matrix = sparse.csr_matrix((ones, indices, indptr), shape=(len(found), n_attributes()))
        matrix.sort_indices()
        return matrix

    def strings(self) -> list[list[list[str]]]:
        """Sentences of tokens of attributes, as python-crfsuite takes them."""
        return list(self.each_of_strings())

    def each_of_strings(self) -> Iterator[list[list[str]]]:
        """The same, one sentence at a time."""
        end = 0
        for n in self.lengths.tolist():
            rows = self.attributes[end : end + n].tolist()
            yield [[str(a) for a in row if a >= 0] for row in rows]
            end += n

    def tags(self) -> list[list[str]]:
        """Labels of the sentences."""
        words = np.array(conll2000()[2])[self.labels].tolist()
        ends = np.cumsum(self.lengths).tolist()
        return [words[end - n : end] for end, n in zip(ends, self.lengths.tolist(), strict=True)]

    def head(self, n: int) -> Split:
        """The first n sentences."""
        tokens = int(self.lengths[:n].sum())
        return Split(self.attributes[:tokens], self.labels[:tokens], self.lengths[:n])


def _shifted(codes: IntArray, lengths: IntArray, offset: int) -> IntArray:
    """The code at an offset from every token; -1 outside its sentence."""
    ends = np.repeat(np.cumsum(lengths), lengths)
    starts = ends - np.repeat(lengths, lengths)
    at = np.arange(len(codes)) + offset
    inside = (at >= starts) & (at < ends)
    return np.where(inside, codes[np.clip(at, 0, len(codes) - 1)], -1)


@lru_cache(maxsize=1)
def conll2000() -> tuple[Split, Split, list[str]]:
    """The training and the test file, and the names of the labels."""
    from separatrix.data import read

    parts = []
    numbers: tuple[dict[str, int], dict[str, int], dict[str, int]] = ({}, {}, {})
    for name in ("train", "test"):
        X: Any = read(data_root() / "conll2000" / f"{name}.txt.gz", target=None).X
        columns = list(X.columns.values())
        coded = []
        for column, table in zip(columns, numbers, strict=True):
            words = [table.setdefault(word, len(table)) for word in column.vocabulary]
            coded.append(np.array(words, dtype=np.int64)[column.codes])
        parts.append((*coded, X.lengths))
    n_words, n_pos = len(numbers[0]), len(numbers[1])
    n_train = len(parts[0][0])
    blocks: list[list[IntArray]] = [[], []]
    first = 0
    for column, offsets in TEMPLATE:
        number, size = (0, n_words) if column == "word" else (1, n_pos)
        keys = []
        for part in parts:
            key = np.zeros(len(part[0]), dtype=np.int64)
            outside = np.zeros(len(part[0]), dtype=bool)
            for offset in offsets:
                code = _shifted(part[number], part[3], offset)
                outside |= code < 0
                key = key * size + code
            keys.append(np.where(outside, -1, key))
        known = np.unique(keys[0][keys[0] >= 0])
        for block, key in zip(blocks, keys, strict=True):
            place = np.minimum(np.searchsorted(known, key), len(known) - 1)
            block.append(np.where((key >= 0) & (known[place] == key), first + place, -1))
        first += len(known)
    assert len(blocks[0][0]) == n_train
    splits = [
        Split(np.column_stack(block), part[2], part[3])
        for block, part in zip(blocks, parts, strict=True)
    ]
    return splits[0], splits[1], list(numbers[2])


@lru_cache(maxsize=1)
def n_attributes() -> int:
    """Number of attributes seen in the training file."""
    return int(conll2000()[0].attributes.max()) + 1


def n_labels() -> int:
    """Number of labels seen in the training file; they come first among the names."""
    return int(conll2000()[0].labels.max()) + 1
