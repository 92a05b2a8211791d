"""Labels that deserve a closer look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Candidates"]


class Candidates(NamedTuple):
    """The best labels of every row, best first.

    Attributes
    ----------
    indptr : ndarray of shape (n + 1,)
        Row i has the candidates ``indptr[i]:indptr[i + 1]``.
    indices : ndarray of shape (m,)
        Places in `classes_`.
    log_scores : ndarray of shape (m,)
        Natural logarithms of their probabilities.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    log_scores: npt.NDArray[np.float64]
