"""Measures of distributions and of predictions; information is in nats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr, rel_entr, xlogy
from sklearn import metrics as _metrics

from separatrix.errors import DataError, ParameterError
from separatrix.validation import distinct_values

__all__ = [
    "Averages",
    "ClassReport",
    "accuracy",
    "confusion_matrix",
    "cross_entropy",
    "entropy",
    "expected_cost",
    "kl_divergence",
    "per_class_report",
]

FloatArray = npt.NDArray[np.float64]


def _distribution(p: npt.ArrayLike, axis: int, name: str) -> FloatArray:
    values = np.asarray(p, dtype=np.float64)
    if values.ndim == 0 or values.shape[axis] == 0:
        raise DataError(f"{name} must hold at least one probability along axis {axis}.")
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{name} must hold finite probabilities that are not negative.")
    if not np.allclose(values.sum(axis=axis), 1, rtol=0, atol=1e-6):
        raise DataError(f"{name} must sum to 1 along axis {axis}.")
    return values


def entropy(p: npt.ArrayLike, *, axis: int = -1) -> Any:
    """Entropy Ent(p) = -sum_k p_k ln p_k in nats, with 0 ln 0 = 0.

    Parameters
    ----------
    p : array-like of shape (..., K)
        Distributions along `axis`.
    axis : int, default=-1
        The axis of the outcomes.

    Returns
    -------
    float or ndarray of shape (...)
        Between 0 and ln K.

    Examples
    --------
    >>> round(float(entropy([0.5, 0.5])), 4)
    0.6931
    >>> float(entropy([1.0, 0.0]))
    0.0
    """
    return entr(_distribution(p, axis, "p")).sum(axis=axis)


def cross_entropy(p: npt.ArrayLike, q: npt.ArrayLike, *, axis: int = -1) -> Any:
    """Cross-entropy CE(p, q) = -sum_k p_k ln q_k in nats, with 0 ln 0 = 0.

    Parameters
    ----------
    p, q : array-like of shape (..., K)
        Distributions along `axis`; the shapes may broadcast.
    axis : int, default=-1
        The axis of the outcomes.

    Returns
    -------
    float or ndarray of shape (...)
        At least Ent(p); infinite where q_k = 0 < p_k.

    Examples
    --------
    >>> round(float(cross_entropy([1.0, 0.0], [0.25, 0.75])), 4)
    1.3863
    """
    return -xlogy(_distribution(p, axis, "p"), _distribution(q, axis, "q")).sum(axis=axis)


def kl_divergence(p: npt.ArrayLike, q: npt.ArrayLike, *, axis: int = -1) -> Any:
    """Kullback-Leibler divergence D_KL = sum_k p_k ln(p_k / q_k) = CE(p, q) - Ent(p), in nats.

    Parameters
    ----------
    p, q : array-like of shape (..., K)
        Distributions along `axis`; the shapes may broadcast.
    axis : int, default=-1
        The axis of the outcomes.

    Returns
    -------
    float or ndarray of shape (...)
        At least 0, and 0 only for p = q; infinite where q_k = 0 < p_k.

    Examples
    --------
    >>> float(kl_divergence([0.5, 0.5], [0.5, 0.5]))
    0.0
    >>> float(kl_divergence([0.5, 0.5], [1.0, 0.0]))
    inf
    """
    divergence = rel_entr(_distribution(p, axis, "p"), _distribution(q, axis, "q"))
    # Rounding can leave -1e-17 where p = q; the divergence is never negative.
    return np.maximum(divergence.sum(axis=axis), 0.0)


def accuracy(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Share of right predictions, weighted when weights are given.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    return float(_metrics.accuracy_score(y_true, y_pred, sample_weight=sample_weight))


def _labels_of(
    y_true: npt.ArrayLike, y_pred: npt.ArrayLike, labels: npt.ArrayLike | None
) -> npt.NDArray[Any]:
    both = [np.asarray(y_true), np.asarray(y_pred)]
    seen = distinct_values(np.concatenate([distinct_values(one)[0] for one in both]))[0]
    if labels is None:
        return seen
    given = np.asarray(labels)
    if given.ndim != 1 or len(np.unique(given)) != len(given):
        raise ParameterError("labels must be a list of different labels.")
    # scikit-learn drops rows whose label is not listed; a missing label is an error here.
    missing = np.setdiff1d(seen, given)
    if len(missing):
        raise ParameterError(f"labels lacks {missing[0]!r}, which occurs in the data.")
    return given


def confusion_matrix(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> npt.NDArray[Any]:
    """Count the examples N[i, j] of class i that were predicted to be class j.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels.
    labels : array-like of shape (K,), optional
        Order of the classes; every label in the data must be in it. Default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    ndarray of shape (K, K)
        Rows are true classes, columns are predictions.

    Examples
    --------
    >>> confusion_matrix(["a", "a", "b"], ["a", "b", "b"])
    array([[1, 1],
           [0, 1]])
    """
    order = _labels_of(y_true, y_pred, labels)
    places = {label: place for place, label in enumerate(order.tolist())}
    truth, predictions = (
        np.array([places[label] for label in np.asarray(y).tolist()], dtype=np.int64)
        for y in (y_true, y_pred)
    )
    matrix: npt.NDArray[Any] = _metrics.confusion_matrix(
        truth, predictions, labels=np.arange(len(order)), sample_weight=sample_weight
    )
    return matrix


def expected_cost(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    cost: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Mean cost (1/n) sum_i cost[y_i, yhat_i] of the predictions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels.
    cost : array-like of shape (K, K)
        cost[i, j] is paid when class i is predicted to be class j.
    labels : array-like of shape (K,), optional
        Classes in the order of the rows and columns of `cost`. Default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    float
        The mean cost; with 0-1 costs, one minus the accuracy.

    Examples
    --------
    >>> expected_cost(["a", "a", "b", "b"], ["a", "b", "b", "a"], [[0, 1], [5, 0]])
    1.5
    """
    order = _labels_of(y_true, y_pred, labels)
    table = np.asarray(cost, dtype=np.float64)
    if table.shape != (len(order), len(order)):
        raise ParameterError(
            f"cost has shape {table.shape}, but {len(order)} classes need "
            f"({len(order)}, {len(order)})."
        )
    counts = confusion_matrix(y_true, y_pred, labels=order, sample_weight=sample_weight)
    return float((counts * table).sum() / counts.sum())


@dataclass(frozen=True)
class Averages:
    """Precision, recall and F1, averaged over the classes."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class ClassReport:
    """Precision, recall and F1 of every class, and their averages; prints itself as a table.

    Attributes
    ----------
    labels : ndarray of shape (K,)
        The classes.
    precision, recall, f1 : ndarray of shape (K,)
        Per class; 0 where there is nothing to divide by.
    support : ndarray of shape (K,)
        Number (or weight) of true examples of each class.
    macro, weighted : Averages
        Plain mean over the classes, and mean weighted by `support`.
    accuracy : float
        Share of right predictions.
    micro : Averages or None
        Of all labels together, where a row may have several.
    """

    labels: npt.NDArray[Any]
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    support: npt.NDArray[Any]
    macro: Averages
    weighted: Averages
    accuracy: float
    micro: Averages | None = None

    def __str__(self) -> str:
        names = [str(label) for label in self.labels]
        width = max(len(name) for name in [*names, "weighted mean"])
        total = self.support.sum()
        lines = [f"{'class':<{width}}  precision  recall     F1  support"]
        rows = [
            *zip(names, self.precision, self.recall, self.f1, self.support, strict=True),
            ("macro mean", self.macro.precision, self.macro.recall, self.macro.f1, total),
            (
                "weighted mean",
                self.weighted.precision,
                self.weighted.recall,
                self.weighted.f1,
                total,
            ),
        ]
        for name, precision, recall, f1, support in rows:
            lines.append(
                f"{name:<{width}}  {precision:9.3f}  {recall:6.3f}  {f1:5.3f}  {support:7g}"
            )
        lines.append(f"{'accuracy':<{width}}  {self.accuracy:9.3f}")
        return "\n".join(lines)


def per_class_report(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    labels: npt.ArrayLike | None = None,
    *,
    sample_weight: npt.ArrayLike | None = None,
) -> ClassReport:
    """Precision, recall, F1 and support of every class, with macro and weighted means.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Labels.
    labels : array-like of shape (K,), optional
        Order of the classes; every label in the data must be in it. Default: sorted.
    sample_weight : array-like of shape (n,), optional
        Weight of each example.

    Returns
    -------
    ClassReport
        The figures; `print` shows them as a table.

    Examples
    --------
    >>> print(per_class_report(["ham", "ham", "spam"], ["ham", "spam", "spam"]))
    class          precision  recall     F1  support
    ham                1.000   0.500  0.667        2
    spam               0.500   1.000  0.667        1
    macro mean         0.750   0.750  0.667        3
    weighted mean      0.833   0.667  0.667        3
    accuracy           0.667
    """
    order = _labels_of(y_true, y_pred, labels)
    counts = confusion_matrix(y_true, y_pred, labels=order, sample_weight=sample_weight)
    hits, predicted, support = np.diagonal(counts), counts.sum(axis=0), counts.sum(axis=1)

    def share(some: npt.NDArray[Any], of: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        # A class that was never there, or never predicted, has zero.
        shares = np.zeros(len(order))
        np.divide(some, of, out=shares, where=of > 0)
        return shares

    precision, recall = share(hits, predicted), share(hits, support)
    f1 = share(2 * hits, predicted + support)
    means = []
    for weights in (np.ones(len(order)), support):
        means.append(
            Averages(*(float(np.average(v, weights=weights)) for v in (precision, recall, f1)))
        )
    return ClassReport(
        labels=order,
        precision=precision,
        recall=recall,
        f1=f1,
        support=support,
        macro=means[0],
        weighted=means[1],
        accuracy=accuracy(y_true, y_pred, sample_weight=sample_weight),
    )
