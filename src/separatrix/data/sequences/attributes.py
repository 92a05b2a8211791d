"""From what users have to `AttributeSequences`: tokens as dicts or lists, matrices with lengths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import encode_items as kernel
from separatrix.data.sequences.containers import AttributeSequences, TokenSequences, Vocabulary
from separatrix.errors import DataError

__all__ = ["as_attribute_sequences", "encode_items", "with_columns_of"]


def as_attribute_sequences(
    X: Any, vocabulary: Vocabulary | None = None, *, letters: bool = False
) -> AttributeSequences:
    """Sequences of tokens in the one form that the structured learners read.

    Parameters
    ----------
    X : AttributeSequences, (matrix, lengths), or sequence of sequences
        A pair holds a matrix of shape (n_tokens, n_attributes), sparse or dense, and the tokens of
        each sequence. In a sequence of sequences a token is a dict, a list of str or an array; a
        sequence may be a matrix.
    vocabulary : Vocabulary, optional
        Attributes to look for in dicts and lists; others are passed over. All of them without.
    letters : bool
        Whether a token that is a str has its letters for attributes, as in python-crfsuite;
        otherwise it is an error, since a word was meant.

    Examples
    --------
    >>> as_attribute_sequences([[{"word": "cat", "size": 3.0}], [["word:dog"]]]).vocabulary[:]
    ['word:cat', 'size', 'word:dog']
    >>> as_attribute_sequences((np.eye(3), [2, 1])).lengths
    array([2, 1])
    """
    if isinstance(X, AttributeSequences):
        return X.parted()
    if isinstance(X, TokenSequences):
        raise DataError(
            "X holds columns of tokens; make attributes of them first (Templates), or give every "
            "token as a dict"
        )
    if isinstance(X, tuple) and len(X) == 2 and (sp.issparse(X[0]) or np.ndim(X[0]) == 2):
        return AttributeSequences.of(*X)
    if isinstance(X, np.ndarray) and (X.dtype == object or X.ndim == 3):
        X = list(X)
    if sp.issparse(X) or isinstance(X, np.ndarray | str | Mapping) or not isinstance(X, Iterable):
        raise DataError(
            f"X is a {type(X).__name__}; expected a sequence of sequences of tokens, or a pair "
            "(matrix, lengths)"
        )
    sequences = X if isinstance(X, Sequence) else list(X)
    first = next((s for s in sequences if not isinstance(s, str) and _length(s)), None)
    if first is None or isinstance(first[0] if not sp.issparse(first) else None, Mapping):
        return encode_items(sequences, vocabulary, letters=letters)
    if sp.issparse(first) or isinstance(first, np.ndarray) or _is_numeric(first[0]):
        return _stack(sequences)
    return encode_items(sequences, vocabulary, letters=letters)


def _length(sequence: Any) -> int:
    return int(sequence.shape[0] if hasattr(sequence, "shape") else len(sequence))


def _is_numeric(token: Any) -> bool:
    if isinstance(token, np.ndarray):
        return bool(token.dtype.kind in "fiub")
    return (
        isinstance(token, Sequence)
        and not isinstance(token, str)
        and len(token) > 0
        and isinstance(token[0], int | float | np.number)
    )


def _stack(sequences: Sequence[Any]) -> AttributeSequences:
    """Sequences that are matrices of shape (length, n_attributes), one below the other."""
    parts: list[Any] = []
    for number, sequence in enumerate(sequences):
        part: Any = sequence if sp.issparse(sequence) else np.asarray(sequence)
        if part.ndim == 1 and part.size == 0:
            part = part.reshape(0, 0)
        if part.ndim != 2 or (not sp.issparse(part) and part.dtype.kind not in "fiub"):
            raise DataError(
                f"sequence {number} has shape {part.shape} and dtype {part.dtype}; expected "
                "numbers of shape (length, n_attributes)"
            )
        parts.append(part)
    width = max((part.shape[1] for part in parts), default=0)
    for number, part in enumerate(parts):
        if part.shape[0] and part.shape[1] != width:
            raise DataError(
                f"sequence {number} has {part.shape[1]} attributes per token, others have {width}"
            )
    full = [part for part in parts if part.shape[0]]
    lengths = [part.shape[0] for part in parts]
    if any(sp.issparse(part) for part in full):
        return AttributeSequences.of(sp.vstack([sp.csr_matrix(part) for part in full]), lengths)
    return AttributeSequences.of(np.vstack(full) if full else np.zeros((0, width)), lengths)


def encode_items(
    sequences: Iterable[Iterable[Any]],
    vocabulary: Vocabulary | None = None,
    *,
    letters: bool = False,
) -> AttributeSequences:
    """Tokens given as dicts or lists of str, numbered by their first use or by `vocabulary`.

    Attributes are named as python-crfsuite names them: a dict holds numbers, truth values, strings
    (``key:value``), and dicts, lists or sets whose names follow ``key:``; a list or set holds
    names. Bytes are text in UTF-8. Values that float32 holds exactly (ones, above all) are kept in
    float32. With `letters`, the letters of a token that is a str are its attributes.

    Examples
    --------
    >>> token = {"bias": 1, "word": "cat", "shape": {"title": True}, "suffix": ["at", "t"]}
    >>> encode_items([[token]])[0]
    [{'bias': 1.0, 'word:cat': 1.0, 'shape:title': 1.0, 'suffix:at': 1.0, 'suffix:t': 1.0}]
    """
    index = None if vocabulary is None else vocabulary.word_index
    indptr, columns, values, lengths, words = kernel(sequences, index, letters)
    names = Vocabulary(*words) if words is not None else vocabulary
    assert names is not None
    shape = (len(indptr) - 1, len(names))
    matrix: Any = sp.csr_matrix((values, columns, indptr), shape=shape, copy=False)
    matrix.has_canonical_format = True  # the kernel sorts, and adds up what is the same
    return AttributeSequences.of(matrix, lengths, names)


def with_columns_of(
    matrix: Any, found: Vocabulary | None, wanted: Vocabulary | None, n_columns: int, what: str
) -> Any:
    """The matrix with its columns named `found` brought to the order of `wanted`.

    Columns that are not wanted are dropped. Without names on either side the columns stay, and
    there must be `n_columns` of them.

    Examples
    --------
    >>> with_columns_of(
    ...     sp.csr_matrix([[1.0, 2.0]]), Vocabulary.of("ab"), Vocabulary.of("bc"), 2, "attributes"
    ... ).toarray()
    array([[2., 0.]])
    """
    if found is wanted or found is None or wanted is None or found == wanted:
        if matrix.shape[1] != n_columns:
            raise DataError(
                f"X has {matrix.shape[1]} {what}, but the model was fitted with {n_columns}"
            )
        return matrix
    index = wanted.numbers
    columns: npt.NDArray[np.int64] = np.array(
        [index.get(name, -1) for name in found], dtype=np.int64
    )
    target = columns[matrix.indices] if len(matrix.indices) else np.zeros(0, dtype=np.int64)
    kept = target >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    arrays = (
        matrix.data[kept],
        target[kept].astype(np.int32),
        before[matrix.indptr].astype(matrix.indptr.dtype),
    )
    result = sp.csr_matrix(arrays, shape=(matrix.shape[0], n_columns), copy=False)
    result.sort_indices()
    return result
