"""Label sets in any form as a binary matrix, and back.

An array, a sparse matrix or a DataFrame is a binary matrix with a column per label. Any other
sequence holds the labels of every row: lists, tuples, sets or `LabelSets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight

from separatrix.data import LabelSets
from separatrix.errors import DataError
from separatrix.validation import is_sparse

__all__ = [
    "Form",
    "LabelSetTarget",
    "encode_sets",
    "given_back",
    "label_sets",
    "read_sets",
    "row_weights",
]

Integers = npt.NDArray[np.int64]
#: What label sets were given as.
Form = Literal["array", "sparse", "sets"]

_EXPECTED = "a binary matrix of shape (n_rows, n_labels), or a list of labels for every row"


class LabelSetTarget:
    """Base of the estimators whose target is a set of labels a row."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.two_d_labels = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags


def read_sets(Y: Any, n_rows: int, known: Any = None) -> tuple[Integers, npt.NDArray[Any], Form]:
    """A binary matrix of shape (n_rows, L), the labels of its columns, and the form of `Y`.

    Labels are those that occur, or those that are `known` before.

    Examples
    --------
    >>> matrix, labels, form = read_sets([["sea"], [], ["beach", "sea"]], 3)
    >>> matrix.tolist(), labels.tolist(), form
    ([[0, 1], [0, 0], [1, 1]], ['beach', 'sea'], 'sets')
    >>> read_sets(np.array([[0, 1], [2, 0]]), 2)
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: Y holds 2 in row 1, column 0; a binary matrix holds 0 and 1
    """
    sets = _as_sets(Y)
    if sets is None:
        matrix, labels, form = _binary(Y)
    else:
        labels, form = _sorted_labels(sets) if known is None else np.unique(known), "sets"
        matrix = encode_sets(sets, n_rows, labels)
    _check_rows(len(matrix), n_rows)
    if not matrix.shape[1]:
        raise DataError("Y has no labels: at least one row needs one")
    return matrix, labels, form


def encode_sets(Y: Any, n_rows: int, labels: npt.NDArray[Any]) -> Integers:
    """A binary matrix whose columns are the known `labels`.

    Examples
    --------
    >>> encode_sets([["c"]], 1, np.array(["a", "b"]))
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: row 0 has the label 'c', which the model does not know
    """
    sets = _as_sets(Y)
    if sets is not None:
        known = set(labels.tolist())
        for row, names in enumerate(sets):
            for name in names:
                if name not in known:
                    raise DataError(
                        f"row {row} has the label {name!r}, which the model does not know"
                    )
        matrix: Integers = sets.matrix(labels).toarray().astype(np.int64)
    else:
        matrix = _binary(Y)[0]
        if matrix.shape[1] != len(labels):
            raise DataError(f"Y has {matrix.shape[1]} labels, the model knows {len(labels)}")
    _check_rows(len(matrix), n_rows)
    return matrix


def given_back(matrix: Integers, labels: npt.NDArray[Any], form: Form) -> Any:
    """A binary matrix in the form in which label sets were given.

    Examples
    --------
    >>> list(given_back(np.array([[0, 1], [1, 1]]), np.array(["a", "b"]), "sets"))
    [('b',), ('a', 'b')]
    """
    if form == "array":
        return matrix
    if form == "sparse":
        return sp.csr_matrix(matrix)
    _, columns = np.nonzero(matrix)
    offsets = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]).astype(np.int64)
    return LabelSets(labels[columns], offsets, labels)


def label_sets(Y: Any) -> LabelSets:
    """The label sets that a binary matrix or a sequence of collections tells.

    Examples
    --------
    >>> list(label_sets(np.array([[0, 1], [1, 1]])))
    [(1,), (0, 1)]
    """
    sets = _as_sets(Y)
    if sets is not None:
        return sets
    matrix, labels, _ = _binary(Y)
    found: LabelSets = given_back(matrix, labels, "sets")
    return found


def row_weights(sample_weight: Any, X: Any) -> npt.NDArray[np.float64] | None:
    """Weights of the rows, checked; None stays None."""
    if sample_weight is None:
        return None
    weights: npt.NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.sum() > 0:
        raise DataError("all sample weights are zero; at least one must be positive")
    return weights


def _check_rows(found: int, n_rows: int) -> None:
    if found != n_rows:
        raise DataError(f"X has {n_rows} rows, Y has {found}")
    if found == 0:
        raise DataError("Y has no rows")


def _as_sets(Y: Any) -> LabelSets | None:
    """Label sets, or None for a matrix."""
    if isinstance(Y, LabelSets):
        return Y
    if is_sparse(Y) or _as_frame(Y) is not None:
        return None
    if hasattr(Y, "__array__"):
        Y = np.asarray(Y)
    if isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype != object):
        return None
    if isinstance(Y, str) or not isinstance(Y, Iterable):
        raise DataError(f"Y must be {_EXPECTED}, got {type(Y).__name__}")
    rows: list[Sequence[Any]] = []
    for number, row in enumerate(Y):
        if isinstance(row, str) or not isinstance(row, list | tuple | set | frozenset | np.ndarray):
            raise DataError(f"Y must be {_EXPECTED}; row {number} is {row!r}")
        names = row.tolist() if isinstance(row, np.ndarray) else list(row)
        if len(set(names)) < len(names):
            again = next(name for at, name in enumerate(names) if name in names[:at])
            raise DataError(
                f"row {number} has the label {again!r} twice; a binary matrix is to be given as "
                "an array"
            )
        rows.append(names)
    return LabelSets.of(rows)


def _sorted_labels(sets: LabelSets) -> npt.NDArray[Any]:
    missing = [label is None or label != label for label in sets.labels.tolist()]
    if any(missing):
        row = int(np.searchsorted(sets.offsets, missing.index(True), side="right")) - 1
        raise DataError(f"row {row} has a label without a name")
    try:
        return sets.classes
    except TypeError:
        kinds = sorted({type(label).__name__ for label in sets.labels.tolist()})
        raise DataError(f"labels are of several types: {', '.join(kinds)}") from None


def _as_frame(Y: Any) -> Any:
    frame = nw.from_native(Y, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _binary(Y: Any) -> tuple[Integers, npt.NDArray[Any], Form]:
    frame = _as_frame(Y)
    form: Form = "sparse" if is_sparse(Y) else "array"
    values = Y.toarray() if is_sparse(Y) else np.asarray(Y if frame is None else frame.to_numpy())
    if values.ndim != 2:
        raise DataError(f"Y must be {_EXPECTED}, got shape {values.shape}")
    if values.dtype.kind not in "biuf":
        raise DataError(f"Y must be {_EXPECTED}, got an array of {values.dtype}")
    odd = np.argwhere((values != 0) & (values != 1))
    if len(odd):
        row, column = odd[0].tolist()
        raise DataError(
            f"Y holds {values[row, column]} in row {row}, column {column}; a binary matrix holds "
            "0 and 1"
        )
    names = np.arange(values.shape[1]) if frame is None else np.array(frame.columns, dtype=object)
    return values.astype(np.int64), names, form
