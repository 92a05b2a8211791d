"""Measures of predicted probabilities: log loss, Brier score, calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as _metrics
from sklearn.utils.validation import _check_sample_weight

from separatrix.errors import DataError, ParameterError

__all__ = [
    "CalibrationBins",
    "brier_score",
    "calibration_bins",
    "expected_calibration_error",
    "log_loss",
]

FloatArray = npt.NDArray[np.float64]


def _checked(
    y_true: npt.ArrayLike, probabilities: npt.ArrayLike, labels: npt.ArrayLike | None
) -> tuple[npt.NDArray[np.intp], FloatArray, npt.NDArray[Any]]:
    """Class numbers, probabilities of shape (n, K), and the classes."""
    y = np.asarray(y_true)
    given = np.asarray(probabilities)
    proba = np.asarray(given, dtype=np.float64)
    classes = np.unique(y) if labels is None else np.asarray(labels)
    if len(np.unique(classes)) != len(classes):
        raise ParameterError("labels must be a list of different labels")
    if proba.ndim == 1:
        proba = np.column_stack([1 - proba, proba])
    if y.ndim != 1 or proba.ndim != 2 or len(y) != len(proba):
        raise DataError(f"{len(y)} labels do not go with probabilities of shape {proba.shape}")
    if len(y) == 0:
        raise DataError("there must be at least one label")
    if proba.shape[1] != len(classes):
        raise DataError(
            f"there are probabilities of {proba.shape[1]} classes, but {len(classes)} labels; "
            "give all labels in the order of the columns"
        )
    if not np.isfinite(proba).all() or (proba < 0).any() or (proba > 1 + 1e-8).any():
        row = int(np.argmin((np.isfinite(proba) & (proba >= 0) & (proba <= 1)).all(axis=1)))
        raise DataError(f"row {row} holds something that is no probability")
    if given.dtype == np.float32:
        # They sum to one in single precision only.
        total = proba.sum(axis=1, keepdims=True)
        proba = np.where(np.abs(total - 1) < 1e-5, proba / total, proba)
    order = np.argsort(classes, kind="stable")
    found = order[np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)]
    if (classes[found] != y).any():
        missing = y.tolist()[np.argmax(classes[found] != y)]
        raise DataError(f"label {missing!r} occurs, but is not among {classes.tolist()}")
    return found, proba, classes


def log_loss(
    y_true: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Mean of -log P(y_i | x_i), in nats.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    probabilities : array-like of shape (n, K), or (n,) for the second of two classes
        Predicted probabilities.
    labels : array-like of shape (K,), optional
        Classes in the order of the columns; default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    float
        At least 0; probabilities of zero are raised to the smallest step of their precision, as
        scikit-learn does.

    Examples
    --------
    >>> round(log_loss(["a", "b"], [[0.5, 0.5], [0.2, 0.8]]), 3)
    0.458
    """
    codes, proba, classes = _checked(y_true, probabilities, labels)
    return float(
        _metrics.log_loss(codes, proba, labels=np.arange(len(classes)), sample_weight=sample_weight)
    )


def brier_score(
    y_true: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Mean squared distance between probabilities and what came true.

    Two classes: (p_i - [y_i = 1])^2, between 0 and 1; more: sum_k (p_ik - [y_i = k])^2, between 0
    and 2, as in scikit-learn.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    probabilities : array-like of shape (n, K), or (n,) for the second of two classes
        Predicted probabilities.
    labels : array-like of shape (K,), optional
        Classes in the order of the columns; default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    float
        The lower the better.

    Examples
    --------
    >>> round(brier_score([0, 1], [0.1, 0.6]), 3)
    0.085
    """
    codes, proba, classes = _checked(y_true, probabilities, labels)
    distances = ((proba - np.eye(len(classes))[codes]) ** 2).sum(axis=1)
    if len(classes) == 2:
        distances = distances / 2
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(distances, weights=weights))


@dataclass(frozen=True, eq=False)
class CalibrationBins:
    """Predictions in bins of about equal mass, from the least to the most confident.

    Attributes
    ----------
    confidence : ndarray of shape (b,)
        Mean predicted probability of each bin.
    frequency : ndarray of shape (b,)
        Share of the bin in which the prediction came true.
    mass : ndarray of shape (b,)
        Weight of each bin, of sum 1.
    """

    confidence: FloatArray
    frequency: FloatArray
    mass: FloatArray

    @property
    def error(self) -> float:
        """Expected calibration error: sum_b mass_b |frequency_b - confidence_b|."""
        return float(self.mass @ np.abs(self.frequency - self.confidence))


def calibration_bins(
    y_true: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    n_bins: int = 15,
    label: Any = None,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> CalibrationBins:
    """Confidence against frequency, in bins of equal mass.

    Equal predictions always share a bin, so that the order of the rows does not matter and there
    may be fewer bins than requested.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    probabilities : array-like of shape (n, K), or (n,) for the second of two classes
        Predicted probabilities.
    n_bins : int, default=15
        Number of bins at most.
    label : object, optional
        Look at the probability of this class; by default at that of the predicted class.
    labels : array-like of shape (K,), optional
        Classes in the order of the columns; default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    CalibrationBins
        Mean confidence, frequency and mass of every bin.

    Examples
    --------
    >>> bins = calibration_bins([0, 0, 1, 1], [0.2, 0.2, 0.7, 0.9], n_bins=2, label=1)
    >>> bins.confidence, bins.frequency
    (array([0.2, 0.8]), array([0., 1.]))
    """
    if n_bins < 1:
        raise ParameterError(f"n_bins must be positive, got {n_bins!r}")
    codes, proba, classes = _checked(y_true, probabilities, labels)
    weights = _check_sample_weight(sample_weight, proba, dtype=np.float64, ensure_non_negative=True)
    if weights.sum() <= 0:
        raise DataError("all sample weights are zero")
    if label is None:
        winners = proba.argmax(axis=1)
        confidence, right = proba.max(axis=1), (winners == codes).astype(np.float64)
    else:
        found = np.flatnonzero(classes == label)
        if len(found) != 1:
            raise ParameterError(f"there is no class {label!r} among {classes.tolist()}")
        confidence, right = proba[:, found[0]], (codes == found[0]).astype(np.float64)
    _, inverse = np.unique(confidence, return_inverse=True)
    mass = np.bincount(inverse, weights)
    # A group of equal predictions belongs where the middle of its mass lies.
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    bins = np.minimum((middle * n_bins).astype(np.intp), n_bins - 1)[inverse]
    total = np.bincount(bins, weights, n_bins)
    used = total > 0
    return CalibrationBins(
        np.bincount(bins, weights * confidence, n_bins)[used] / total[used],
        np.bincount(bins, weights * right, n_bins)[used] / total[used],
        total[used] / total.sum(),
    )


def expected_calibration_error(
    y_true: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    n_bins: int = 15,
    label: Any = None,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Mean distance of confidence and frequency over bins of equal mass (Naeini et al. 2015).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    probabilities : array-like of shape (n, K), or (n,) for the second of two classes
        Predicted probabilities.
    n_bins : int, default=15
        Number of bins at most.
    label : object, optional
        Look at the probability of this class; by default at that of the predicted class.
    labels : array-like of shape (K,), optional
        Classes in the order of the columns; default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    float
        Between 0 and 1; 0 for perfect calibration.

    Examples
    --------
    >>> round(expected_calibration_error([0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5], n_bins=1), 2)
    0.25
    """
    return calibration_bins(
        y_true,
        probabilities,
        n_bins=n_bins,
        label=label,
        labels=labels,
        sample_weight=sample_weight,
    ).error
