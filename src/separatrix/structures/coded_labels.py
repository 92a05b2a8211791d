"""Labels as numbers, known or known in part; those of sequences, and the weights of examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import compute_class_weight

from separatrix.data import TokenColumn
from separatrix.data.sequences.containers import _gather
from separatrix.errors import DataError, ParameterError

__all__ = ["CodedLabels", "class_array", "encode_tags", "example_weights", "label_pairs"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """What is known about the labels of examples, one number per node (token, pixel).

    Attributes
    ----------
    classes : array of shape (K,)
        The labels, sorted; of label sets the numbers of the columns.
    codes : int64 array of shape (n_nodes,)
        Number of the label of every node; -1 where it is not known.
    offsets : int64 array of shape (n_examples + 1,)
        Where the nodes of each example begin, and where those of the last end.
    allowed : bool array of shape (n_nodes, K) or None
        Labels that every node may have; None where all are known.
    node_classes : array or None
        What `codes` are numbers of, where that is not `classes`: absent and present, for sets.
    """

    classes: npt.NDArray[Any]
    codes: Integers
    offsets: Integers
    allowed: npt.NDArray[np.bool_] | None = None
    node_classes: npt.NDArray[Any] | None = None

    def take(self, rows: npt.ArrayLike) -> CodedLabels:
        """The labels of the examples of these numbers."""
        nodes, offsets = _gather(self.offsets, rows)
        allowed = None if self.allowed is None else self.allowed[nodes]
        return replace(self, codes=self.codes[nodes], offsets=offsets, allowed=allowed)


def class_array(labels: Iterable[Any]) -> npt.NDArray[Any]:
    """The labels as a sorted array, of their own type where they share one."""
    found = list(labels)
    try:
        found.sort()
    except TypeError:
        raise DataError(
            "labels of different types cannot be sorted: "
            f"{sorted({type(label).__name__ for label in found})}; use one type"
        ) from None
    classes = np.array(found)
    if classes.ndim != 1 or (classes.dtype.kind in "US" and not isinstance(found[0], str | bytes)):
        classes = np.empty(len(found), dtype=object)
        classes[:] = found
    return classes


def encode_tags(
    y: Any, offsets: Integers, classes: npt.NDArray[Any] | None = None, *, partial: bool = False
) -> CodedLabels:
    """Number the labels of sequences.

    Parameters
    ----------
    y : TokenColumn or sequence of sequences of labels
        With `partial`, None stands for an unknown label and a set for one of its members.
    offsets : array of shape (n_sequences + 1,)
        Where each sequence of X begins, and where the last ends.
    classes : array of shape (K,), optional
        The labels that are known; those of y without.
    partial : bool
        Whether labels may be missing.

    Examples
    --------
    >>> tags = encode_tags([["N", "V"], ["N"]], np.array([0, 2, 3]))
    >>> tags.classes.tolist(), tags.codes.tolist(), tags.allowed
    (['N', 'V'], [0, 1, 0], None)
    """
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, TokenColumn):
        _check_lengths(np.diff(y.offsets).tolist(), offsets)
        keys, codes = y.vocabulary[:], y.codes.astype(np.int64)
        used = np.unique(codes) if classes is None else np.arange(len(keys))
        numbers: dict[Any, int] = {keys[i]: i for i in used.tolist()}
        sets: list[tuple[int, Any]] = []
    else:
        if isinstance(y, str) or not isinstance(y, Iterable):
            raise DataError(
                f"y is a {type(y).__name__}; expected a sequence of sequences of labels"
            )
        rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in y]
        for number, row in enumerate(rows):
            if isinstance(row, str) or not isinstance(row, Sequence):
                raise DataError(
                    f"the labels of sequence {number} are {row!r}; expected a list of labels"
                )
        _check_lengths([len(row) for row in rows], offsets)
        numbers, sets = {}, []
        codes = _number(rows, numbers, sets, partial)
    if classes is None:
        members = {label for _, found in sets if found is not None for label in found}
        if not numbers and not members:
            raise DataError("y holds no label")
        classes = class_array({*numbers, *members})
    index = {label: number for number, label in enumerate(classes.tolist())}
    table = np.array([index.get(label, -1) for label in numbers], dtype=np.int64)
    if isinstance(y, TokenColumn):
        scatter = np.full(len(y.vocabulary), -1, dtype=np.int64)
        scatter[list(numbers.values())] = table
        table = scatter
    _check_known(table, codes, numbers, offsets, classes)
    result = np.where(codes >= 0, table[codes] if len(table) else -1, -1)
    allowed = _allowed(result, sets, index, classes, offsets)
    return CodedLabels(classes, result, offsets, allowed)


def _number(
    rows: list[Any], numbers: dict[Any, int], sets: list[tuple[int, Any]], partial: bool
) -> Integers:
    flat = list(chain.from_iterable(rows))
    if set(map(type, flat)) <= {str}:
        # The usual case, without a look at every label.
        numbers.update((label, number) for number, label in enumerate(dict.fromkeys(flat)))
        return np.fromiter(map(numbers.__getitem__, flat), dtype=np.int64, count=len(flat))
    codes: list[int] = []
    for row in rows:
        for label in row:
            if partial and (label is None or isinstance(label, set | frozenset)):
                sets.append((len(codes), label))
                codes.append(-1)
                continue
            if label is None or isinstance(label, set | frozenset):
                raise DataError(
                    f"a label is {label!r}; only models of partially labeled sequences use that "
                    "(partial=True)"
                )
            try:
                codes.append(numbers.setdefault(label, len(numbers)))
            except TypeError:
                raise DataError(f"{label!r} cannot be a label: it is not hashable") from None
    return np.array(codes, dtype=np.int64)


def _check_lengths(found: list[int], offsets: Integers) -> None:
    wanted = np.diff(offsets).tolist()
    if len(found) != len(wanted):
        raise DataError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{len(wanted)} sequences, y has {len(found)}"
        )
    for number, (tokens, labels) in enumerate(zip(wanted, found, strict=True)):
        if tokens != labels:
            raise DataError(f"sequence {number} has {tokens} tokens, but {labels} labels")


def _place(token: int, offsets: Integers) -> str:
    sequence = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"token {token - int(offsets[sequence])} of sequence {sequence}"


def _check_known(
    table: Integers,
    codes: Integers,
    numbers: dict[Any, int],
    offsets: Integers,
    classes: npt.NDArray[Any],
) -> None:
    if len(table) == 0 or (table >= 0).all():
        return
    unknown = (codes >= 0) & (table[codes] < 0)
    if unknown.any():
        token = int(np.argmax(unknown))
        label = next(label for label, number in numbers.items() if number == codes[token])
        raise DataError(
            f"label {label!r} of {_place(token, offsets)} is not among the known labels "
            f"{classes.tolist()}"
        )


def _allowed(
    codes: Integers,
    sets: list[tuple[int, Any]],
    index: dict[Any, int],
    classes: npt.NDArray[Any],
    offsets: Integers,
) -> npt.NDArray[np.bool_] | None:
    if not sets:
        return None
    allowed = np.zeros((len(codes), len(classes)), dtype=bool)
    known = codes >= 0
    allowed[known, codes[known]] = True
    for token, labels in sets:
        if labels is None:
            allowed[token] = True
            continue
        for label in labels:
            if label not in index:
                raise DataError(
                    f"label {label!r} allowed for {_place(token, offsets)} is not among the known "
                    f"labels {classes.tolist()}"
                )
            allowed[token, index[label]] = True
        if not labels:
            raise DataError(f"no label is allowed for {_place(token, offsets)}")
    return allowed


def label_pairs(tags: CodedLabels) -> Integers | None:
    """How often labels followed each other, shape (K + 1, K); the last row at starts of sequences.

    None where labels are not all known.

    Examples
    --------
    >>> tags = encode_tags([["A", "B"], ["B"]], np.array([0, 2, 3]))
    >>> label_pairs(tags).tolist()
    [[0, 1], [0, 0], [1, 1]]
    """
    if tags.allowed is not None:
        return None
    K = len(tags.classes)
    before = np.append(K, tags.codes[:-1]) if len(tags.codes) else tags.codes
    before[tags.offsets[:-1][np.diff(tags.offsets) > 0]] = K
    counts = np.bincount(before * K + tags.codes, minlength=(K + 1) * K)
    return counts.reshape(K + 1, K).astype(np.int64)


def example_weights(
    labels: CodedLabels,
    sample_weight: Any = None,
    class_weight: Any = None,
    token_weight: Any = None,
) -> npt.NDArray[np.float64] | None:
    """Weights c_i of the examples; None when all are one.

    The weight of an example is its sample weight times the mean over its nodes of the node's weight
    and of its label's weight (one where the label is not known).
    """
    offsets, codes = labels.offsets, labels.codes
    classes = labels.classes if labels.node_classes is None else labels.node_classes
    n_sequences, n_tokens = len(offsets) - 1, int(offsets[-1])
    if sample_weight is None and class_weight is None and token_weight is None:
        return None
    tokens = np.ones(n_tokens)
    if token_weight is not None:
        flat = token_weight
        if not (isinstance(flat, np.ndarray) and flat.ndim == 1 and flat.dtype != object):
            rows = [np.asarray(row, dtype=np.float64) for row in flat]
            _check_lengths([len(row) for row in rows], offsets)
            flat = np.concatenate([*rows, np.zeros(0)])
        tokens = _checked(flat, n_tokens, "token_weight", "token").copy()
    if class_weight is not None:
        known = codes >= 0
        names = classes[codes[known]]
        present = np.unique(codes[known])
        factors = np.ones(len(classes))
        if isinstance(class_weight, dict):
            index = {label: number for number, label in enumerate(classes.tolist())}
            for label, factor in class_weight.items():
                if label not in index:
                    raise ParameterError(f"class_weight names {label!r}, which is not a label")
                factors[index[label]] = factor
        else:
            factors[present] = compute_class_weight(class_weight, classes=classes[present], y=names)
        if (factors < 0).any() or not np.isfinite(factors).all():
            raise ParameterError("class_weight must not be negative")
        tokens[known] *= factors[codes[known]]
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(n_sequences), lengths)
    sums = np.bincount(owner, weights=tokens, minlength=n_sequences)
    result: npt.NDArray[np.float64] = np.where(lengths > 0, sums / np.maximum(lengths, 1), 1.0)
    if sample_weight is not None:
        result = result * _checked(sample_weight, n_sequences, "sample_weight", "sequence")
    return result


def _checked(weights: Any, n: int, name: str, what: str) -> npt.NDArray[np.float64]:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise DataError(f"{name} must have shape ({n},), one per {what}, got {array.shape}")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"{name} is {array[row]:g} at {what} {row}; it must be finite and >= 0")
    return array
