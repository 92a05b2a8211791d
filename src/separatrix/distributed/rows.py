"""Partitions of flat data on the workers: checked once, then read where they lie."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d

from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import is_narrow
from separatrix.structures.labels import make_design
from separatrix.validation import check_given, is_sparse, name_column, validate_X

__all__ = [
    "Facts",
    "Rows",
    "Survey",
    "aligned",
    "in_partition",
    "labels_facts",
    "read_rows",
    "rows_facts",
    "size_of",
    "survey",
]

FloatArray = npt.NDArray[np.float64]


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Let errors about data name the partition; rows are counted within it."""
    try:
        yield
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from None
    except ParameterError:
        raise
    except ValueError as error:
        raise DataError(f"partition {number}: {error}") from None


@dataclass(eq=False)
class Rows:
    """One partition of rows, checked.

    Attributes
    ----------
    number : int
        Which partition.
    X : ndarray or CSR matrix of shape (n, d)
        float32 or float64, finite.
    y : ndarray of shape (n,) or None
        Labels as they came.
    weights : ndarray of shape (n,) or None
        Weights of the rows; None stands for ones.
    names : ndarray of str or None
        Names of the columns.
    """

    number: int
    X: Any
    y: npt.NDArray[Any] | None
    weights: FloatArray | None
    names: npt.NDArray[Any] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({name: aligned(value) for name, value in state.items()})

    def __sizeof__(self) -> int:
        # Dask asks this when it decides what to write to disk.
        return size_of(self.X) + size_of(self.y) + size_of(self.weights)


def size_of(array: Any) -> int:
    """Bytes of an array, a sparse matrix or None."""
    if array is None:
        return 0
    if is_sparse(array):
        return int(array.data.nbytes + array.indices.nbytes + array.indptr.nbytes)
    return int(getattr(array, "nbytes", sys.getsizeof(array)))


class Facts(NamedTuple):
    """What the client has to know about a partition.

    Attributes
    ----------
    n_rows, n_columns : int
        Its shape.
    dtype : dtype
        Precision.
    dense : bool
        Whether kernels see dense rows.
    names : ndarray of str or None
        Names of the columns.
    labels : ndarray of shape (k,) or None
        Distinct labels, sorted.
    counts, weights : ndarray of shape (k,) or None
        Rows and weight of each.
    """

    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]
    dense: bool
    names: npt.NDArray[Any] | None
    labels: Any = None
    counts: Any = None
    weights: Any = None


def read_rows(
    number: int, X: Any, y: Any, weights: Any, estimator: Any, classify: bool, finite: bool
) -> Rows:
    """Check a partition as `estimator` would, except that it may hold one class or none."""
    with in_partition(number):
        check_given(estimator, y)
        taker = clone(estimator)
        if _num_samples(X) == 0:
            width = X.shape[1] if getattr(X, "ndim", 0) == 2 else 0
            return Rows(number, np.empty((0, width)), np.empty(0), None, None)
        X = validate_X(taker, aligned(sparse_rows(X)), reset=True)
        names = getattr(taker, "feature_names_in_", None)
        if finite:
            try:
                make_design(X, 1)
            except DataError as error:
                raise name_column(error, taker) from None
        y = aligned(column_or_1d(y))
        if classify:
            check_classification_targets(y)
        if len(y) != X.shape[0]:
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{X.shape[0]} rows, y has {len(y)}"
            )
        return Rows(number, X, y, _checked_weights(weights, X.shape[0]), names)


def sparse_rows(X: Any) -> Any:
    """Blocks of the package `sparse` as SciPy's; all else as it is."""
    if type(X).__module__.split(".")[0] == "sparse":
        return sp.csr_array(X.to_scipy_sparse())
    return X


def aligned(array: Any) -> Any:
    """The array or sparse matrix where kernels can read it.

    What comes over a wire or from a disk may begin at any byte of a buffer.
    """
    if is_sparse(array):
        parts = [array.data, array.indices, array.indptr]
        if not all(part.flags.aligned for part in parts):
            array = array.copy()
            array.data, array.indices, array.indptr = (
                np.require(p, None, ["C", "A"]) for p in parts
            )
        return array
    if isinstance(array, np.ndarray) and array.dtype != object:
        return np.require(array, None, ["C", "A"])
    return array


def _checked_weights(weights: Any, n_rows: int) -> FloatArray | None:
    if weights is None:
        return None
    values: FloatArray = aligned(np.asarray(weights, dtype=np.float64))
    if values.shape != (n_rows,):
        raise DataError(f"sample_weight has shape {values.shape}, X has {n_rows} rows")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"sample_weight is {values[row]:g} at row {row}; it must be finite, >= 0")
    return values


def rows_facts(rows: Rows) -> Facts:
    """What the client has to know of rows without labels, or with numbers for labels."""
    n, d = rows.X.shape
    dense = not is_sparse(rows.X) or is_narrow(rows.X)
    return Facts(n, d, rows.X.dtype, dense, rows.names)


def labels_facts(rows: Rows) -> Facts:
    """What the client has to know of rows with classes."""
    facts = rows_facts(rows)
    if rows.y is None or len(rows.y) == 0:
        return facts
    labels, codes = np.unique(rows.y, return_inverse=True)
    return facts._replace(
        labels=labels,
        counts=np.bincount(codes).astype(np.int64),
        weights=np.bincount(codes, weights=rows.weights).astype(np.float64),
    )


class Survey(NamedTuple):
    """What all partitions together are.

    Attributes
    ----------
    full : list of int
        Numbers of the partitions that hold rows.
    n_rows, n_columns : int
        Shape of the whole.
    dtype : dtype
        Precision: float64 where any partition has it.
    dense : bool
        Whether all partitions are dense.
    names : ndarray of str or None
        Names of the columns.
    classes : ndarray of shape (K,) or None
        All labels, sorted.
    counts, weights : ndarray of shape (K,)
        Rows and weight of every class.
    """

    full: list[int]
    n_rows: int
    n_columns: int
    dtype: np.dtype[Any]
    dense: bool
    names: npt.NDArray[Any] | None
    classes: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    weights: FloatArray

    def describe(self, estimator: Any) -> None:
        """Give an estimator the number and the names of the columns."""
        estimator.n_features_in_ = self.n_columns
        vars(estimator).pop("feature_names_in_", None)
        if self.names is not None:
            estimator.feature_names_in_ = self.names


def _listed(names: npt.NDArray[Any] | None) -> list[Any] | None:
    return None if names is None else names.tolist()


def survey(facts: list[Facts]) -> Survey:
    """Join the facts of all partitions; DataError where they do not belong together."""
    full = [number for number, fact in enumerate(facts) if fact.n_rows]
    if not full:
        raise DataError("Found array with 0 sample(s): all partitions are empty")
    first = facts[full[0]]
    for number in full:
        fact = facts[number]
        if fact.n_columns != first.n_columns:
            raise DataError(
                f"partition {number} has {fact.n_columns} columns, partition {full[0]} has "
                f"{first.n_columns}"
            )
        if _listed(fact.names) != _listed(first.names):
            raise DataError(f"partitions {full[0]} and {number} have columns of other names")
    found = [facts[number] for number in full]
    classes: npt.NDArray[Any] = np.empty(0)
    counts, weights = np.zeros(0, dtype=np.int64), np.zeros(0)
    labeled = [fact for fact in found if fact.labels is not None]
    if labeled:
        classes = np.unique(np.concatenate([fact.labels for fact in labeled]))
        counts, weights = np.zeros(len(classes), dtype=np.int64), np.zeros(len(classes))
        for fact in labeled:
            places = np.searchsorted(classes, fact.labels)
            counts[places] += fact.counts
            weights[places] += fact.weights
    return Survey(
        full,
        sum(fact.n_rows for fact in found),
        first.n_columns,
        np.result_type(*(fact.dtype for fact in found)),
        all(fact.dense for fact in found),
        first.names,
        classes,
        counts,
        weights,
    )
