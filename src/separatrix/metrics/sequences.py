"""Measures of labeled sequences: tokens, whole sequences, and chunks as conlleval counts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError

__all__ = [
    "ChunkReport",
    "chunk_counts",
    "chunk_f1",
    "chunk_report",
    "chunks",
    "sequence_accuracy",
    "token_accuracy",
    "token_counts",
]

Integers = npt.NDArray[np.int64]


def _flat(y_true: Iterable[Sequence[Any]], y_pred: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """Numbers of all labels, the labels, and the lengths; both sides must agree in lengths."""
    numbers: dict[Any, int] = {}
    sides, lengths = [], []
    for y in (y_true, y_pred):
        rows = [list(row) for row in y]
        codes = [numbers.setdefault(label, len(numbers)) for row in rows for label in row]
        sides.append(np.array(codes, dtype=np.int64))
        lengths.append([len(row) for row in rows])
    if len(lengths[0]) != len(lengths[1]):
        raise DataError(f"y_true has {len(lengths[0])} sequences, y_pred has {len(lengths[1])}")
    for number, (a, b) in enumerate(zip(*lengths, strict=True)):
        if a != b:
            raise DataError(f"sequence {number} has {a} labels in y_true, {b} in y_pred")
    return sides[0], sides[1], list(numbers), np.array(lengths[0], dtype=np.int64)


def _weights(sample_weight: Any, n: int) -> npt.NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise DataError(f"sample_weight must have shape ({n},), got {weights.shape}")
    return weights


def token_accuracy(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of the tokens that are labeled right; NaN without tokens.

    Parameters
    ----------
    y_true, y_pred : sequences of sequences of labels
    sample_weight : array-like of shape (n_sequences,), optional
        Weight of all tokens of a sequence.

    Examples
    --------
    >>> token_accuracy([["B", "O"], ["O"]], [["B", "B"], ["O"]])
    0.6666666666666666
    """
    true, found, _, lengths = _flat(y_true, y_pred)
    weights = np.repeat(_weights(sample_weight, len(lengths)), lengths)
    total = weights.sum()
    return float(weights[true == found].sum() / total) if total > 0 else float("nan")


def sequence_accuracy(y_true: Any, y_pred: Any, *, sample_weight: Any = None) -> float:
    """Share of the sequences that are labeled right from end to end; NaN without sequences.

    Examples
    --------
    >>> sequence_accuracy([["B", "O"], ["O"]], [["B", "B"], ["O"]])
    0.5
    """
    true, found, _, lengths = _flat(y_true, y_pred)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    right = np.bincount(owner, weights=true != found, minlength=len(lengths)) == 0
    weights = _weights(sample_weight, len(lengths))
    total = weights.sum()
    return float(weights[right].sum() / total) if total > 0 else float("nan")


def token_counts(y_true: Any, y_pred: Any) -> Integers:
    """Of every sequence, how many tokens are labeled right, and how many there are; shape (n, 2).

    Examples
    --------
    >>> token_counts([["B", "O"], ["O"]], [["B", "B"], ["O"]]).tolist()
    [[1, 2], [1, 1]]
    """
    true, found, _, lengths = _flat(y_true, y_pred)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    right = np.bincount(owner[true == found], minlength=len(lengths))
    return np.column_stack([right, lengths])


def _spans(
    codes: Integers, prefixes: npt.NDArray[Any], kinds: Integers, first: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers, Integers]:
    """First token, token after the last, and type of every chunk."""
    prefix, kind = prefixes[codes], kinds[codes]
    inside = prefix != "O"
    before = np.append("O", prefix[:-1])
    before[first] = "O"
    kind_before = np.append(-1, kind[:-1])
    goes_on = np.isin(prefix, ("I", "E")) & np.isin(before, ("B", "I")) & (kind == kind_before)
    # A label that is neither O nor the continuation of a chunk begins one.
    starts = np.flatnonzero(inside & ~goes_on)
    breaks = np.flatnonzero(~goes_on)
    following = np.searchsorted(breaks, starts, side="right")
    ends = np.append(breaks, len(codes))[following]
    return starts, ends, kind[starts]


def _parsed(labels: list[Any]) -> tuple[npt.NDArray[Any], Integers, list[str]]:
    parts = [str(label).partition("-") for label in labels]
    for label, (prefix, _, _) in zip(labels, parts, strict=True):
        if prefix not in ("B", "I", "O", "E", "S"):
            raise DataError(
                f"label {label!r} does not encode a chunk; expected O, or B-, I-, E-, S- and a type"
            )
    names = sorted({kind for prefix, _, kind in parts if prefix != "O"})
    index = {name: number for number, name in enumerate(names)}
    kinds = [index[kind] if prefix != "O" else -1 for prefix, _, kind in parts]
    prefixes = np.array([prefix for prefix, _, _ in parts], dtype="U1")
    return prefixes, np.array(kinds, dtype=np.int64), names


def chunks(labels: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Chunks of one sequence as (first token, token after the last, type).

    BIO, IOB1 and BIOES are read alike, and what their grammars forbid as conlleval reads it: a
    change of type, and I or E after O, begin a chunk.

    Examples
    --------
    >>> chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-NP"])
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'VP'), (5, 6, 'NP')]
    """
    if len(labels) == 0:
        return []
    codes, _, names, _ = _flat([labels], [labels])
    prefixes, kinds, types = _parsed(names)
    first = np.zeros(len(codes), dtype=bool)
    starts, ends, found = _spans(codes, prefixes, kinds, first)
    return [
        (a, b, types[kind])
        for a, b, kind in zip(starts.tolist(), ends.tolist(), found.tolist(), strict=True)
    ]


@dataclass(frozen=True)
class ChunkReport:
    """Precision, recall and F1 of chunks, per type and over all.

    Attributes
    ----------
    types : tuple of str
        Types of the chunks, sorted.
    precision, recall, f1 : arrays of shape (n_types,)
        Per type; zero where nothing was found or nothing was there.
    n_true, n_predicted, n_correct : arrays of shape (n_types,)
        Numbers of chunks.
    overall : tuple of float
        Precision, recall and F1 of all chunks together.
    accuracy : float
        Share of the tokens that are labeled right.
    """

    types: tuple[str, ...]
    n_true: Integers
    n_predicted: Integers
    n_correct: Integers
    accuracy: float

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """Share of the predicted chunks that are right."""
        return _share(self.n_correct, self.n_predicted)

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """Share of the true chunks that were found."""
        return _share(self.n_correct, self.n_true)

    @property
    def f1(self) -> npt.NDArray[np.float64]:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.n_correct, self.n_true + self.n_predicted)

    @property
    def overall(self) -> tuple[float, float, float]:
        """Precision, recall and F1 of all chunks together."""
        correct, true = self.n_correct.sum(), self.n_true.sum()
        predicted = self.n_predicted.sum()
        return (
            float(_share(correct, predicted)),
            float(_share(correct, true)),
            float(_share(2 * correct, true + predicted)),
        )

    def __str__(self) -> str:
        width = max([7, *(len(name) for name in self.types)])
        lines = [f"{'':>{width}}  precision  recall      F1  chunks"]
        rows = zip(self.types, self.precision, self.recall, self.f1, self.n_true, strict=True)
        for name, p, r, f, n in [*rows, ("overall", *self.overall, self.n_true.sum())]:
            lines.append(f"{name:>{width}}  {p:9.2%}  {r:6.2%}  {f:6.2%}  {n:6d}")
        return "\n".join(lines)


def _share(part: Any, whole: Any) -> npt.NDArray[np.float64]:
    return np.where(np.asarray(whole) > 0, part / np.maximum(whole, 1), 0.0)


def chunk_report(y_true: Any, y_pred: Any) -> ChunkReport:
    """Precision, recall and F1 of chunks in BIO, BIOES or IOB1, as conlleval counts them.

    A chunk is right when its first token, its last token and its type are.

    Examples
    --------
    >>> report = chunk_report([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "O", "O", "B-VP"]])
    >>> report.types, report.f1.tolist(), report.overall
    (('NP', 'VP'), [0.0, 1.0], (0.5, 0.5, 0.5))
    """
    matched = _match(y_true, y_pred)
    n_types = len(matched.types)
    count = [np.bincount(kind, minlength=n_types) for kind in matched.kinds]
    right = np.bincount(matched.kinds[0][matched.right], minlength=n_types)
    return ChunkReport(matched.types, count[0], count[1], right, matched.accuracy)


class _Matched(NamedTuple):
    """Chunks of the truth and of the predictions: their types and sequences; which are in both."""

    types: tuple[str, ...]
    kinds: tuple[Integers, Integers]
    owners: tuple[Integers, Integers]
    right: npt.NDArray[np.bool_]
    n_sequences: int
    accuracy: float


def _match(y_true: Any, y_pred: Any) -> _Matched:
    true, found, labels, lengths = _flat(y_true, y_pred)
    prefixes, kinds, types = _parsed(labels)
    first = np.zeros(len(true), dtype=bool)
    first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    owner = np.repeat(np.arange(len(lengths)), lengths)
    size, n_types = len(true) + 1, len(types)
    sides = []
    for codes in (true, found):
        starts, ends, kind = _spans(codes, prefixes, kinds, first)
        # Chunks as single numbers, so that those on both sides are found by sorting.
        sides.append(((starts * size + ends) * max(n_types, 1) + kind, kind, owner[starts]))
    both = np.isin(sides[0][0], sides[1][0], assume_unique=True)
    accuracy = float((true == found).mean()) if len(true) else float("nan")
    return _Matched(
        tuple(types),
        (sides[0][1], sides[1][1]),
        (sides[0][2], sides[1][2]),
        both,
        len(lengths),
        accuracy,
    )


def chunk_counts(y_true: Any, y_pred: Any) -> Integers:
    """Of every sequence, how many chunks are right, true and predicted; shape (n, 3).

    Examples
    --------
    >>> chunk_counts([["B-NP", "I-NP", "B-VP"], ["O"]], [["B-NP", "O", "B-VP"], ["O"]]).tolist()
    [[1, 2, 2], [0, 0, 0]]
    """
    matched = _match(y_true, y_pred)
    true, predicted = matched.owners
    sides = (true[matched.right], true, predicted)
    return np.column_stack([np.bincount(side, minlength=matched.n_sequences) for side in sides])


def chunk_f1(y_true: Any, y_pred: Any) -> float:
    """F1 of all chunks together, as conlleval prints it (as a share, not in percent).

    Examples
    --------
    >>> chunk_f1([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "O"]])
    1.0
    """
    return chunk_report(y_true, y_pred).overall[2]
