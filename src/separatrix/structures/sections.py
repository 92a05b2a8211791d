"""Where the weights of each kind stand in one vector, and how far features reach."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from separatrix.validation import is_sparse

__all__ = ["largest_square", "sections_of"]


def sections_of(sizes: Mapping[str, int]) -> dict[str, slice]:
    """Consecutive sections of these sizes.

    Examples
    --------
    >>> sections_of({"pairs": 2, "bias": 1})
    {'pairs': slice(0, 2, None), 'bias': slice(2, 3, None)}
    """
    ends = accumulate(sizes.values())
    return {
        name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)
    }


def largest_square(matrix: Any) -> float:
    """The largest squared norm of a row, in double precision; zero for no matrix or no rows.

    Examples
    --------
    >>> largest_square(np.array([[3.0, 4.0], [1.0, 0.0]])), largest_square(None)
    (25.0, 0.0)
    """
    if matrix is None or 0 in matrix.shape:
        return 0.0
    rows = matrix.astype(np.float64)
    squares = rows.multiply(rows) if is_sparse(matrix) else np.square(rows)
    return float(np.asarray(squares.sum(axis=1)).max())
