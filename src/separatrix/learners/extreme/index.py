"""Candidates from an inverted index of naive-Bayes scores: feature -> labels, in 8 bits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import LabelCounts, LabelIndex, count_labels
from separatrix.errors import DataError
from separatrix.features.handles import sparse_handle

__all__ = [
    "MOST_CANDIDATES",
    "InvertedIndex",
    "PairCounts",
    "Smoothing",
    "fit_smoothing",
    "starts_of",
    "without_signs",
]

Codes = npt.NDArray[np.uint32]
FloatVector = npt.NDArray[np.float32]

#: Candidates of a row, at most.
MOST_CANDIDATES = 256
#: Units of a natural logarithm in weights, and in penalties and priors.
_UNITS, _FINE_UNITS = 16.0, 256.0
#: A feature shared by more than this part of the labels is kept as a whole row.
_WIDE_SHARE = 8
#: Masses of the prior that are tried, in average masses of a label.
_MASSES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_ALPHAS = (0.0, 0.5, 1.0)
#: Rows on which smoothing is judged.
_SAMPLE = 5000


def without_signs(rows: sp.csr_array, n_features: int | None = None) -> sp.csr_array:
    """Rows of values above zero: a column that goes below zero is two features, one for each sign.

    Parameters
    ----------
    rows : CSR array of shape (n, d)
        Rows of any values.
    n_features : int or None
        d, which leaves values below zero out, or 2 d; by default 2 d where there are such values.

    Examples
    --------
    >>> rows = sp.csr_array([[1.0, -2.0]])
    >>> without_signs(rows).toarray(), without_signs(rows, 2).toarray()
    (array([[1., 0., 0., 2.]]), array([[1., 0.]]))
    """
    n, d = rows.shape
    if rows.nnz and rows.data.min() <= 0:
        if n_features is None:
            n_features = 2 * d if rows.data.min() < 0 else d
        owners = np.repeat(np.arange(n), np.diff(rows.indptr))
        kept = rows.data != 0 if n_features > d else rows.data > 0
        columns = rows.indices + np.where(rows.data < 0, d, 0)
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=n))])
        parts = (np.abs(rows.data[kept]), columns[kept].astype(np.int32), starts)
        return sp.csr_array(parts, shape=(n, n_features))
    if n_features not in (None, d):
        return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(n, n_features))
    return rows


@dataclass(frozen=True)
class PairCounts:
    """Counts c_fy of features f and labels y, feature by feature, in rows of mean value one.

    Attributes
    ----------
    starts, labels, counts : ndarray
        The counts of feature f are ``starts[f]:starts[f + 1]``, labels rising.
    frequency : ndarray of shape (F,)
        Rows that have each feature.
    mass : ndarray of shape (F,)
        Sum of the counts of each feature.
    label_mass : ndarray of shape (K,)
        L_y, the sum of the counts of a label.
    label_rows : ndarray of shape (K,)
        n_y, the rows of a label.
    """

    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]
    counts: FloatVector
    frequency: npt.NDArray[np.int64]
    mass: npt.NDArray[np.float64]
    label_mass: FloatVector
    label_rows: FloatVector

    @classmethod
    def of(cls, rows: sp.csr_array, codes: Codes, n_labels: int) -> PairCounts:
        """Count rows, all of whose values are above zero, with the label numbers `codes`."""
        order = np.argsort(codes, kind="stable").astype(np.uint32)
        starts, labels, counts = count_labels(sparse_handle(rows), codes, order)
        pairs = sp.csr_array((counts, labels, starts), shape=(rows.shape[1], n_labels))
        return cls(
            starts,
            labels,
            counts,
            np.bincount(rows.indices, minlength=rows.shape[1]),
            np.asarray(pairs @ np.ones(n_labels), dtype=np.float64),
            np.bincount(codes, np.diff(rows.indptr), n_labels).astype(np.float32),
            np.bincount(codes, minlength=n_labels).astype(np.float32),
        )

    @property
    def shares(self) -> FloatVector:
        """Share p_f of each feature in all counts.

        A feature that never occurs has some, too, as its weight is divided by it.
        """
        shares = np.maximum(self.mass, 0.5) / max(float(self.mass.sum()), 0.5)
        return np.asarray(shares, dtype=np.float32)

    @cached_property
    def handle(self) -> LabelCounts:
        """A handle for the kernels."""
        return LabelCounts(
            self.starts,
            self.labels,
            self.counts,
            self.shares,
            self.label_mass,
            self.label_rows,
        )


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
    ranks: FloatVector

    @property
    def reciprocal_rank(self) -> float:
        """Mean of 1 / (1 + rank); 0 without ranks."""
        return float(np.mean(1.0 / (1.0 + self.ranks))) if len(self.ranks) else 0.0

    def missed(self, n_candidates: int) -> float:
        """Share of the rows whose label is not among so many candidates."""
        return float(np.mean(self.ranks >= n_candidates)) if len(self.ranks) else 0.0


@dataclass(frozen=True)
class InvertedIndex:
    """The arrays of the index over F features and K labels.

    Attributes
    ----------
    lengths, labels, weights : ndarray
        Postings, feature by feature, and how many each of the F has.
    wide, wide_weights : ndarray of shape (W,), (W, K)
        Frequent features, which have no postings but a whole row.
    penalty, prior : ndarray of shape (K,)
        ln((L_y + mu) / mu) and alpha ln n_y in 1/256.
    """

    lengths: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    weights: npt.NDArray[np.uint8]
    wide: npt.NDArray[np.int32]
    wide_weights: npt.NDArray[np.uint8]
    penalty: npt.NDArray[np.int16]
    prior: npt.NDArray[np.int16]

    @classmethod
    def of(cls, counts: PairCounts, mu: float, alpha: float, n_threads: int = 1) -> InvertedIndex:
        """Smooth the counts by a prior of mass `mu`, and the labels' frequency by `alpha`."""
        k = len(counts.label_rows)
        starts, lengths = counts.starts, np.diff(counts.starts)
        weights = counts.handle.weights(mu, n_threads)
        is_wide = lengths > k / _WIDE_SHARE
        wide = np.flatnonzero(is_wide)
        wide_weights = np.zeros((len(wide), k), dtype=np.uint8)
        for row, feature in zip(wide_weights, wide, strict=True):
            span = slice(starts[feature], starts[feature + 1])
            row[counts.labels[span]] = weights[span]
        labels = counts.labels.view(np.uint32)
        if len(wide):
            narrow = np.repeat(~is_wide, lengths)
            labels, weights = labels[narrow], weights[narrow]
        lengths = np.where(is_wide, 0, lengths)
        logs = np.log(np.maximum(counts.label_rows, 0.5))
        return cls(
            lengths.astype(np.min_scalar_type(lengths.max(initial=0))),
            labels.astype(np.uint16) if k <= 2**16 else labels,
            weights,
            wide.astype(np.int32),
            wide_weights,
            np.rint(_FINE_UNITS * np.log1p(counts.label_mass / mu)).astype(np.int16),
            np.rint(_FINE_UNITS * alpha * logs).astype(np.int16),
        )

    @property
    def n_features(self) -> int:
        """Features: columns, or twice as many."""
        return len(self.lengths)

    @cached_property
    def handle(self) -> LabelIndex:
        """A handle for the kernels, which keeps what rows predicted alone would make anew."""
        rows = np.full(self.n_features, -1, dtype=np.int32)
        rows[self.wide] = np.arange(len(self.wide))
        return LabelIndex(
            starts_of(self.lengths),
            self.labels,
            self.weights,
            rows,
            self.wide_weights,
            self.penalty,
            self.prior,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def check(self, n_columns: int, n_labels: int) -> None:
        """Raise DataError unless the arrays agree with each other and with these numbers."""
        if self.n_features not in (n_columns, 2 * n_columns):
            raise DataError(f"the index has {self.n_features} features, X {n_columns} columns")
        lengths = {
            "labels": (len(self.labels), int(self.lengths.sum(dtype=np.int64))),
            "weights": (len(self.weights), len(self.labels)),
            "wide": (len(self.wide), len(self.wide_weights)),
            "penalty": (len(self.penalty), n_labels),
            "prior": (len(self.prior), n_labels),
            "wide_weights": (self.wide_weights.shape[-1], n_labels),
        }
        if len(self.wide) and not 0 <= self.wide.min() <= self.wide.max() < self.n_features:
            raise DataError("the index has whole rows of features that are not there")
        for name, (found, expected) in lengths.items():
            if found != expected:
                raise DataError(f"{name} of the index has length {found}, expected {expected}")


def starts_of(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Where lists of these lengths start that lie one after the other, and the end.

    Examples
    --------
    >>> starts_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def fit_smoothing(
    counts: PairCounts,
    X: sp.csr_array,
    codes: Codes,
    generator: np.random.RandomState,
    n_threads: int,
) -> Smoothing:
    """The smoothing that ranks the labels of left-out rows best, by the mean reciprocal rank.

    Leaving a row out of the counts of its own label needs no second count: it is taken off where
    the row's own label is scored.
    """
    eligible = np.flatnonzero(counts.label_rows[codes] >= 2)
    typical = max(float(counts.label_mass.mean()), 1.0)
    if not len(eligible):
        return Smoothing(typical, 0.5, np.zeros(0, dtype=np.float32))
    rows = np.sort(generator.permutation(eligible)[:_SAMPLE])
    sample, labels = sparse_handle(X[rows]), codes[rows]

    def judged(mass: float, alpha: float) -> Smoothing:
        mu = mass * typical
        index = InvertedIndex.of(counts, mu, alpha, n_threads).handle
        ranks = index.ranks(counts.handle, mu, alpha, sample, labels, n_threads)
        return Smoothing(mu, alpha, ranks)

    tried = [judged(mass, 0.5) for mass in _MASSES]
    best = max(tried, key=lambda one: one.reciprocal_rank)
    others = [judged(best.mu / typical, alpha) for alpha in _ALPHAS if alpha != best.alpha]
    return max([best, *others], key=lambda one: one.reciprocal_rank)
