"""From counts to log-probabilities, and from these to the joint likelihood of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix._core import joint_likelihood, scores
from separatrix.errors import DataError
from separatrix.learners.generative.columns import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL
from separatrix.learners.generative.counts import Counts
from separatrix.learners.generative.smoothing import FloatArray, Pool, Smoothing
from separatrix.structures.labels import Design, in_place
from separatrix.validation import canonical, is_sparse

__all__ = ["Estimates", "Likelihood"]

#: Sums of indicators are whole numbers or shares of counts; less than this is rounding.
_NOTHING = 1e-12


class Estimates:
    """Probabilities P(x_j | y) of every column, estimated from counts.

    Parameters
    ----------
    counts : Counts
        What was seen.
    smoothing : Smoothing
        How counts become probabilities.
    var_smoothing : float
        Share of the largest variance of a Gaussian column that is added to all variances.

    Attributes
    ----------
    events : ndarray of shape (K, d)
        Multinomial columns: P(word | y); Bernoulli: P(on | y); 1 for others.
    off : ndarray of shape (K, d) or None
        Bernoulli columns: P(off | y).
    mean, variance : ndarray of shape (K, d) or None
        Gaussian columns.
    table : ndarray of shape (K, sum of sizes)
        Categorical columns.
    """

    def __init__(self, counts: Counts, smoothing: Smoothing, var_smoothing: float) -> None:
        self.counts = counts
        kinds = counts.kinds
        only = len(kinds) > 0 and bool((kinds == MULTINOMIAL).all())
        self.off: FloatArray | None = None
        self.mean: FloatArray | None = None
        self.variance: FloatArray | None = None
        self.events: FloatArray
        if only and counts.bags is None:
            self.events = _words(counts.value, smoothing)
        else:
            self.events = np.ones(counts.value.shape)
            for bag in _bags(counts):
                self.events[:, bag] = _words(counts.value[:, bag], smoothing)
        if (kinds == BERNOULLI).any():
            self._switches(counts, smoothing, kinds == BERNOULLI)
        if (kinds == GAUSSIAN).any():
            self._normals(counts, var_smoothing, kinds == GAUSSIAN)
        self.table = self._categories(counts, smoothing)

    def _switches(
        self, counts: Counts, smoothing: Smoothing, chosen: npt.NDArray[np.bool_]
    ) -> None:
        on = counts.value[:, chosen]
        seen = counts.seen if counts.missing.shape[1] == 0 else counts.seen[:, chosen]
        # Rounding must not leave less than nothing off.
        off = np.maximum(seen - on, 0.0)
        self.off = np.ones(counts.value.shape)
        for array, count in ((self.events, on), (self.off, off)):
            array[:, chosen] = smoothing.rate(count, seen, 2, _pool(count, seen))

    def _normals(self, counts: Counts, var_smoothing: float, chosen: npt.NDArray[np.bool_]) -> None:
        mean, scatter = counts.value[:, chosen], counts.scatter[:, chosen]
        seen = np.broadcast_to(counts.seen, counts.value.shape)[:, chosen]
        total = seen.sum(axis=0)
        center = np.divide(
            (seen * mean).sum(axis=0), total, out=np.zeros(mean.shape[1]), where=total > 0
        )
        spread = (scatter + seen * (mean - center) ** 2).sum(axis=0)
        pooled = np.divide(spread, total, out=np.zeros_like(spread), where=total > 0)
        largest = float(pooled.max())
        # Where all columns are constant any scale will do: none of them tells classes apart.
        floor = var_smoothing * (largest if largest > 0 else 1.0)
        # A class without a value in a column takes what all classes have there.
        variance = np.divide(scatter, seen, out=np.tile(pooled, (len(seen), 1)), where=seen > 0)
        variance += floor
        if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
            raise FloatingPointError("a mean or a variance is not finite; scale the features")
        if not (variance > 0).all():
            column = int(np.flatnonzero(chosen)[np.argmin(variance.min(axis=0))])
            raise DataError(
                "a class has variance zero, and var_smoothing is 0 as well, in "
                f"column {column}: raise var_smoothing, or model it as categorical"
            )
        self.mean, self.variance = np.zeros(counts.value.shape), np.ones(counts.value.shape)
        self.mean[:, chosen] = np.where(seen > 0, mean, center)
        self.variance[:, chosen] = variance

    @staticmethod
    def _categories(counts: Counts, smoothing: Smoothing) -> FloatArray:
        if counts.sizes is None:
            return counts.table
        column = np.repeat(np.arange(len(counts.sizes)), counts.sizes)
        seen = np.broadcast_to(counts.seen, counts.value.shape)[:, column]
        sizes: Any = counts.sizes[column]
        return smoothing.rate(counts.table, seen, sizes, _pool(counts.table, seen))

    def zeros(self) -> int:
        """How many estimates are zero."""
        found = [self.events, self.off, self.table]
        return sum(int((array == 0).sum()) for array in found if array is not None)


def _bags(counts: Counts) -> list[npt.NDArray[np.intp]]:
    """The columns of every bag of words."""
    words = np.flatnonzero(counts.kinds == MULTINOMIAL)
    if counts.bags is None or not len(words):
        return [words] if len(words) else []
    own = counts.bags[words]
    order = np.argsort(own, kind="stable")
    return np.split(words[order], np.flatnonzero(np.diff(own[order])) + 1)


def _words(sums: FloatArray, smoothing: Smoothing) -> FloatArray:
    """P(word | y) from sums over the words of a bag; shape (K, words)."""
    total = sums.sum(axis=1, keepdims=True)
    return smoothing.rate(sums, total, sums.shape[1], _pool(sums, total))


def _pool(count: FloatArray, total: FloatArray) -> Pool:
    """Counts and totals of all classes together."""
    return lambda: (count.sum(axis=0), total.sum(axis=0))


class _Terms(NamedTuple):
    """What the kernel adds up, class-major."""

    start: FloatArray
    weight: FloatArray
    base: FloatArray
    mean: FloatArray
    table: FloatArray

    def turned(self) -> _Terms:
        """Feature-major, for sparse rows."""
        return _Terms(self.start, *(np.ascontiguousarray(part.T) for part in self[1:]))


@dataclass(eq=False)
class Likelihood:
    """log P(y) + sum_j log P(x_j | y) for rows, from estimates; what is missing adds nothing.

    Attributes
    ----------
    estimates : Estimates
        Probabilities of every column.
    log_prior : ndarray of shape (K,)
        log P(y).
    threshold : float
        Bernoulli columns are on above it.
    complement : bool
        Score by -log P(x | not y) instead, without the prior (Rennie et al. 2003).
    """

    estimates: Estimates
    log_prior: FloatArray
    threshold: float
    complement: bool = False
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}

    def joint(self, X: Any, design: Design, n_threads: int) -> FloatArray:
        """Joint log-likelihoods of shape (n, K); minus infinity where a probability is zero."""
        terms, zeros = self._terms(), self._zeros()
        result = self._sums(X, design, terms, "terms", n_threads)
        if zeros is not None:
            result[self._sums(X, design, zeros, "zeros", n_threads) > _NOTHING] = -np.inf
        impossible = np.isneginf(self.log_prior)
        if impossible.any() and not self.complement:
            result[:, impossible] = -np.inf
        return result

    def log_odds(self, X: Any, design: Design, n_threads: int) -> FloatArray | None:
        """Joint log-likelihood of the second of two classes less that of the first, shape (n,).

        In the precision of X. None where it must be taken from the whole: unless all columns are
        counts of words, none of them is missing, and no probability is zero.
        """
        kinds, events = self.estimates.counts.kinds, self.estimates.events
        if len(self.log_prior) != 2 or not (kinds == MULTINOMIAL).all():
            return None
        if self._zeros() is not None or not np.isfinite(self.log_prior).all():
            return None
        if "odds" not in self._kept:
            ratio = events[0] / events[1] if self.complement else events[1] / events[0]
            np.log(ratio, out=ratio)
            self._kept["odds"] = ratio[:, None]
        weights = np.ascontiguousarray(self._kept["odds"], dtype=X.dtype)
        odds = np.asarray(scores(design, weights, n_threads)[:, 0], dtype=np.float64)
        if not self.complement:
            odds += self.log_prior[1] - self.log_prior[0]
        return odds if np.isfinite(odds).all() else None

    def _terms(self) -> _Terms:
        if "terms" in self._kept:
            kept: _Terms = self._kept["terms"]
            return kept
        found, kinds = self.estimates, self.estimates.counts.kinds
        k = len(self.log_prior)
        empty = np.empty((k, 0))
        weight, base, mean = empty, empty, empty
        if (kinds != CATEGORICAL).any():
            weight = _log(found.events)
        if found.off is not None or found.variance is not None:
            base = np.zeros_like(weight)
        if found.off is not None:
            base += _log(found.off)
            weight -= base
        if found.variance is not None and found.mean is not None:
            normal = kinds == GAUSSIAN
            base[:, normal] = -0.5 * np.log(2 * np.pi * found.variance[:, normal])
            weight[:, normal] = 1 / found.variance[:, normal]
            mean = found.mean
        start = np.where(np.isneginf(self.log_prior), 0.0, self.log_prior)
        if self.complement:
            start, weight = np.zeros(k), -weight
        parts = (weight, base, mean, _log(found.table))
        self._kept["terms"] = _Terms(start, *(np.ascontiguousarray(part) for part in parts))
        return self._terms()

    def _zeros(self) -> _Terms | None:
        """Indicators of zero probabilities in place of their logarithms; None without such."""
        if "zeros" not in self._kept:
            found = self.estimates
            if not found.zeros():
                self._kept["zeros"] = None
                return None
            terms = self._terms()
            base = np.zeros_like(terms.base)
            weight = (found.events == 0).astype(np.float64)
            if found.off is not None:
                base = (found.off == 0).astype(np.float64)
                weight -= base
            weight = weight if terms.weight.size else terms.weight
            self._kept["zeros"] = _Terms(
                np.zeros_like(terms.start),
                weight,
                base,
                np.zeros_like(terms.mean),
                (found.table == 0).astype(np.float64),
            )
        kept: _Terms | None = self._kept["zeros"]
        return kept

    def _sums(self, X: Any, design: Design, terms: _Terms, name: str, n_threads: int) -> FloatArray:
        if is_sparse(X):
            turned = f"{name} turned"
            if turned not in self._kept:
                self._kept[turned] = terms.turned()
            terms = self._kept[turned]
        counts = self.estimates.counts
        arguments = (counts.kinds, counts.sizes, self.threshold, *terms, n_threads)
        result = joint_likelihood(design, *arguments)
        if result is None:
            result = joint_likelihood(in_place(canonical(X)), *arguments)
        if result is None:
            raise DataError("the sparse rows changed while they were read")
        return result


def _log(probabilities: FloatArray) -> FloatArray:
    """Logarithms, 0 where the probability is 0: zeros are counted apart."""
    if probabilities.size and probabilities.min() > 0:
        return np.log(probabilities)
    return np.log(np.where(probabilities > 0, probabilities, 1.0))
