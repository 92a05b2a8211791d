"""The sparse weights of all nodes of a label tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import TreeModel
from separatrix.learners.extreme.tree_shape import TreeShape

__all__ = ["PRECISIONS", "NodeReport", "TreeWeights"]

#: Name -> type of the stored weights.
PRECISIONS: dict[str, type[np.floating[Any]]] = {
    "half": np.float16,
    "single": np.float32,
    "double": np.float64,
}


class NodeReport(NamedTuple):
    """How the problems of all nodes ended.

    Attributes
    ----------
    objective : float
        Sum of the objectives.
    gap : float
        Sum of the duality gaps.
    n_passes : float
        Largest number of passes over the rows of a node.
    unfinished : int
        Problems that did not reach the tolerance.
    """

    objective: float
    gap: float
    n_passes: float
    unfinished: int


@dataclass(frozen=True, eq=False)
class TreeWeights:
    """Weights of all nodes, one node after the other, feature by feature.

    Attributes
    ----------
    feature_starts : ndarray of shape (n_nodes + 1,)
        Node n has the entries ``feature_starts[n]:feature_starts[n + 1]`` of `features`.
    features : ndarray
        Features with a weight, rising within a node.
    weight_starts : ndarray
        Entry f of `features` has the weights ``weight_starts[f]:weight_starts[f + 1]``.
    children : ndarray
        The child that a weight belongs to, counted within its node.
    values : ndarray of float16, float32 or float64
        The weights.
    intercepts : ndarray of shape (n_edges,)
        An intercept for each edge.
    """

    feature_starts: npt.NDArray[np.int64]
    features: npt.NDArray[np.int32]
    weight_starts: npt.NDArray[np.int64]
    children: npt.NDArray[np.uint16]
    values: npt.NDArray[np.floating[Any]]
    intercepts: npt.NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(int(array.nbytes) for array in vars(self).values())

    def model(self, shape: TreeShape, *, single: bool, scale: float) -> TreeModel:
        """A handle for the kernels; it borrows the arrays."""
        values = self.values.view(np.uint16) if self.values.dtype == np.float16 else self.values
        return TreeModel(
            shape.starts,
            shape.targets,
            self.feature_starts,
            self.features,
            self.weight_starts,
            self.children,
            values,
            self.intercepts,
            single,
            scale,
        )

    def node(self, shape: TreeShape, node: int, n_features: int) -> sp.csc_array:
        """The weights of one node, of shape (n_features, children)."""
        first, last = self.feature_starts[node : node + 2]
        starts = self.weight_starts[first : last + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        rows = np.repeat(self.features[first:last], np.diff(starts))
        n_children = len(shape.children(node))
        entries = (self.values[inside].astype(np.float64), (rows, self.children[inside]))
        return sp.coo_array(entries, shape=(n_features, n_children)).tocsc()
