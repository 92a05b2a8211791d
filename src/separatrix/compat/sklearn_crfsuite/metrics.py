"""sklearn-crfsuite's measures of labeled sequences: scikit-learn's on the items of all sequences.

For chunks as conlleval counts them see `separatrix.metrics.chunk_report`.
"""

from __future__ import annotations

from typing import Any

from sklearn import metrics

from separatrix.compat.sklearn_crfsuite.utils import flatten
from separatrix.metrics.sequences import sequence_accuracy

__all__ = [
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_fbeta_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
]


def flat_accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """Share of the items that are labeled right.

    Examples
    --------
    >>> flat_accuracy_score([["B", "O"], ["O", "O"]], [["B", "O"], ["B", "O"]])
    0.75
    """
    return metrics.accuracy_score(flatten(y_true), flatten(y_pred))


def flat_precision_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """Precision of items; options as in `sklearn.metrics.precision_score`."""
    return metrics.precision_score(flatten(y_true), flatten(y_pred), **options)


def flat_recall_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """Recall of items; options as in `sklearn.metrics.recall_score`."""
    return metrics.recall_score(flatten(y_true), flatten(y_pred), **options)


def flat_f1_score(y_true: Any, y_pred: Any, **options: Any) -> Any:
    """F1 of items; options as in `sklearn.metrics.f1_score`."""
    return metrics.f1_score(flatten(y_true), flatten(y_pred), **options)


def flat_fbeta_score(y_true: Any, y_pred: Any, beta: float, **options: Any) -> Any:
    """F-beta of items; options as in `sklearn.metrics.fbeta_score`."""
    return metrics.fbeta_score(flatten(y_true), flatten(y_pred), beta=beta, **options)


def flat_classification_report(y_true: Any, y_pred: Any, labels: Any = None, **options: Any) -> Any:
    """Report of all labels; options as in `sklearn.metrics.classification_report`."""
    return metrics.classification_report(flatten(y_true), flatten(y_pred), labels=labels, **options)


def sequence_accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Share of the sequences that are labeled right from end to end; 0 without sequences.

    Examples
    --------
    >>> sequence_accuracy_score([["B", "O"], ["O"]], [["B", "O"], ["B"]])
    0.5
    """
    return sequence_accuracy(y_true, y_pred) if len(y_true) else 0.0
