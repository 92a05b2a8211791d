"""Data on its way to the kernels and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import Csr, Dense
from separatrix.errors import DataError, ParameterError
from separatrix.validation import canonical, is_sparse, name_column, validate_X

__all__ = ["check_hashed", "checked_matrix", "dense_handle", "rows_from_parts", "sparse_handle"]


def checked_matrix(estimator: Any, X: Any, n_threads: int, *, reset: bool) -> Any:
    """X as a float array in C order or as CSR with rising columns; all of it finite.

    DataError names the first cell that is not finite. X itself is left as it is.
    """
    X = validate_X(estimator, X, reset=reset)
    try:
        if not is_sparse(X):
            Dense(X).check(n_threads)
            return np.asarray(X)
        X = sp.csr_array(X)
        Csr(X.indptr, X.indices, X.data, X.shape[1]).check(n_threads)
    except DataError as error:
        raise name_column(error, estimator) from None
    if not X.has_canonical_format:
        X = canonical(X)
    return X


def dense_handle(X: npt.NDArray[Any]) -> Dense:
    """A handle on a float matrix."""
    return Dense(np.ascontiguousarray(X))


def sparse_handle(X: sp.csr_array) -> Csr:
    """A handle on sparse rows."""
    return Csr(X.indptr, X.indices, X.data, X.shape[1])


def rows_from_parts(
    parts: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]], n_columns: int
) -> sp.csr_matrix:
    """The CSR matrix of a kernel's three arrays, with 32-bit indices where they fit.

    A matrix and not an array of scipy, as from scikit-learn's own transformers.
    """
    indptr, indices, data = parts
    if indices.dtype == np.int32 and len(data) < np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    elif indices.dtype == np.int32:
        indices = indices.astype(np.int64)
    X = sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_columns), copy=False)
    X.has_canonical_format = True
    return X


def check_hashed(n_features: Any, name: str = "n_features") -> int | None:
    """The parameter `name` of a hashing transformer: None, or a number of columns below 2^31."""
    if n_features is None:
        return None
    if not isinstance(n_features, int | np.integer) or not 0 < n_features < 2**31:
        raise ParameterError(f"{name} must be None or in 1 … 2^31 - 1, got {n_features!r}")
    return int(n_features)
