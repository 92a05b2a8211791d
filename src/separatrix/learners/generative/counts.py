"""Sufficient statistics of naive Bayes: counts that add, so that models merge exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Dense, count
from separatrix.errors import DataError
from separatrix.learners.generative.columns import GAUSSIAN
from separatrix.structures.labels import Design, in_place
from separatrix.validation import canonical, is_sparse

__all__ = ["Counts", "handle"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Counts:
    """What was seen of K classes and d columns; arrays that no column needs have no columns.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Weight of the rows of every class.
    value : ndarray of shape (K, d)
        Multinomial columns: sums; Bernoulli: weight of "on"; Gaussian: means.
    scatter : ndarray of shape (K, d) or (K, 0)
        Gaussian columns: weighted squares around the means.
    missing : ndarray of shape (K, d) or (K, 0)
        Weight of the rows in which the value is missing.
    table : ndarray of shape (K, sum of sizes)
        Weights of the categories of categorical columns, column after column.
    kinds : ndarray of uint8 of shape (d,)
        Kinds of the columns.
    sizes : ndarray of shape (d,) or None
        Number of categories of every column.
    bags : ndarray of shape (d,) or None
        Numbers of the bags of multinomial columns; None where all are one bag.
    """

    classes: FloatArray
    value: FloatArray
    scatter: FloatArray
    missing: FloatArray
    table: FloatArray
    kinds: npt.NDArray[np.uint8]
    sizes: npt.NDArray[np.int64] | None
    bags: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        codes: npt.NDArray[np.int64],
        weights: FloatArray | None,
        n_classes: int,
        kinds: npt.NDArray[np.uint8],
        sizes: npt.NDArray[np.int64] | None,
        threshold: float,
        design: Any,
        n_threads: int,
        bags: npt.NDArray[np.int32] | None = None,
    ) -> Counts:
        """Count the rows of X in one threaded pass."""
        arguments = (kinds, sizes, threshold, codes, weights, n_classes, n_threads)
        found = count(design, *arguments)
        if found is None:
            found = count(in_place(canonical(X)), *arguments)
        if found is None:
            raise DataError("the sparse rows changed while they were counted")
        return cls(*found, kinds, sizes, bags)

    @property
    def seen(self) -> FloatArray:
        """Weight of the rows with a value, of shape (K, d) or (K, 1)."""
        if self.missing.shape[1] == 0:
            return self.classes[:, None]
        # Rounding of sums in another order leaves traces of nothing.
        seen = self.classes[:, None] - self.missing
        return np.where(seen > 1e-12 * self.classes[:, None], seen, 0.0)

    def offsets(self) -> npt.NDArray[np.int64]:
        """Where the categories of each column begin in `table`; shape (d + 1,)."""
        d = len(self.kinds)
        sizes = np.zeros(d, dtype=np.int64) if self.sizes is None else self.sizes
        return np.concatenate([[0], np.cumsum(sizes)])

    def spread(self, codes: npt.NDArray[np.intp], n_classes: int) -> Counts:
        """The same counts among more classes: class k here is class codes[k] there."""

        def wide(array: FloatArray) -> FloatArray:
            result = np.zeros((n_classes, *array.shape[1:]))
            result[codes] = array
            return result

        return replace(
            self,
            classes=wide(self.classes),
            value=wide(self.value),
            scatter=wide(self.scatter),
            missing=wide(self.missing),
            table=wide(self.table),
        )

    def resized(self, sizes: npt.NDArray[np.int64] | None) -> Counts:
        """The same counts with room for more categories."""
        if sizes is None or self.sizes is None or np.array_equal(sizes, self.sizes):
            return self
        table = np.zeros((len(self.classes), int(sizes.sum())))
        # Category v of a column moves with the beginning of its column.
        moves = np.repeat(np.cumsum(sizes) - sizes - self.offsets()[:-1], self.sizes)
        table[:, np.arange(self.table.shape[1]) + moves] = self.table
        return replace(self, table=table, sizes=sizes)

    def columns(self, chosen: npt.NDArray[np.bool_]) -> Counts:
        """The counts of some columns."""
        if chosen.all():
            return self
        category = chosen if self.sizes is None else np.repeat(chosen, self.sizes)

        def cut(array: FloatArray) -> FloatArray:
            return array[:, chosen] if array.shape[1] else array

        return replace(
            self,
            value=cut(self.value),
            scatter=cut(self.scatter),
            missing=cut(self.missing),
            table=self.table if self.sizes is None else self.table[:, category],
            kinds=self.kinds[chosen],
            sizes=None if self.sizes is None else self.sizes[chosen],
            bags=None if self.bags is None else self.bags[chosen],
        )

    def grouped(self, own: npt.NDArray[np.bool_]) -> Counts:
        """Two classes of these: all others together, then those that `own` marks.

        For columns that are not Gaussian.
        """

        def pair(array: FloatArray) -> FloatArray:
            return np.stack([array[~own].sum(axis=0), array[own].sum(axis=0)])

        return replace(
            self,
            classes=pair(self.classes),
            value=pair(self.value),
            scatter=np.empty((2, 0)),
            missing=pair(self.missing),
            table=pair(self.table),
        )

    def merge(self, other: Counts) -> Counts:
        """The counts of both sets of rows, of the same classes and kinds."""
        if self.sizes is not None and other.sizes is not None:
            sizes = np.maximum(self.sizes, other.sizes)
            first, second = self.resized(sizes), other.resized(sizes)
        else:
            first, second = self, other
        value, scatter = first.value + second.value, first.scatter
        gaussian = first.kinds == GAUSSIAN
        if gaussian.any():
            value, scatter = _join(first, second, gaussian, value)
        missing = first.missing
        if first.missing.shape[1] and second.missing.shape[1]:
            missing = first.missing + second.missing
        elif second.missing.shape[1]:
            missing = second.missing
        return Counts(
            first.classes + second.classes,
            value,
            scatter,
            missing,
            first.table + second.table,
            first.kinds,
            first.sizes,
            first.bags,
        )


def _join(
    first: Counts, second: Counts, gaussian: npt.NDArray[np.bool_], value: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and squares of two groups together: Chan, Golub & LeVeque (1983)."""
    one, two = (np.broadcast_to(c.seen, c.value.shape) for c in (first, second))
    total = one + two
    share = np.divide(two, total, out=np.zeros_like(total), where=total > 0)
    delta = second.value - first.value
    value = np.where(gaussian, first.value + share * delta, value)
    scatter = first.scatter + second.scatter + delta**2 * one * share
    return value, np.where(gaussian, scatter, 0.0)


def handle(X: Any) -> Design:
    """A handle on rows that nobody has looked at: NaN is welcome, infinity is found later."""
    return in_place(X) if is_sparse(X) else Dense(np.ascontiguousarray(X))
