"""An inverted index of naive-Bayes scores: feature -> labels, in 8 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import LabelIndex
from separatrix.errors import DataError
from separatrix.features.handles import sparse_handle
from separatrix.learners.extreme.counts import PairCounts

__all__ = ["InvertedIndex", "Smoothing", "fit_smoothing"]

#: Units of a natural logarithm in weights, and in penalties and priors.
_UNITS, _FINE_UNITS = 16.0, 256.0
#: A feature shared by more than this part of the labels is kept as a whole row.
_WIDE_SHARE = 8
#: Masses of the prior that are tried, in average masses of a label.
_MASSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_ALPHAS = (0.0, 0.5, 1.0)
#: Rows on which smoothing is judged.
_SAMPLE = 5000


@dataclass(frozen=True)
class Smoothing:
    """How counts become scores.

    Attributes
    ----------
    mu : float
        Mass of the prior: every label is smoothed towards the whole as if by so many counts.
    alpha : float
        Weight of ln n_y.
    ranks : ndarray of shape (m,)
        Labels ahead of the own one, for rows that were left out; empty without such.
    """

    mu: float
    alpha: float
    ranks: npt.NDArray[np.float32]

    @property
    def reciprocal_rank(self) -> float:
        """Mean of 1 / (1 + rank); 0 without ranks."""
        return float(np.mean(1.0 / (1.0 + self.ranks))) if len(self.ranks) else 0.0

    def missed(self, n_candidates: int) -> float:
        """Share of the rows whose label is not among so many candidates."""
        return float(np.mean(self.ranks >= n_candidates)) if len(self.ranks) else 0.0


@dataclass(frozen=True)
class InvertedIndex:
    """The arrays of the index over d features and K labels.

    Attributes
    ----------
    starts, labels, weights : ndarray
        Postings: those of feature f are ``starts[f]:starts[f + 1]``.
    wide, wide_weights : ndarray of shape (d,), (rows, K)
        The whole row of a frequent feature, or -1.
    penalty, prior : ndarray of shape (K,)
        ln((L_y + mu) / mu) and alpha ln n_y in 1/256.
    """

    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[Any]
    weights: npt.NDArray[np.uint8]
    wide: npt.NDArray[np.int32]
    wide_weights: npt.NDArray[np.uint8]
    penalty: npt.NDArray[np.int32]
    prior: npt.NDArray[np.int32]

    @classmethod
    def of(cls, counts: PairCounts, mu: float, alpha: float) -> InvertedIndex:
        """Smooth the counts by a prior of mass `mu`, and the labels' frequency by `alpha`."""
        pairs = counts.pairs
        d, k = pairs.shape
        lengths = np.diff(pairs.indptr)
        scale = np.repeat(1.0 / (mu * counts.shares), lengths)
        values = np.rint(_UNITS * np.log1p(pairs.data * scale)).clip(0, 255).astype(np.uint8)
        is_wide = lengths > k / _WIDE_SHARE
        wide = np.where(is_wide, np.cumsum(is_wide) - 1, -1).astype(np.int32)
        weighted = sp.csr_array((values, pairs.indices, pairs.indptr), shape=(d, k))
        narrow = np.repeat(~is_wide, lengths)
        dtype = np.uint16 if k <= 2**16 else np.uint32
        return cls(
            np.concatenate([[0], np.cumsum(np.where(is_wide, 0, lengths))]).astype(np.int64),
            pairs.indices[narrow].astype(dtype),
            values[narrow],
            wide,
            np.ascontiguousarray(weighted[np.flatnonzero(is_wide)].toarray(), dtype=np.uint8),
            np.rint(_FINE_UNITS * np.log1p(counts.label_mass / mu)).astype(np.int32),
            np.rint(_FINE_UNITS * alpha * np.log(np.maximum(counts.label_rows, 0.5))).astype(
                np.int32
            ),
        )

    def handle(self) -> LabelIndex:
        """A handle for the kernels."""
        return LabelIndex(
            self.starts,
            self.labels,
            self.weights,
            self.wide,
            self.wide_weights,
            self.penalty,
            self.prior,
        )

    def check(self, n_features: int, n_labels: int) -> None:
        """Raise DataError unless the arrays agree with each other and with these numbers."""
        lengths = {
            "starts": (len(self.starts), n_features + 1),
            "wide": (len(self.wide), n_features),
            "weights": (len(self.weights), len(self.labels)),
            "penalty": (len(self.penalty), n_labels),
            "prior": (len(self.prior), n_labels),
            "wide_weights": (self.wide_weights.shape[-1], n_labels),
        }
        for name, (found, expected) in lengths.items():
            if found != expected:
                raise DataError(f"{name} of the index has length {found}, expected {expected}")


def fit_smoothing(
    counts: PairCounts,
    X: sp.csr_array,
    codes: npt.NDArray[np.uint32],
    generator: np.random.RandomState,
    n_threads: int,
) -> Smoothing:
    """The smoothing that ranks the labels of left-out rows best, by the mean reciprocal rank.

    Leaving a row out of the counts of its own label needs no second count: it is taken off where
    the row's own label is scored.
    """
    eligible = np.flatnonzero(counts.label_rows[codes] >= 2)
    typical = float(counts.label_mass.mean())
    if not len(eligible):
        return Smoothing(typical, 0.5, np.zeros(0, dtype=np.float32))
    rows = np.sort(generator.permutation(eligible)[:_SAMPLE])
    sample, labels, handle = sparse_handle(X[rows]), codes[rows], counts.handle()

    def judged(mass: float, alpha: float) -> Smoothing:
        mu = mass * typical
        index = InvertedIndex.of(counts, mu, alpha).handle()
        return Smoothing(mu, alpha, index.ranks(handle, mu, alpha, sample, labels, n_threads))

    tried = [judged(mass, 0.5) for mass in _MASSES]
    best = max(tried, key=lambda one: one.reciprocal_rank)
    others = [judged(best.mu / typical, alpha) for alpha in _ALPHAS if alpha != best.alpha]
    return max([best, *others], key=lambda one: one.reciprocal_rank)
