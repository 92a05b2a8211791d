"""The best labels of every row with their probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["TopLabels"]


class TopLabels(NamedTuple):
    """The best labels of every row.

    Attributes
    ----------
    labels : ndarray of shape (n, k)
        Labels, best first.
    probabilities : ndarray of shape (n, k)
        Their probabilities.
    """

    labels: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]
