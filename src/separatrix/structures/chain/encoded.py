"""Sequence data encoded for passes over it, and weights on their way there and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Chains, Csr
from separatrix.data import AttributeSequences
from separatrix.errors import DataError

__all__ = ["EncodedChains", "checked_csr", "make_csr"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def make_csr(matrix: Any) -> Csr:
    """A handle on a CSR matrix for the kernels."""
    indices = matrix.indices
    indptr = matrix.indptr.astype(indices.dtype, copy=False)
    return Csr(indptr, indices, matrix.data, matrix.shape[1])


@dataclass(frozen=True, eq=False)
class EncodedChains:
    """Tokens of sequences as the kernels read them.

    Attributes that cannot be told apart may share one weight: where k of them have weights w, the
    kernels see their sum k w, and solvers the variable sqrt(k) w, whose square is the sum of the
    squares of all.

    Attributes
    ----------
    handle : Chains
        The data.
    multiplicity : array of shape (n_inner,)
        k of every inner weight; zero for padding.
    positions : array of shape (n_state_weights,)
        Inner weight of every (attribute, label) of the pattern.
    dtype : dtype
        Precision of the data.
    """

    handle: Chains
    multiplicity: Floats
    positions: Integers
    dtype: np.dtype[Any]

    @classmethod
    def of(
        cls,
        X: AttributeSequences,
        pattern: tuple[Integers, Integers],
        n_labels: int,
        *,
        merge: bool = False,
        edges: tuple[Any, Integers, Integers] | None = None,
    ) -> EncodedChains:
        """Encode the tokens of X.

        Parameters
        ----------
        X : AttributeSequences
            The tokens.
        pattern : (starts, labels)
            Labels with a weight, for every attribute.
        n_labels : int
            K.
        merge : bool
            Whether attributes with equal columns share their weights.
        edges : (matrix, starts, edges), optional
            Attributes of the edges and their pattern.
        """
        csr = checked_csr(X)
        inner_edges = None
        if edges is not None:
            matrix = edges[0].astype(X.matrix.dtype, copy=False)
            edge_csr = make_csr(matrix)
            _check(edge_csr, X, "edge attribute", X.edge_vocabulary)
            inner_edges = (edge_csr, *edges[1:])
        handle = Chains(csr, X.offsets, *pattern, n_labels, merge, inner_edges)
        return cls(handle, handle.multiplicity(), handle.positions(), X.matrix.dtype)

    def widened(self) -> EncodedChains:
        """The same in double precision."""
        if self.dtype.itemsize == 8:
            return self
        handle = self.handle.widened()
        return EncodedChains(handle, self.multiplicity, self.positions, np.dtype(np.float64))

    @property
    def scale(self) -> Floats:
        """sqrt(k)."""
        return np.sqrt(self.multiplicity)

    def compress(self, w: Floats) -> Floats:
        """The sums of the weights w of attributes that share one, shape (n_inner,)."""
        sums: Any = np.bincount(self.positions, weights=w, minlength=len(self.multiplicity))
        result: Floats = sums
        return result

    def expand(self, sums: Floats) -> Floats:
        """A weight for every (attribute, label) of the pattern from the sums."""
        return (sums / np.maximum(self.multiplicity, 1.0))[self.positions]


def checked_csr(X: AttributeSequences, n_threads: int = 1) -> Csr:
    """A handle on the tokens; DataError names the first value that is not finite."""
    csr = make_csr(X.matrix)
    _check(csr, X, "attribute", X.vocabulary, n_threads)
    return csr


def _check(csr: Csr, X: AttributeSequences, what: str, names: Any, n_threads: int = 1) -> None:
    """Raise DataError at the first value that is not finite, naming sequence, token, attribute."""
    try:
        csr.check(n_threads)
    except DataError as error:
        words = str(error).rstrip(".").split()
        if "row" not in words or "column" not in words:
            raise
        row = int(words[words.index("row") + 1].rstrip(","))
        column = int(words[words.index("column") + 1])
        sequence = int(np.searchsorted(X.offsets, row, side="right")) - 1
        name = repr(names[column]) if names is not None else str(column)
        value = "NaN" if "NaN" in words else "infinity"
        raise DataError(
            f"Input X contains {value} at sequence {sequence}, token "
            f"{row - int(X.offsets[sequence])}, {what} {name}."
        ) from None
