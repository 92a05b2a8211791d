"""What the test set tells about a classifier, class by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.experiment.explaining import explanations
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.rows import row_text
from separatrix.experiment.weights import weights_part
from separatrix.metrics import calibration_bins, confusion_matrix, log_loss, per_class_report
from separatrix.report.parts import (
    Calibration,
    ClassReport,
    ClassScores,
    Confusion,
    CostMatrix,
    Mistake,
    Mistakes,
    Part,
    Reliability,
)

__all__ = ["class_parts"]

#: Mistakes that are shown.
_SHOWN = 12
#: Right and wrong predictions that are explained.
_EXPLAINED = 2


def class_parts(
    model: Any,
    plain: Any,
    learner: str,
    calibration: str,
    inputs: Inputs,
    test: Dataset,
    said: npt.NDArray[Any],
    cost: npt.NDArray[np.float64] | None,
) -> tuple[Part, ...]:
    """Confusion, per-class scores, mistakes, calibration and weights of the champion.

    Parameters
    ----------
    model, plain : estimator
        The champion with and without calibration.
    learner, calibration : str
        Its name, and what was calibrated, in words.
    inputs : Inputs
    test : Dataset
        The test rows.
    said : array of shape (n,)
        Its predictions for them.
    cost : array of shape (K, K) or None
    """
    X, y = inputs.take(test), test.y
    classes = model.classes_
    names = tuple(str(label) for label in classes)
    parts: list[Part] = [
        Confusion(names, confusion_matrix(y, said, labels=classes)),
        _class_report(y, said),
    ]
    shares = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    parts.append(_mistakes(test, inputs, y, said, shares, classes))
    if shares is not None:
        parts.append(_calibration(plain, shares, X, y, classes, calibration))
    if cost is not None:
        parts.append(CostMatrix(names, names, cost))
    wrong = np.flatnonzero(said != y)[:_EXPLAINED]
    right = np.flatnonzero(said == y)[: 2 * _EXPLAINED - len(wrong)]
    optional = (
        weights_part(plain, learner, inputs, test),
        explanations(model, learner, inputs, test, said, np.concatenate([wrong, right])),
    )
    return (*parts, *(part for part in optional if part is not None))


def _class_report(y: npt.NDArray[Any], said: npt.NDArray[Any]) -> ClassReport:
    found = per_class_report(y, said)
    total = int(found.support.sum())
    classes = zip(found.labels, found.precision, found.recall, found.f1, found.support, strict=True)
    averages = (("macro average", found.macro), ("weighted average", found.weighted))
    return ClassReport(
        tuple(
            ClassScores(str(c), float(p), float(r), float(f), int(s)) for c, p, r, f, s in classes
        ),
        tuple(ClassScores(name, a.precision, a.recall, a.f1, total) for name, a in averages),
    )


def _mistakes(
    test: Dataset,
    inputs: Inputs,
    y: npt.NDArray[Any],
    said: npt.NDArray[Any],
    shares: npt.NDArray[np.float64] | None,
    classes: npt.NDArray[Any],
) -> Mistakes:
    wrong = np.flatnonzero(said != y)
    if shares is not None:
        sure = shares[wrong, np.searchsorted(classes, said[wrong])]
        wrong = wrong[np.argsort(-sure, kind="stable")]
    found = []
    for row in wrong[:_SHOWN]:
        text, picture = row_text(test, inputs, int(row))
        confidence = truth = float("nan")
        if shares is not None:
            confidence = float(shares[row, np.searchsorted(classes, said[row])])
            truth = float(shares[row, np.searchsorted(classes, y[row])])
        found.append(
            Mistake(
                f"test row {row}", text, str(y[row]), str(said[row]), confidence, truth, picture
            )
        )
    return Mistakes(tuple(found), len(wrong), len(y))


def _calibration(
    plain: Any,
    shares: npt.NDArray[np.float64],
    X: Any,
    y: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    words: str,
) -> Calibration:
    curves = []
    before = plain.predict_proba(X) if hasattr(plain, "predict_proba") else None
    if before is not None and not np.array_equal(before, shares):
        curves.append(("before calibration", before))
        curves.append(("after calibration", shares))
    else:
        curves.append(("probabilities", shares))
    return Calibration(
        tuple(_reliability(name, held, y, classes) for name, held in curves), method=words
    )


def _reliability(
    name: str, shares: npt.NDArray[np.float64], y: npt.NDArray[Any], classes: npt.NDArray[Any]
) -> Reliability:
    bins = calibration_bins(y, shares, labels=classes, n_bins=10)
    loss = float(log_loss(y, shares, labels=classes))
    return Reliability(name, bins.confidence, bins.frequency, bins.mass, bins.error, loss)
