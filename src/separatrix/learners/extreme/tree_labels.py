"""Labels of the rows of a label tree, and what the labels look like."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from separatrix.errors import DataError
from separatrix.features.text.vectorizer import TextVectorizer
from separatrix.validation import encode_labels

__all__ = ["RowLabels", "encode_further", "encode_rows", "mean_rows", "text_rows"]


class RowLabels(NamedTuple):
    """The labels of all rows.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Names of the labels.
    indicator : CSR array of shape (n, K)
        Ones at the labels of each row.
    single : bool
        Whether each row has exactly one, by the form of y.
    dense : bool
        Whether y came as an array.
    """

    classes: npt.NDArray[Any]
    indicator: sp.csr_array
    single: bool
    dense: bool


def _of_codes(codes: npt.NDArray[np.int64], n_labels: int) -> sp.csr_array:
    ones = np.ones(len(codes), dtype=np.float32)
    parts = (ones, codes.astype(np.int32), np.arange(len(codes) + 1))
    return sp.csr_array(parts, shape=(len(codes), n_labels))


def encode_rows(y: Any, n_rows: int, labels: Any = None) -> RowLabels:
    """Read y: one label per row, or the indicator matrix of several.

    Parameters
    ----------
    y : array-like of shape (n,), or array or sparse matrix of shape (n, K)
        Labels, or ones where a row has a label.
    n_rows : int
        Rows of X.
    labels : array-like of shape (K,), optional
        Names of the columns of an indicator matrix; their numbers by default.

    Raises
    ------
    DataError
        For a label without example, a name that occurs twice, other values than 0 and 1, or
        lengths that differ.

    Examples
    --------
    >>> encode_rows(["b", "a", "b"], 3).indicator.indices.tolist()
    [1, 0, 1]
    """
    y = y if sp.issparse(y) else np.asarray(y)
    if not (sp.issparse(y) or (y.ndim == 2 and y.shape[1] != 1)):
        if labels is not None:
            raise DataError("labels name the columns of an indicator matrix, but y is a vector")
        classes, codes = encode_labels(y, n_rows)
        return RowLabels(classes, _of_codes(codes, len(classes)), True, True)
    dense = not sp.issparse(y)
    if dense:
        check_classification_targets(y)
    Y = _checked_indicator(y, n_rows)
    names = _names(labels, Y.shape[1])
    _check_examples(Y, names, 0)
    return RowLabels(names, Y, False, dense)


def _checked_indicator(y: Any, n_rows: int) -> sp.csr_array:
    """A copy of an indicator matrix, its columns rising and its ones alone stored."""
    Y = sp.csr_array(y)
    if Y.shape[0] != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {Y.shape[0]}"
        )
    if not np.isin(Y.data, (0, 1)).all():
        at = int(np.argmin(np.isin(Y.data, (0, 1))))
        row = int(np.searchsorted(Y.indptr, at, side="right")) - 1
        raise DataError(
            f"y[{row}, {Y.indices[at]}] = {Y.data[at]!r}: an indicator matrix holds 0 and 1"
        )
    Y = sp.csr_array((Y.data.astype(np.float32), Y.indices, Y.indptr), shape=Y.shape)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    Y.data[:] = 1.0
    return Y


def encode_further(
    y: Any, n_rows: int, classes: npt.NDArray[Any], labels: Any, *, single: bool
) -> RowLabels:
    """Read y of further rows for a tree that knows `classes`; new labels come last.

    Examples
    --------
    >>> rows = encode_further(["b", "z"], 2, np.array(["a", "b"]), None, single=True)
    >>> rows.classes.tolist(), rows.indicator.indices.tolist()
    (['a', 'b', 'z'], [1, 2])
    """
    if single:
        y = column_or_1d(y, warn=True)
        if len(y) != n_rows:
            raise DataError(f"X has {n_rows} rows, y has {len(y)}")
        everything = np.concatenate([classes, np.setdiff1d(y, classes)])
        order = np.argsort(everything, kind="stable")
        codes = order[np.searchsorted(everything, y, sorter=order)]
        return RowLabels(everything, _of_codes(codes, len(everything)), True, True)
    Y = _checked_indicator(y, n_rows)
    if Y.shape[1] < len(classes):
        raise DataError(f"y has {Y.shape[1]} columns, but the tree has {len(classes)} labels")
    names = _names(labels, Y.shape[1])
    if not np.array_equal(names[: len(classes)], classes):
        place = int(np.argmin(names[: len(classes)] == classes))
        raise DataError(
            f"column {place} of y is label {names.tolist()[place]!r}, but "
            f"{classes.tolist()[place]!r} in the tree; the first columns must be those of "
            "classes_, and new labels come last"
        )
    _check_examples(Y, names, len(classes))
    return RowLabels(names, Y, False, not sp.issparse(y))


def _check_examples(Y: sp.csr_array, names: npt.NDArray[Any], first: int) -> None:
    """Raise DataError unless every label from `first` on has a row."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])[first:]
    if (counts == 0).any():
        column = int(np.argmin(counts)) + first
        raise DataError(
            f"label {names.tolist()[column]!r} (column {column} of y) has no example"
            f"{_more(int((counts == 0).sum()))}; leave such columns out"
        )


def _more(count: int) -> str:
    return f", and {count - 1} more have none" if count > 1 else ""


def _names(labels: Any, n_labels: int) -> npt.NDArray[Any]:
    if labels is None:
        return np.arange(n_labels)
    names: npt.NDArray[Any] = np.asarray(labels)
    if names.shape != (n_labels,):
        raise DataError(f"y has {n_labels} columns, but labels have shape {names.shape}")
    found, counts = np.unique(names, return_counts=True)
    if len(found) < n_labels:
        twice = int(np.argmax(counts > 1))
        places = np.flatnonzero(names == found[twice])[:2].tolist()
        raise DataError(
            f"label {found.tolist()[twice]!r} occurs twice, at columns {places[0]} and "
            f"{places[1]}; names of labels must differ"
        )
    return names


def mean_rows(
    X: sp.csr_array, rows: RowLabels, weights: npt.NDArray[np.float64] | None
) -> sp.csr_array:
    """Directions of the mean rows of the labels, of shape (K, d).

    Raises
    ------
    DataError
        For a label all of whose rows are empty.
    """
    members = rows.indicator.T.tocsr().astype(X.dtype)
    if weights is not None:
        members.data *= weights.astype(X.dtype)[members.indices]
    means = sp.csr_array(normalize(members @ X, copy=False))
    means.sort_indices()
    norms = np.diff(means.indptr)
    if (norms == 0).any():
        label = int(np.argmin(norms))
        count = int(np.diff(members.indptr)[label])
        raise DataError(
            f"label {rows.classes.tolist()[label]!r} has no features: its {count} rows are empty "
            f"or weigh nothing{_more(int((norms == 0).sum()))}; drop it, or build the tree from a "
            "hierarchy or from the labels' text"
        )
    return means


def text_rows(classes: npt.NDArray[Any], n_jobs: int | None) -> sp.csr_array:
    """Directions of the words and character n-grams of the labels' names, of shape (K, p)."""
    names = [str(label) for label in classes.tolist()]
    characters = TextVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_jobs=n_jobs)
    found = sp.csr_array(characters.fit_transform(names))
    empty = np.diff(found.indptr) == 0
    if empty.any():
        label = classes.tolist()[int(np.argmax(empty))]
        raise DataError(f"label {label!r} has no features: its name holds no character n-gram")
    return found
