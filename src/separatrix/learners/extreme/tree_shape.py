"""The shape of a tree over labels: which nodes there are and where their edges lead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError, ParameterError

__all__ = ["MOST_CHILDREN", "TreeShape", "factors_of"]

#: More children of one node the kernels cannot number.
MOST_CHILDREN = 2**16

#: With ``branching="auto"``: labels of a node of the last level, and nodes below a node.
_LEAF, _INNER = 100, 32


def factors_of(n_labels: int, branching: int | str) -> list[int]:
    """Numbers of children, level by level, of the nodes above those that have labels.

    Examples
    --------
    >>> factors_of(100, "auto"), factors_of(1000, "auto"), factors_of(1_000_000, "auto")
    ([], [10], [22, 22, 21])
    >>> factors_of(20, 3)
    [3, 3]
    """
    leaf, inner = (_LEAF, _INNER) if branching == "auto" else (int(branching), int(branching))
    n_groups = math.ceil(n_labels / leaf)
    if n_groups == 1:
        return []
    depth = 1
    while inner**depth < n_groups:
        depth += 1
    # Levels of equal width, the last of them rounded up.
    factors: list[int] = []
    for level in range(depth, 0, -1):
        left = math.ceil(n_groups / math.prod(factors))
        factor = round(left ** (1 / level))
        while factor**level < left:
            factor += 1
        factors.append(factor)
    return [factor for factor in factors if factor > 1]


@dataclass(frozen=True, eq=False)
class TreeShape:
    """Nodes, from the root downwards, and their edges.

    Attributes
    ----------
    starts : ndarray of shape (n_nodes + 1,)
        Node n has the edges ``starts[n]:starts[n + 1]``.
    targets : ndarray of shape (n_edges,)
        The node that an edge leads to, or ``n_nodes + label``.
    """

    starts: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.starts) - 1

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.targets) - self.n_nodes + 1

    def depth(self) -> int:
        """Edges from the root to the deepest label.

        Examples
        --------
        >>> TreeShape.flat(3).depth()
        1
        """
        depths = np.ones(self.n_nodes, dtype=np.int64)
        for node in range(self.n_nodes):
            below = self.children(node)
            depths[below[below < self.n_nodes]] = depths[node] + 1
        return int(depths.max())

    def children(self, node: int) -> npt.NDArray[np.int64]:
        """Where the edges of a node lead."""
        return self.targets[self.starts[node] : self.starts[node + 1]]

    @classmethod
    def flat(cls, n_labels: int) -> TreeShape:
        """All labels below the root."""
        return cls(np.array([0, n_labels]), 1 + np.arange(n_labels))

    @classmethod
    def of_groups(
        cls, order: npt.NDArray[np.int64], bounds: npt.NDArray[np.int64], factors: list[int]
    ) -> TreeShape:
        """Levels of nodes with `factors` children each, above groups of labels.

        Parameters
        ----------
        order : ndarray of shape (K,)
            Labels, group after group.
        bounds : ndarray of shape (G + 1,)
            Where the groups begin and end; G is the product of `factors`.
        factors : list of int
            Children of the nodes of each level.

        Examples
        --------
        >>> shape = TreeShape.of_groups(np.array([2, 0, 1]), np.array([0, 2, 3]), [2])
        >>> shape.starts, shape.targets
        (array([0, 2, 4, 5]), array([1, 2, 5, 3, 4]))
        """
        widths = np.cumprod([1, *factors])
        n_nodes = int(widths.sum())
        inner = np.repeat(np.array(factors, dtype=np.int64), widths[:-1])
        starts = np.concatenate([[0], np.cumsum(np.concatenate([inner, np.diff(bounds)]))])
        targets = np.concatenate([np.arange(1, n_nodes), n_nodes + order])
        return cls(starts.astype(np.int64), targets.astype(np.int64))

    @classmethod
    def of_paths(cls, labels: list[Any], hierarchy: Mapping[Any, Any]) -> TreeShape:
        """The tree that a hierarchy spells out; nodes with one child are passed over.

        Parameters
        ----------
        labels : list of length K
            Labels.
        hierarchy : mapping
            For each label the names of the nodes above it, from the top, without the root.

        Examples
        --------
        >>> paths = {"cat": ("animal", "mammal"), "cod": ("animal",), "oak": ()}
        >>> TreeShape.of_paths(["cat", "cod", "oak"], paths).targets
        array([1, 4, 2, 3])
        """
        root: dict[Any, Any] = {}
        for number, label in enumerate(labels):
            if label not in hierarchy:
                raise DataError(
                    f"label {label!r} has no place in the hierarchy; add it with the names of the "
                    "nodes above it, or an empty tuple for a place below the root"
                )
            path = hierarchy[label]
            if isinstance(path, str):
                raise ParameterError(
                    f"the path of label {label!r} must be a sequence of names, not the text "
                    f"{path!r}"
                )
            node = root
            for name in path:
                node = node.setdefault((False, name), {})
            node[True, number] = number
        nodes: list[list[Any]] = [list(_branching(root).values())]
        targets: list[Any] = []
        starts = [0]
        place = 0
        while place < len(nodes):  # breadth first, so that numbers rise downwards
            for child in nodes[place]:
                child = _branching(child)
                if isinstance(child, dict):
                    targets.append(len(nodes))
                    nodes.append(list(child.values()))
                else:
                    targets.append(-1 - child)
            starts.append(len(targets))
            place += 1
        found = np.array(targets, dtype=np.int64)
        found[found < 0] = len(nodes) - 1 - found[found < 0]
        widest = int(np.diff(starts).max())
        if widest > MOST_CHILDREN:
            raise ParameterError(
                f"a node of the hierarchy has {widest} children, more than {MOST_CHILDREN}; put "
                "nodes between them"
            )
        return cls(np.array(starts, dtype=np.int64), found)


def _branching(node: Any) -> Any:
    """The first node at or below `node` with several children, or the only label there."""
    while isinstance(node, dict) and len(node) == 1:
        (node,) = node.values()
    return node
