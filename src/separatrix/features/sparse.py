"""Sparse matrices from the arrays that the kernels return."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn import get_config

from separatrix.errors import ParameterError

__all__ = ["check_float", "make_csr"]


def check_float(dtype: Any) -> np.dtype[Any]:
    """float32 or float64, as a dtype."""
    found: np.dtype[Any]
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = np.dtype(object)
    if found not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ParameterError(f'dtype must be "float32" or "float64", got {dtype!r}')
    return found


def make_csr(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], data: Any, n_columns: int
) -> Any:
    """A CSR matrix over the arrays, sorted and without repeats, indices of 32 bits where they fit.

    It is an array or a matrix of SciPy as scikit-learn's configuration says (matrix by default).
    """
    n_stored = len(indices)
    starts = indptr.astype(np.int32) if n_stored < 2**31 else indptr
    columns = indices if n_stored < 2**31 else indices.astype(np.int64)
    as_array = get_config().get("sparse_interface", "spmatrix") == "sparray"
    made: Any = (sp.csr_array if as_array else sp.csr_matrix)(
        (len(indptr) - 1, n_columns), dtype=data.dtype
    )
    # Set in place: the constructor would look at every index to find out what we know.
    made.indptr, made.indices, made.data = starts, columns, data
    made.has_sorted_indices = made.has_canonical_format = True
    return made
