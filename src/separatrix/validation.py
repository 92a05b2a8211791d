"""Checks of what users hand in: arrays, labels, weights, threads."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state, compute_class_weight, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d, validate_data

from separatrix._core import identity_codes
from separatrix.errors import (
    DataError,
    ParameterError,
    UnusedParameterWarning,
    WarmStartWarning,
)

__all__ = [
    "NamesElsewhere",
    "canonical",
    "check_choice",
    "check_cost",
    "check_frame",
    "check_given",
    "check_positive",
    "check_room",
    "check_sparse",
    "check_targets",
    "check_weights",
    "distinct_values",
    "drawn_rows",
    "encode_known_labels",
    "encode_labels",
    "float_type",
    "indexable_rows",
    "is_dask",
    "is_sparse",
    "name_column",
    "named_classes",
    "number_of_threads",
    "number_values",
    "refuse_dask",
    "seed_from",
    "starts_at_last_fit",
    "validate_X",
    "warn_unused",
]

#: Columns up to which nobody asks whether there is memory for weights: 256 MB.
_MANY_COLUMNS = 1 << 24


class NamesElsewhere:
    """Base of estimators whose parameters have other names in other libraries.

    A name of scikit-learn that is no parameter here is refused by the constructor and by
    `set_params` with what serves in its place.
    """

    #: Names that are not parameters here, and what serves; subclasses add theirs.
    _elsewhere: ClassVar[Mapping[str, str]] = {}

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Look at the names before the constructor does."""
        cls._refuse_elsewhere(params)
        return super().__new__(cls)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; see scikit-learn."""
        self._refuse_elsewhere(params)
        changed: Self = super().set_params(**params)  # type: ignore[misc]
        return changed

    @classmethod
    def _refuse_elsewhere(cls, names: Iterable[str]) -> None:
        if not names:
            return
        known = _parameters(cls)
        for name in names:
            for home in cls.__mro__ if name not in known else ():
                serves = vars(home).get("_elsewhere", {}).get(name)
                if serves:
                    raise ParameterError(f"{cls.__name__} has no parameter {name!r}: {serves}")


#: What constructors take: asking takes longer than a small fit.
_PARAMETERS: WeakKeyDictionary[Any, Mapping[str, inspect.Parameter]] = WeakKeyDictionary()


def _parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    """What the constructor of a class takes."""
    if cls not in _PARAMETERS:
        _PARAMETERS[cls] = inspect.signature(cls).parameters
    return _PARAMETERS[cls]


def number_of_threads(n_jobs: int | None) -> int:
    """Threads for `n_jobs`: None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.

    Negative numbers count from the CPUs available to the process, as in joblib: -1 is all.

    Examples
    --------
    >>> number_of_threads(3)
    3
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = available or 1
    if n_jobs is None:
        for variable in ("SEPARATRIX_NUM_THREADS", "OMP_NUM_THREADS"):
            text = os.environ.get(variable, "").split(",")[0].strip()
            if text:
                if not text.isdigit() or int(text) == 0:
                    raise ParameterError(f"{variable} must be a positive number, got {text!r}")
                return int(text)
        return available
    if n_jobs == 0:
        raise ParameterError("n_jobs must be None, positive, or negative (-1: all CPUs), got 0")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def drawn_rows(n_rows: int, n: int) -> npt.NDArray[np.intp]:
    """Numbers of `n` of the rows, drawn with a fixed seed, rising.

    Examples
    --------
    >>> drawn_rows(5, 3).tolist()
    [2, 3, 4]
    """
    drawn = np.random.default_rng(0).choice(n_rows, n, replace=False)
    return np.sort(drawn).astype(np.intp)


def seed_from(random_state: Any) -> int:
    """A 64-bit seed for the kernels from a scikit-learn `random_state`."""
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def check_positive(**parameters: float) -> None:
    """Raise ParameterError unless every parameter is a positive finite number."""
    for name, value in parameters.items():
        if not isinstance(value, int | float | np.number) or not 0 < float(value) < np.inf:
            raise ParameterError(f"{name} must be a positive finite number, got {value!r}")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise ParameterError unless `value` is one of `choices`."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {choices}, got {value!r}")


def warn_unused(estimator: Any, needs: str, *names: str) -> None:
    """Warn of parameters that are not at their defaults and have no effect.

    Parameters
    ----------
    estimator : object
        With the parameters of its constructor as attributes.
    needs : str
        What they would need, in words.
    *names : str
        The parameters.
    """
    known = _parameters(type(estimator))
    for name in names:
        value, default = getattr(estimator, name), known[name].default
        plain = isinstance(value, bool | int | float | str | np.generic)
        if value is default or (plain and value == default):
            continue
        warnings.warn(
            f"{name}={value!r} has no effect: it needs {needs}",
            UnusedParameterWarning,
            stacklevel=3,
        )


def check_frame(X: Any) -> None:
    """Raise DataError when a DataFrame has a column that is not numeric, naming the column."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if not isinstance(frame, nw.DataFrame):
        return
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            raise DataError(
                f"column {name!r} has dtype {dtype}; encode it as numbers first "
                "(for example with sklearn.preprocessing.OneHotEncoder)"
            )


def check_room(n_columns: int) -> None:
    """Raise MemoryError unless weights of so many columns, and a gradient, can be had.

    One index of a sparse file can ask for more columns than there is memory for; kernels that find
    out so late would end the process.

    Examples
    --------
    >>> check_room(1000)
    """
    if n_columns > _MANY_COLUMNS:
        try:
            np.empty((2, n_columns))
        except MemoryError:
            size = f"{16 * n_columns / 1e9:.1f} GB"
            raise MemoryError(
                f"there is no memory for weights and a gradient of {n_columns} columns ({size}); "
                "hash the columns, or leave out those beyond what is used"
            ) from None


def check_sparse(X: Any) -> None:
    """Raise DataError unless the arrays of a sparse matrix fit together; other X pass.

    scipy believes them, and reads and writes outside of them where they are wrong. This is cheap:
    one look at the indices and one at the pointers.

    Examples
    --------
    >>> X = sp.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    >>> X.indices[1] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: column index 7 in row 1 is outside 0..2
    """
    if not is_sparse(X):
        return
    if X.format == "coo":
        for axis, (indices, size) in enumerate(zip(X.coords, X.shape, strict=True)):
            if len(indices) != len(X.data):
                raise DataError(f"a sparse matrix of {len(indices)} indices, {len(X.data)} values")
            outside = _first_outside(indices, size)
            if outside is not None:
                name = "column" if axis == X.ndim - 1 else "row"
                raise DataError(f"{name} index {indices[outside]} is outside 0..{size}")
    elif X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)


def _check_compressed(X: Any) -> None:
    pointers, indices = X.indptr, X.indices
    blocks = X.blocksize if X.format == "bsr" else (1, 1)
    along, across = ("column", "row") if X.format == "csc" else ("row", "column")
    n_along, n_across = X.shape[::-1] if X.format == "csc" else X.shape
    n_along, n_across = n_along // blocks[0], n_across // blocks[1]
    if len(pointers) != n_along + 1 or pointers[0] != 0 or (np.diff(pointers) < 0).any():
        raise DataError(f"the {along} pointers (indptr) do not rise from 0 in {n_along} steps")
    stored = int(pointers[-1])
    if stored > min(len(indices), len(X.data)):
        raise DataError(
            f"the {along} pointers (indptr) end at {stored}, but there are {len(indices)} indices "
            f"and {len(X.data)} values"
        )
    outside = _first_outside(indices[:stored], n_across)
    if outside is not None:
        at = int(np.searchsorted(pointers, outside, side="right")) - 1
        found = f"{across} index {indices[outside]} in {along} {at}"
        raise DataError(f"{found} is outside 0..{n_across}")


def _first_outside(indices: npt.NDArray[Any], size: int) -> int | None:
    """Where the first index stands that is negative or not below `size`."""
    if not len(indices):
        return None
    # A negative index is a very large one without its sign, so that one look finds both.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    if int(unsigned.max()) < size:
        return None
    return int(np.argmax((indices < 0) | (indices >= size)))


def indexable_rows(X: Any) -> Any:
    """X as something whose rows can be taken, for estimators that leave columns to another one."""
    check_sparse(X)
    (rows,) = indexable(X)
    return rows


def validate_X(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X as a C-contiguous float array or a CSR matrix of float32 or float64.

    Finiteness is left to the kernels, which name the cell.
    """
    check_sparse(X)
    if reset and _is_plain(X):
        # What `validate_data` would leave behind, without its ways to get there.
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        return X
    check_frame(X)
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        order="C",
        ensure_all_finite=False,
    )


def _is_plain(X: Any) -> bool:
    """Whether the kernels can read X as it is: a matrix of floats in C order or CSR, not empty."""
    if type(X) is np.ndarray:
        ordered = X.flags.c_contiguous and X.flags.aligned
    else:
        ordered = sp.issparse(X) and getattr(X, "format", None) == "csr"
    return bool(
        ordered
        and X.ndim == 2
        and 0 not in X.shape
        and X.dtype in (np.float64, np.float32)
        and X.dtype.isnative
    )


def name_column(error: DataError, estimator: Any) -> DataError:
    """The error about a value that is not finite, with the column's name where X has names."""
    names = getattr(estimator, "feature_names_in_", None)
    head, _, number = str(error).rstrip(".").rpartition("column ")
    if names is None or not head:
        return error
    return DataError(f"{head}column {names[int(number)]!r}. Impute or drop it before fitting.")


def _distinct(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The distinct labels, sorted; by counting where they are whole numbers close together."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < 1 << 12 and abs(low) < 1 << 62:
            numbers = y.astype(np.int64, copy=False)
            present = np.flatnonzero(np.bincount(numbers - low if low else numbers))
            return (present + low).astype(y.dtype)
    labels: npt.NDArray[Any] = np.unique(y)
    return labels


def number_values(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], dict[Any, int]]:
    """A number for every value, equal for equal ones, and the numbers in the order of first use.

    Raises
    ------
    TypeError
        A value has no hash.

    Examples
    --------
    >>> number_values(np.array(["b", "a", "b"], dtype=object))
    (array([0, 1, 0]), {'b': 0, 'a': 1})
    """
    held = values.tolist()
    # What was read from a file is few objects many times: one look at each.
    found = identity_codes(held) if values.dtype == object else None
    if found is None:
        known = {value: number for number, value in enumerate(dict.fromkeys(held))}
        return np.fromiter(map(known.__getitem__, held), np.int64, len(held)), known
    codes, objects = found
    known = {value: number for number, value in enumerate(dict.fromkeys(objects))}
    if len(known) < len(objects):
        codes = np.array([known[value] for value in objects], dtype=np.int64)[codes]
    return codes, known


def distinct_values(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct values, sorted, and which of them every row has.

    It is ``np.unique(values, return_inverse=True)``, but sorts each distinct object once.

    Examples
    --------
    >>> distinct_values(np.array(["b", "a", "b"], dtype=object))
    (array(['a', 'b'], dtype=object), array([1, 0, 1]))
    """
    if values.dtype != object:
        found, codes = np.unique(values, return_inverse=True)
        return found, codes.astype(np.int64, copy=False)
    codes, known = number_values(values)
    found, places = np.empty(len(known), dtype=object), np.empty(len(known), dtype=np.int64)
    found[:] = sorted(known)
    for place, value in enumerate(found):
        places[known[value]] = place
    return found, places[codes]


def check_targets(y: npt.NDArray[Any]) -> None:
    """scikit-learn's check of labels, which for words would only sort all rows."""
    if y.dtype != object or not _are_words(y):
        check_classification_targets(y)


def _are_words(y: npt.NDArray[Any]) -> bool:
    """Whether all of an array of objects are strings."""
    held = y.tolist()
    found = identity_codes(held)
    return set(map(type, held if found is None else found[1])) == {str}


def encode_labels(y: Any, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The sorted classes and the class number of every row; at least two classes."""
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu"):
        # Whole numbers are labels as they are; anything else is looked at closely.
        y = column_or_1d(y, warn=True)
        _refuse_missing(y)
        check_targets(y)
    if len(y) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"y has {len(y)}"
        )
    words = y.dtype == object
    classes, codes = distinct_values(y) if words else (_distinct(y), None)
    if len(classes) < 2:
        raise DataError(
            "The training data holds one class only "
            f"({classes.tolist()}); a classifier needs at least two classes."
        )
    if codes is not None:
        return classes, codes
    if y.dtype == np.int64 and classes[0] == 0 and classes[-1] == len(classes) - 1:
        return classes, y.copy()  # numbers of classes already
    if len(classes) == 2:
        return classes, (y == classes[1]).astype(np.int64)
    return classes, np.searchsorted(classes, y).astype(np.int64, copy=False)


def _refuse_missing(y: npt.NDArray[Any]) -> None:
    """Raise DataError where a label is missing: None, NaN, or what pandas has for them."""
    if y.dtype.kind not in "fcOM":
        return
    if y.dtype == object:
        if _are_words(y) or set(map(type, y.tolist())) <= {str, int, bool}:
            return
        # What equals nothing, not even itself, is missing; a comparison of pandas' NA is NA.
        missing = np.array([v is None or (v != v) is not False for v in y.tolist()], dtype=bool)
    else:
        missing = y != y
    if missing.any():
        row = int(np.argmax(missing))
        raise DataError(
            f"Input y contains NaN: the label of row {row} is missing ({y.tolist()[row]!r}); drop "
            "rows without a label, or name the label that they stand for"
        )


def check_given(estimator: Any, y: Any) -> None:
    """Raise DataError when there is no target, in the words that scikit-learn asks for."""
    if y is None:
        raise DataError(
            f"This {type(estimator).__name__} estimator requires y to be passed, "
            "but the target y is None."
        )


def named_classes(classes: Any, before: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """The classes that partial_fit was given, sorted: two or more, and those of the last call."""
    named: npt.NDArray[Any] = np.unique(classes)
    if len(named) < 2:
        raise DataError("classes must name at least two classes")
    if before is not None and not np.array_equal(named, before):
        raise DataError(
            f"classes={named.tolist()} is not the same as on the last call, {before.tolist()}; "
            "fit a new estimator to change them"
        )
    return named


def encode_known_labels(y: Any, n_rows: int, classes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The class number of every row, among classes that were named before (partial_fit)."""
    y = np.asarray(y).ravel()
    if len(y) != n_rows:
        raise DataError(f"X has {n_rows} rows, y has {len(y)}")
    codes = np.searchsorted(classes, y)
    codes[codes == len(classes)] = 0
    unknown = classes[codes] != y
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            f"label {y.tolist()[row]!r} at row {row} is not among the classes {classes.tolist()}; "
            "name every class in the first call of partial_fit"
        )
    numbers: npt.NDArray[np.int64] = codes.astype(np.int64, copy=False)
    return numbers


def check_weights(
    sample_weight: Any,
    class_weight: Any,
    X: Any,
    classes: npt.NDArray[Any],
    codes: npt.NDArray[np.int64],
    *,
    two_classes: bool = True,
) -> npt.NDArray[np.float64] | None:
    """Row weights from sample and class weights; None when all are one.

    With `two_classes`, the rows of positive weight must hold at least two.
    """
    weights: npt.NDArray[np.float64] | None = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            row = int(np.argmax(weights < 0))
            raise DataError(f"sample_weight is negative at row {row} ({weights[row]:g})")
        left = np.unique(codes[weights > 0])
        if two_classes and len(left) < 2:
            raise DataError(
                "The rows of positive weight hold one class only "
                f"({classes[left].tolist()}); a classifier needs at least two classes."
            )
    if class_weight is not None:
        per_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        if (per_class < 0).any():
            raise ParameterError("class_weight must not be negative")
        weights = per_class[codes] * (1.0 if weights is None else weights)
    return weights


def check_cost(cost: Any, n_classes: int) -> npt.NDArray[np.float64] | None:
    """A square matrix of costs, zero on the diagonal, no entry negative; None stays None."""
    if cost is None:
        return None
    matrix = np.asarray(cost, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"cost must be a square matrix, got shape {matrix.shape}")
    if matrix.shape[0] != n_classes:
        raise ParameterError(
            f"cost is {matrix.shape[0]} x {matrix.shape[0]}, but there are {n_classes} classes"
        )
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        row, column = np.argwhere(~np.isfinite(matrix) | (matrix < 0))[0]
        raise ParameterError(
            f"cost[{row}, {column}] = {matrix[row, column]:g}: costs must be finite and >= 0"
        )
    if np.diagonal(matrix).any():
        row = int(np.argmax(np.diagonal(matrix) != 0))
        raise ParameterError(
            f"cost[{row}, {row}] = {matrix[row, row]:g}: a right answer must cost nothing"
        )
    return matrix


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sp.issparse(X))


def float_type(X: Any) -> np.dtype[Any]:
    """float32 where X is of it, float64 otherwise: the type of what is told about X.

    Examples
    --------
    >>> float_type(np.ones((2, 2), np.float32)), float_type([[1, 2]])
    (dtype('float32'), dtype('float64'))
    """
    types = getattr(X, "dtypes", None)  # of a frame
    if types is None:
        single = getattr(X, "dtype", None) == np.float32
    else:
        single = all(str(one).lower() == "float32" for one in types)
    return np.dtype(np.float32 if single else np.float64)


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask collection; Dask itself is not imported."""
    return hasattr(type(value), "__dask_graph__")


def refuse_dask(estimator: Any, *values: Any) -> None:
    """Raise TypeError where an estimator's own `fit` is given a Dask collection."""
    for value in values:
        if is_dask(value):
            name = type(estimator).__name__
            raise TypeError(
                f"{name}.fit takes data in memory, got a dask {type(value).__name__}; use "
                "separatrix.distributed.fit(estimator, X, y)"
            )


def starts_at_last_fit(estimator: Any, **facts: tuple[Any, Any]) -> bool:
    """Whether a warm start fits: pairs of what the last fit had and what this one has are equal.

    Where they are not, WarmStartWarning names the first that differs.

    Examples
    --------
    >>> starts_at_last_fit(None, labels=(np.array([0, 1]), np.array([0, 1])), features=(4, 4))
    True
    """
    for name, (before, now) in facts.items():
        if not np.array_equal(before, now):
            words = [
                f"{len(value)} of them" if np.size(value) > 10 else str(np.asarray(value).tolist())
                for value in (before, now)
            ]
            told = words[0] != words[1] and not isinstance(now, bool)
            detail = f" ({words[0]}, now {words[1]})" if told else ""
            warnings.warn(
                f"warm_start=True, but the last fit of this {type(estimator).__name__} had other "
                f"{name}{detail}: it starts over",
                WarmStartWarning,
                stacklevel=4,
            )
            return False
    return True


def canonical(X: Any) -> Any:
    """A copy of sparse X with sorted rows that name no column twice; dense X as it is.

    What a flag of X says of its order is not believed: a copy looks for itself.

    Examples
    --------
    >>> X = sp.csr_array(([1.0, 2.0, 3.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    >>> canonical(X).data, X.nnz
    (array([2., 4.]), 3)
    """
    if not is_sparse(X):
        return X
    X = X.copy()
    X.sum_duplicates()
    return X
