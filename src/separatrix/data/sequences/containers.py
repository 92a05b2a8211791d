"""Sequences of tokens: columns of numbered words, or sparse attributes; plain lists on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data.sequences.vocabulary import Vocabulary
from separatrix.errors import DataError

__all__ = ["AttributeSequences", "LabelLists", "TokenColumn", "TokenSequences", "Vocabulary"]

Item = TypeVar("Item")
Integers = npt.NDArray[np.int64]
#: Several rows: their numbers or a mask; scikit-learn adds an ellipsis.
Rows = list[int] | tuple[Any, ...] | npt.NDArray[Any]


class LabelLists(list[Any]):
    """The labels of every sequence: a list of lists, which numpy takes for a vector of lists.

    So scikit-learn's tools can put predictions of sequences of different lengths together.

    Examples
    --------
    >>> labels = LabelLists([["D", "N"], ["V"]])
    >>> labels == [["D", "N"], ["V"]], np.concatenate([labels, labels]).shape
    (True, (4,))
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        vector = np.empty(len(self), dtype=object)
        vector[:] = list(self)
        return vector


class _Sequences(Sequence[list[Item]], Generic[Item]):
    """What all sequences of sequences share: `offsets` tell where each begins and the last ends.

    Subclasses give the items from one place up to another, and take sequences by their numbers.
    """

    offsets: Integers

    def _items(self, start: int, end: int) -> list[Item]:
        raise NotImplementedError

    def take(self, rows: npt.ArrayLike) -> Self:
        """The sequences named by `rows`."""
        raise NotImplementedError

    @property
    def lengths(self) -> Integers:
        """Tokens of each sequence, shape (n_sequences,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def shape(self) -> tuple[int]:
        """Number of sequences; by it scikit-learn knows that it can take rows by an array."""
        return (len(self),)

    @overload
    def __getitem__(self, index: int) -> list[Item]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[Item]]: ...
    @overload
    def __getitem__(self, index: Rows) -> Self: ...
    def __getitem__(self, index: int | slice | Rows) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if isinstance(index, tuple):
            return self[index[0]]
        if isinstance(index, list | np.ndarray):
            return self.take(index)
        return self._items(*_bounds(self.offsets, index))


@dataclass(frozen=True, eq=False)
class TokenColumn(_Sequences[str]):
    """One word per token, as numbers; a sequence of lists of str.

    Parameters
    ----------
    codes : int32 array of shape (n_tokens,)
        Number of the word of every token.
    vocabulary : Vocabulary
    offsets : int64 array of shape (n_sequences + 1,)
        Where each sequence begins, and where the last ends.

    Examples
    --------
    >>> tags = TokenColumn.of([["B", "I"], ["O", "B"]])
    >>> tags[1], tags.codes.tolist(), list(tags.vocabulary)
    (['O', 'B'], [0, 1, 2, 0], ['B', 'I', 'O'])
    """

    codes: npt.NDArray[np.int32]
    vocabulary: Vocabulary
    offsets: Integers

    @classmethod
    def of(cls, sequences: Iterable[Iterable[Any]]) -> TokenColumn:
        """The column that holds `sequences` of words."""
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(str(word), len(numbers)) for word in row] for row in sequences]
        codes = np.array([code for row in rows for code in row], dtype=np.int32)
        return cls(codes, Vocabulary.of(numbers), _starts([len(row) for row in rows]))

    @property
    def flat(self) -> npt.NDArray[np.object_]:
        """The words of all tokens, shape (n_tokens,)."""
        words: npt.NDArray[np.object_] = self.vocabulary.array[self.codes]
        return words

    def _items(self, start: int, end: int) -> list[str]:
        words: list[str] = self.vocabulary.array[self.codes[start:end]].tolist()
        return words

    def tolist(self) -> list[list[str]]:
        """All sequences as lists of str."""
        words, bounds = self.flat.tolist(), self.offsets.tolist()
        return [words[a:b] for a, b in pairwise(bounds)]

    def take(self, rows: npt.ArrayLike) -> TokenColumn:
        """The sequences named by `rows`, with the same vocabulary."""
        tokens, offsets = _gather(self.offsets, rows)
        return TokenColumn(self.codes[tokens], self.vocabulary, offsets)

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The distinct words in use, sorted; a missing one (-1) is none of them."""
        used = np.unique(self.codes)
        return np.sort(self.vocabulary.array[used[used >= 0]].astype(str))

    def joined(self, other: TokenColumn) -> TokenColumn:
        """These sequences and those of `other` behind them.

        Examples
        --------
        >>> TokenColumn.of([["a", "b"]]).joined(TokenColumn.of([["b"], ["c"]])).tolist()
        [['a', 'b'], ['b'], ['c']]
        """
        words, codes = self.vocabulary, other.codes
        if other.vocabulary is not words:
            numbers = other.vocabulary.numbers_in(words)
            new = np.flatnonzero(numbers < 0)
            numbers[new] = len(words) + np.arange(len(new))
            added = other.vocabulary.array[new].tolist()
            words = Vocabulary.of([*words, *added])
            codes = np.append(numbers, -1)[codes].astype(np.int32)
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return TokenColumn(np.concatenate([self.codes, codes]), words, offsets)


@dataclass(frozen=True, eq=False)
class TokenSequences(_Sequences[tuple[str, ...]]):
    """Sequences of tokens with named columns; a sequence of lists of tuples of str.

    Parameters
    ----------
    columns : dict of str to TokenColumn
        In the order of the file; all share `offsets`.
    offsets : int64 array of shape (n_sequences + 1,)
    comments : tuple of tuple of str
        Comment lines of each sequence (CoNLL-U); empty where there are none.
    documents : int64 array of shape (n_sequences,), optional
        Number of the document that each sequence is from, where the file marks documents.
    written : object, optional
        The lines of the file as they are (`separatrix.data.formats.conll.Written`), of pieces
        of a file that is read piece by piece.

    Examples
    --------
    >>> words = TokenColumn.of([["the", "cat"], ["sat"]])
    >>> tags = TokenColumn.of([["D", "N"], ["V"]])
    >>> sequences = TokenSequences({"word": words, "tag": tags}, words.offsets)
    >>> sequences[0], len(sequences), sequences.columns["tag"].tolist()
    ([('the', 'D'), ('cat', 'N')], 2, [['D', 'N'], ['V']])
    """

    columns: dict[str, TokenColumn]
    offsets: Integers
    comments: tuple[tuple[str, ...], ...] = ()
    documents: Integers | None = None
    written: Any = None

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            if column.offsets is not self.offsets and not np.array_equal(
                column.offsets, self.offsets
            ):
                raise DataError(f"column {name!r} has sequences of other lengths")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    def _items(self, start: int, end: int) -> list[tuple[str, ...]]:
        columns = (column._items(start, end) for column in self.columns.values())
        return list(zip(*columns, strict=True))

    def tolist(self) -> list[list[tuple[str, ...]]]:
        """All sequences as lists of tuples."""
        tokens = list(zip(*(column.flat.tolist() for column in self.columns.values()), strict=True))
        bounds = self.offsets.tolist()
        return [tokens[a:b] for a, b in pairwise(bounds)]

    def take(self, rows: npt.ArrayLike) -> TokenSequences:
        """The sequences named by `rows`."""
        rows = _row_numbers(rows, len(self))
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        comments = tuple(self.comments[row] for row in rows.tolist()) if self.comments else ()
        documents = None if self.documents is None else self.documents[rows]
        return TokenSequences(columns, _gather(self.offsets, rows)[1], comments, documents)

    def joined(self, other: TokenSequences) -> TokenSequences:
        """These sequences and those of `other`, which has the same columns, behind them."""
        if self.names != other.names:
            raise DataError(f"columns {list(self.names)} and {list(other.names)} do not fit")
        columns = {
            name: column.joined(other.columns[name]) for name, column in self.columns.items()
        }
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        none: tuple[tuple[str, ...], ...] = ((),)
        comments = (
            (self.comments or none * len(self)) + (other.comments or none * len(other))
            if self.comments or other.comments
            else ()
        )
        return TokenSequences(columns, offsets, comments, _joined_documents(self, other))


def _joined_documents(first: TokenSequences, second: TokenSequences) -> Integers | None:
    """Documents of both: those of the second are others."""
    if first.documents is None or second.documents is None:
        return None
    beyond = int(first.documents.max(initial=-1)) + 1
    return np.concatenate([first.documents, beyond + second.documents])


@dataclass(frozen=True, eq=False)
class AttributeSequences(_Sequences[dict[str, float]]):
    """Sequences of tokens with weighted attributes; a sequence of lists of dicts.

    The one form in which the structured learners read data. An array of numbers or of truth values
    as an index takes these sequences, so that scikit-learn's splits work.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_tokens, n_attributes)
        Value of every attribute of every token, in CSR form.
    vocabulary : Vocabulary or None
        Name of every attribute; None for columns without names.
    offsets : int64 array of shape (n_sequences + 1,)
        Where each sequence begins, and where the last ends.
    edge_matrix : sparse matrix of shape (n_tokens, n_edge_attributes), optional
        Attributes that are seen together with the labels of the token and of the one before it.
    edge_vocabulary : Vocabulary or None
        Their names.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> X = AttributeSequences.of(sp.csr_matrix(np.eye(3)), [2, 1], ["a", "b", "c"])
    >>> X[0], len(X), X[np.array([1])].tolist()
    ([{'a': 1.0}, {'b': 1.0}], 2, [[{'c': 1.0}]])
    """

    matrix: Any
    vocabulary: Vocabulary | None
    offsets: Integers
    edge_matrix: Any = None
    edge_vocabulary: Vocabulary | None = None

    @classmethod
    def of(
        cls,
        matrix: Any,
        lengths: npt.ArrayLike,
        names: Iterable[str] | None = None,
        edge_matrix: Any = None,
        edge_names: Iterable[str] | None = None,
    ) -> AttributeSequences:
        """Sequences of so many `lengths` of the rows of a matrix, sparse or dense."""
        lengths = np.asarray(lengths)
        if lengths.ndim != 1 or (lengths.size and lengths.dtype.kind not in "iu"):
            raise DataError("lengths must be a vector of whole numbers")
        if (lengths < 0).any():
            raise DataError(f"sequence {int(np.argmax(lengths < 0))} has a negative length")
        matrix, edge_matrix = _rows(matrix), None if edge_matrix is None else _rows(edge_matrix)
        for rows in (matrix,) if edge_matrix is None else (matrix, edge_matrix):
            if lengths.sum() != rows.shape[0]:
                raise DataError(
                    f"lengths add up to {int(lengths.sum())}, but there are {rows.shape[0]} tokens"
                )
        names, edge_names = _vocabulary(names, matrix), _vocabulary(edge_names, edge_matrix)
        return cls(matrix, names, _starts(lengths.tolist()), edge_matrix, edge_names)

    def joined(self, other: AttributeSequences) -> AttributeSequences:
        """These sequences and the others behind them; attributes are the same by their names.

        Examples
        --------
        >>> first = AttributeSequences.of(sp.csr_matrix([[1.0, 0.0]]), [1], ["a", "b"])
        >>> second = AttributeSequences.of(sp.csr_matrix([[2.0, 3.0]]), [1], ["b", "c"])
        >>> first.joined(second).tolist()
        [[{'a': 1.0}], [{'b': 2.0, 'c': 3.0}]]
        """
        if self.edge_matrix is not None or other.edge_matrix is not None:
            raise DataError("sequences with attributes of edges cannot be joined")
        names, matrices = self.vocabulary, [self.matrix, other.matrix]
        if names is not other.vocabulary:
            if names is None or other.vocabulary is None:
                raise DataError("sequences with and without names of attributes cannot be joined")
            known = names[:]
            more = sorted(set(other.vocabulary[:]) - set(known))
            names = Vocabulary.of([*known, *more])
            place = {name: at for at, name in enumerate([*known, *more])}
            moved = np.array([place[name] for name in other.vocabulary[:]], dtype=np.int64)
            shapes = [(one.shape[0], len(place)) for one in matrices]
            columns = [self.matrix.indices, moved[other.matrix.indices]]
            matrices = [
                sp.csr_matrix((one.data, own, one.indptr), shape=shape)
                for one, own, shape in zip(matrices, columns, shapes, strict=True)
            ]
        joined = sp.csr_matrix(sp.vstack(matrices, format="csr"))
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return AttributeSequences(joined, names, offsets)

    def _items(self, start: int, end: int) -> list[dict[str, float]]:
        return [self._token(row) for row in range(start, end)]

    def parted(self) -> AttributeSequences:
        """The sequences with attributes of tokens and of edges in matrices of their own."""
        return self

    def _token(self, row: int) -> dict[str, float]:
        matrix = self.matrix
        stored = slice(matrix.indptr[row], matrix.indptr[row + 1])
        columns = matrix.indices[stored]
        names = map(str, columns.tolist())
        if self.vocabulary is not None:
            names = self.vocabulary.array[columns].tolist()
        return dict(zip(names, matrix.data[stored].tolist(), strict=True))

    def tolist(self) -> list[list[dict[str, float]]]:
        """All sequences as lists of dicts."""
        return self[:]

    def take(self, rows: npt.ArrayLike) -> AttributeSequences:
        """The sequences named by `rows`, with the same vocabulary."""
        items, offsets = _gather(self.offsets, rows)
        edges = None if self.edge_matrix is None else self.edge_matrix[items]
        return AttributeSequences(
            self.matrix[items], self.vocabulary, offsets, edges, self.edge_vocabulary
        )


def _rows(matrix: Any) -> Any:
    """A CSR matrix of float32 or float64 with sorted, distinct columns in every row."""
    sparse = sp.csr_matrix(matrix)
    if sparse.dtype not in (np.float32, np.float64):
        if sparse.dtype.kind not in "iub":
            raise DataError(f"the attributes are of dtype {sparse.dtype}; expected numbers")
        sparse = sparse.astype(np.float64)
    if not sparse.has_canonical_format:
        sparse = sparse.copy() if sparse is matrix else sparse
        sparse.sum_duplicates()
    return sparse


def _vocabulary(names: Iterable[str] | None, matrix: Any) -> Vocabulary | None:
    if names is None:
        return None
    words = names if isinstance(names, Vocabulary) else Vocabulary.of(names)
    if matrix is None or len(words) != matrix.shape[1]:
        columns = 0 if matrix is None else matrix.shape[1]
        raise DataError(f"there are {len(words)} names for {columns} attributes")
    return words


def _starts(lengths: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _bounds(offsets: Integers, index: int) -> tuple[int, int]:
    n = len(offsets) - 1
    if not -n <= index < n:
        raise IndexError(f"sequence {index} of {n}")
    index %= n
    return int(offsets[index]), int(offsets[index + 1])


def _row_numbers(rows: npt.ArrayLike, n: int) -> Integers:
    array = np.asarray(rows)
    if array.dtype == np.bool_:
        array = np.flatnonzero(array)
    return np.arange(n)[array.astype(np.int64)]


def _gather(offsets: Integers, rows: npt.ArrayLike) -> tuple[Integers, Integers]:
    """The tokens of the sequences `rows`, and where these begin among them."""
    rows = _row_numbers(rows, len(offsets) - 1)
    lengths = np.diff(offsets)[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = np.arange(starts[-1]) + np.repeat(offsets[rows] - starts[:-1], lengths)
    return tokens, starts
