"""How good predictions are: figures gathered piece by piece, then put into words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.bayes.comparison import AccuracyInterval, accuracy_interval
from separatrix.data import LabelSets
from separatrix.errors import DataError
from separatrix.experiment.metric import distribution
from separatrix.metrics import (
    ClassReport,
    confusion_matrix,
    expected_calibration_error,
    log_loss,
    per_class_report,
)

__all__ = [
    "ClassScores",
    "QuantityScores",
    "gather",
    "match_labels",
    "mean_cost",
    "score_classes",
    "score_quantities",
]

FloatArray = npt.NDArray[np.float64]

#: Masses of the intervals whose coverage is counted.
LEVELS = (0.5, 0.8, 0.95)
#: Confusions of more classes are told in pairs, not in a matrix.
_MATRIX, _PAIRS = 12, 10


def match_labels(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels of a file as the model writes them: 1, 1.0 and "1" are the same class.

    Parameters
    ----------
    labels : array of shape (n,)
    classes : array of shape (K,)
        Those of the model.

    Returns
    -------
    array of shape (n,)
        Of the type of `classes` where every label is one of them, else of strings or objects.

    Examples
    --------
    >>> match_labels(np.array([1.0, 0.0]), np.array(["0", "1"])).tolist()
    ['1', '0']
    """
    known = {_word(label): label for label in classes.tolist()}
    words = [_word(label) for label in labels.tolist()]
    matched = [known.get(word, label) for word, label in zip(words, labels.tolist(), strict=True)]
    if all(word in known for word in words):
        return np.array(matched, dtype=classes.dtype)
    found = np.empty(len(matched), dtype=object)
    found[:] = matched
    return found


def _word(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


@dataclass(frozen=True, eq=False)
class ClassScores:
    """Figures of a classifier on rows with labels; prints itself.

    Attributes
    ----------
    accuracy : AccuracyInterval
    report : ClassReport
        Precision, recall and F1 of each class that occurs.
    labels : ndarray of shape (K,)
        All classes, of the model and of the file.
    confusion : ndarray of shape (K, K)
        Rows are the truth, columns the predictions.
    log_loss, calibration_error : float or None
        Where the model has probabilities; of the rows whose label it knows.
    mean_cost : float or None
        Where the model decides by costs.
    strange : tuple
        Labels in the file that the model does not know.
    """

    accuracy: AccuracyInterval
    report: ClassReport
    labels: npt.NDArray[Any]
    confusion: npt.NDArray[Any]
    log_loss: float | None
    calibration_error: float | None
    mean_cost: float | None
    strange: tuple[Any, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        report, (low, high) = self.report, self.accuracy.interval
        rows = zip(*(part.tolist() for part in _columns(report)), strict=True)
        return {
            "n_rows": self.accuracy.n_rows,
            "accuracy": report.accuracy,
            "interval": [low, high],
            "interval_kind": self.accuracy.name,
            "level": self.accuracy.level,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "mean_cost": self.mean_cost,
            "classes": [dict(zip(self.headings(), row, strict=True)) for row in rows],
            "confusion": {
                "labels": self.labels.tolist(),
                "counts": self.confusion.tolist(),
            },
            "unknown_labels": list(self.strange),
        }

    @staticmethod
    def headings() -> tuple[str, ...]:
        """Headings of `rows`."""
        return ("class", "precision", "recall", "F1", "support")

    def rows(self) -> list[tuple[Any, ...]]:
        """One row per class."""
        return list(zip(*(part.tolist() for part in _columns(self.report)), strict=True))

    def __str__(self) -> str:
        lines = [str(self.accuracy)]
        if self.log_loss is not None:
            lines.append(f"log loss {self.log_loss:.4f}")
        if self.calibration_error is not None:
            lines.append(f"calibration error {self.calibration_error:.4f}")
        if self.mean_cost is not None:
            lines.append(f"mean cost {self.mean_cost:.4f}")
        if self.strange:
            named = ", ".join(map(repr, self.strange[:5])) + ", …" * (len(self.strange) > 5)
            lines.append(f"labels that the model does not know, counted as mistakes: {named}")
        # The report's last line says the accuracy again.
        lines += ["", *str(self.report).splitlines()[:-1], "", *self._confusions()]
        return "\n".join(lines)

    def _confusions(self) -> list[str]:
        labels = [str(label) for label in self.labels]
        if len(labels) <= _MATRIX:
            cells = [["truth \\ prediction", *labels]]
            cells += [
                [name, *map(str, row)]
                for name, row in zip(labels, self.confusion.tolist(), strict=True)
            ]
            widths = [max(len(row[c]) for row in cells) for c in range(len(labels) + 1)]
            return [
                "  ".join(
                    cell.ljust(width) if c == 0 else cell.rjust(width)
                    for c, (cell, width) in enumerate(zip(row, widths, strict=True))
                )
                for row in cells
            ]
        wrong = self.confusion * (1 - np.eye(len(labels), dtype=self.confusion.dtype))
        order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS]
        lines = ["most frequent confusions"]
        for true, said in zip(*np.unravel_index(order, wrong.shape), strict=True):
            if wrong[true, said]:
                lines.append(f"  {labels[true]} taken for {labels[said]}: {wrong[true, said]}")
        return lines if len(lines) > 1 else ["no confusions"]


def _columns(report: ClassReport) -> tuple[npt.NDArray[Any], ...]:
    return report.labels, report.precision, report.recall, report.f1, report.support


def score_classes(
    truth: npt.NDArray[Any],
    said: npt.NDArray[Any],
    shares: FloatArray | None,
    classes: npt.NDArray[Any],
    costs: Sequence[tuple[float, int]] = (),
) -> ClassScores:
    """Score predicted labels.

    Parameters
    ----------
    truth, said : array of shape (n,)
        Labels, those of the file matched with those of the model.
    shares : array of shape (n, K) or None
        Probabilities.
    classes : array of shape (K,)
        Labels of the model.
    costs : sequence of (mean, rows)
        Mean cost of every piece of the rows.
    """
    known = set(classes.tolist())
    rows = np.array([label in known for label in truth.tolist()], dtype=bool)
    loss = error = None
    if shares is not None and rows.any():
        told, held = truth[rows].astype(classes.dtype), shares[rows]
        loss = float(log_loss(told, held, labels=classes))
        error = float(expected_calibration_error(told, held, labels=classes))
    strange = tuple(dict.fromkeys(truth[~rows].tolist()))
    if strange or any(label not in known for label in said.tolist()):
        # Labels of different kinds cannot be sorted; as words they can.
        truth, said = truth.astype(str), said.astype(str)
        classes = np.unique(np.concatenate([truth, said, classes.astype(str)]))
    report = per_class_report(truth, said)
    n_rows = sum(n for _, n in costs)
    return ClassScores(
        accuracy_interval(truth, said),
        report,
        classes,
        confusion_matrix(truth, said, labels=classes),
        loss,
        error,
        sum(mean * n for mean, n in costs) / n_rows if n_rows else None,
        strange,
    )


def mean_cost(model: Any, X: Any, truth: npt.NDArray[Any]) -> float | None:
    """Mean cost of the decisions of a model, in a pipeline or not; None if it knows no costs."""
    while hasattr(model, "steps"):
        X, model = model[:-1].transform(X), model.steps[-1][1]
    return float(model.mean_cost(X, truth)) if hasattr(model, "mean_cost") else None


@dataclass(frozen=True)
class QuantityScores:
    """Figures of a regression on rows with true values; prints itself.

    Attributes
    ----------
    n_rows : int
    rmse, mae, r2 : float
        Root of the mean squared error, mean absolute error, share of the variance explained.
    log_density : float or None
        Mean log predictive density, where the model has predictive distributions.
    coverage : tuple of (float, float)
        Mass of intervals, and share of the rows that fell into theirs.
    """

    n_rows: int
    rmse: float
    mae: float
    r2: float
    log_density: float | None
    coverage: tuple[tuple[float, float], ...]

    @staticmethod
    def headings() -> tuple[str, ...]:
        """Headings of `rows`."""
        return ("figure", "value")

    def rows(self) -> list[tuple[Any, ...]]:
        """One row per figure."""
        found: list[tuple[Any, ...]] = [
            ("rows", self.n_rows),
            ("RMSE", self.rmse),
            ("mean absolute error", self.mae),
            ("R2", self.r2),
        ]
        if self.log_density is not None:
            found.append(("log predictive density", self.log_density))
        shares = [(f"in the {100 * level:g} % interval", share) for level, share in self.coverage]
        return found + shares

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        coverage = [{"level": level, "observed": share} for level, share in self.coverage]
        figures = {"rmse": self.rmse, "mae": self.mae, "r2": self.r2}
        return {
            "n_rows": self.n_rows,
            **figures,
            "log_density": self.log_density,
            "coverage": coverage,
        }

    def __str__(self) -> str:
        lines = [f"{self.n_rows} rows, RMSE {self.rmse:.6g}, mean absolute error {self.mae:.6g}"]
        lines[0] += f", R2 {self.r2:.4f}"
        if self.log_density is not None:
            lines.append(f"log predictive density {self.log_density:.4f} per row")
        for level, share in self.coverage:
            lines.append(f"{100 * share:.1f} % of the rows in their {100 * level:g} % interval")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class QuantityPiece:
    """What `score_quantities` needs of a piece of the rows; model input is not among it."""

    truth: FloatArray
    errors: FloatArray
    densities: FloatArray | None
    inside: tuple[int, ...]


def gather(model: Any, X: Any, truth: npt.NDArray[Any]) -> QuantityPiece:
    """Predict a piece of the rows and compare with the true values."""
    if isinstance(truth, LabelSets):
        raise DataError("rows have sets of labels, and the model predicts a quantity")
    if truth.dtype.kind not in "iufb":
        raise DataError(f"the model predicts a quantity, but the first true value is {truth[0]!r}")
    y = truth.astype(np.float64)
    errors = np.asarray(model.predict(X), dtype=np.float64) - y
    found = distribution(model, X)
    if found is None:
        return QuantityPiece(y, errors, None, ())
    inside = []
    for level in LEVELS:
        low, high = found.interval(level)
        inside.append(int(np.count_nonzero((low <= y) & (y <= high))))
    return QuantityPiece(y, errors, found.logpdf(y), tuple(inside))


def score_quantities(pieces: Sequence[QuantityPiece]) -> QuantityScores:
    """Score predicted quantities, all pieces together."""
    errors = np.concatenate([piece.errors for piece in pieces])
    truth = np.concatenate([piece.truth for piece in pieces])
    n, squares = len(truth), float((errors**2).sum())
    spread = float(((truth - truth.mean()) ** 2).sum())
    densities = [piece.densities for piece in pieces if piece.densities is not None]
    inside = np.sum([piece.inside for piece in pieces], axis=0) if densities else ()
    return QuantityScores(
        n,
        float(np.sqrt(squares / n)),
        float(np.abs(errors).mean()),
        1 - squares / spread if spread else float("nan"),
        float(np.concatenate(densities).mean()) if densities else None,
        tuple((level, int(m) / n) for level, m in zip(LEVELS, inside, strict=False)),
    )
