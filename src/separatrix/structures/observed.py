"""What a structure observes in training data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Observed"]


class Observed(NamedTuple):
    """Training data as a structure sees them.

    Attributes
    ----------
    features : PairwiseGraph or LabelGraph
        Which weights there are, and inference with them.
    X : FeatureGraphs or LabelRows
        The graphs.
    classes : array
        The labels, sorted; of label sets the numbers of the columns.
    codes : int64 array of shape (n_nodes,)
        Labels of the nodes as numbers.
    """

    features: Any
    X: Any
    classes: npt.NDArray[Any]
    codes: npt.NDArray[np.int64]
