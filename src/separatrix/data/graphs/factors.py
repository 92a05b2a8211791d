"""Factors of a batch of graphs: small groups of nodes whose labels score together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from separatrix.data.sequences.containers import _gather, _row_numbers, _starts
from separatrix.errors import DataError

__all__ = ["Factors"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Factors:
    """Groups of m nodes each, for every graph of a batch.

    Attributes
    ----------
    offsets : int64 array of shape (n_graphs + 1,)
        Where the factors of each graph begin, and where the last ones end.
    nodes : int64 array of shape (n_factors, m)
        The nodes of a factor, as numbers of the batch.
    kinds : int64 array of shape (n_factors,)
        Which table of scores a factor has.

    Examples
    --------
    >>> factors = Factors.of([[(0, 1, 2)], [(2, 1, 0)]], np.array([0, 3, 6]))
    >>> factors.nodes.tolist()
    [[0, 1, 2], [5, 4, 3]]
    >>> Factors.of([[(0, 1, 3)]], np.array([0, 3]))
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: factor 0 of graph 0 names node 3, but the graph has 3 nodes
    """

    offsets: Integers
    nodes: Integers
    kinds: Integers

    @classmethod
    def of(
        cls,
        factors: Sequence[npt.ArrayLike],
        node_offsets: Integers,
        kinds: Sequence[npt.ArrayLike] | None = None,
    ) -> Factors:
        """Factors of graphs one by one.

        Parameters
        ----------
        factors : sequence of array-like of shape (factors of the graph, m)
            Their nodes, which count from zero in every graph; m is the same everywhere.
        node_offsets : array of shape (n_graphs + 1,)
            Where the nodes of each graph begin.
        kinds : sequence of array-like of int, optional
            Kind of every factor of each graph; zero without.
        """
        sizes = np.diff(node_offsets)
        if len(factors) != len(sizes) or (kinds is not None and len(kinds) != len(sizes)):
            raise DataError(f"{len(sizes)} graphs need as many lists of factors, and of kinds")
        parts = [np.asarray(part, dtype=np.int64) for part in factors]
        widths = {part.shape[1] if part.ndim == 2 else 0 for part in parts if part.size}
        if len(widths) != 1 or 0 in widths:
            raise DataError("there must be factors, and all must join the same number of nodes")
        (width,) = widths
        parts = [part.reshape(-1, width) for part in parts]
        for graph, (part, size) in enumerate(zip(parts, sizes.tolist(), strict=True)):
            _check(part, graph, size)
        given = [np.zeros(len(part), dtype=np.int64) for part in parts]
        if kinds is not None:
            given = [np.asarray(kind, dtype=np.int64) for kind in kinds]
            for graph, (part, kind) in enumerate(zip(parts, given, strict=True)):
                if kind.shape != (len(part),) or (kind < 0).any():
                    raise DataError(f"graph {graph} needs a kind, not negative, for every factor")
        moved = [part + start for part, start in zip(parts, node_offsets[:-1], strict=True)]
        lengths = [len(part) for part in parts]
        return cls(_starts(lengths), np.concatenate(moved), np.concatenate(given))

    @property
    def arity(self) -> int:
        """m."""
        return int(self.nodes.shape[1])

    @property
    def n_kinds(self) -> int:
        """Number of kinds."""
        return int(self.kinds.max(initial=0)) + 1

    def take(self, rows: npt.ArrayLike, old: Integers, new: Integers) -> Factors:
        """The factors of the graphs named by `rows`, whose nodes move from `old` to `new`."""
        picked, offsets = _gather(self.offsets, rows)
        moves = new[:-1] - old[_row_numbers(rows, len(self.offsets) - 1)]
        nodes = self.nodes[picked] + np.repeat(moves, np.diff(offsets))[:, None]
        return Factors(offsets, nodes, self.kinds[picked])


def _check(part: Integers, graph: int, size: int) -> None:
    for number, nodes in enumerate(part.tolist()):
        for node in nodes:
            if not 0 <= node < size:
                raise DataError(
                    f"factor {number} of graph {graph} names node {node}, but the graph has "
                    f"{size} nodes"
                )
        if len(set(nodes)) < len(nodes):
            raise DataError(f"factor {number} of graph {graph} names a node twice: {nodes}")
