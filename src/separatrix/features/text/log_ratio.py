"""Two classes and the naive-Bayes log-count ratio between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from separatrix.errors import DataError

__all__ = ["TwoClasses", "log_count_ratio"]


@dataclass(frozen=True)
class TwoClasses:
    """Labels of a problem with two classes.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The labels, sorted.
    """

    classes: npt.NDArray[Any]

    @classmethod
    def of(cls, y: Any, classes: Any = None) -> Self:
        """The classes that are named, or else those of `y`; DataError unless they are two."""
        if y is None:
            raise DataError("nb_log_ratio=True requires y to be passed, but the target y is None.")
        found = np.unique(_labels(y) if classes is None else np.asarray(classes))
        if len(found) != 2:
            raise DataError(
                f"nb_log_ratio=True needs two classes, got {len(found)}: one scaling of the "
                "columns cannot serve several one-vs-rest problems. Fit one vectorizer per problem "
                "(for example OneVsRestClassifier around a pipeline); in partial_fit, name both "
                "classes."
            )
        return cls(found)

    def encode(self, y: Any) -> npt.NDArray[np.uint8]:
        """1 for the second class, 0 for the first."""
        if y is None:
            raise DataError("nb_log_ratio=True requires y to be passed, but the target y is None.")
        labels = _labels(y)
        second = labels == self.classes[1]
        unknown = ~(second | (labels == self.classes[0]))
        if np.any(unknown):
            row = int(np.argmax(unknown))
            raise DataError(
                f"label {labels[row]!r} at row {row} is not among {self.classes.tolist()}"
            )
        codes: npt.NDArray[np.uint8] = np.asarray(second, dtype=np.uint8)
        return codes


def _labels(y: Any) -> npt.NDArray[Any]:
    labels: npt.NDArray[Any] = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    return labels


def log_count_ratio(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """r = ln((p / sum p) / (q / sum q)) with p and q one more than the counts of the classes.

    Parameters
    ----------
    counts : ndarray of shape (2, d)
        Counts in the first and in the second class.

    Returns
    -------
    ndarray of shape (d,)
        Positive where the second class has the larger share.

    Examples
    --------
    >>> log_count_ratio(np.array([[0.0, 1.0], [1.0, 0.0]])).round(3)
    array([ 0.693, -0.693])
    """
    q, p = counts + 1.0
    ratio: npt.NDArray[np.float64] = np.log(p / p.sum()) - np.log(q / q.sum())
    return ratio
