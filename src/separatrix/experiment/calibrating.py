"""Calibrating a champion: on held-out scores before the last fit, carried over to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from separatrix.bayes.calibration import Calibrated
from separatrix.errors import DataError, ParameterError
from separatrix.metrics import calibration_bins, log_loss
from separatrix.tasks import Task
from separatrix.tasks.rows import Rows

__all__ = ["N_FOLDS", "calibrate", "check_calibration"]

#: Folds whose scores an isotonic calibration is fitted to.
N_FOLDS = 5
#: Least relative gain in held-out log loss for which probabilities are changed, and most loss in
#: calibration error.
_WORTH = 0.01
#: Held-out rows that a temperature or a sigmoid is fitted to: they have one or two numbers per
#: class, which so many tell to a per cent.
_ENOUGH = 50_000


def calibrate(
    fitted: Any, held_out: Rows, method: str, fit: Callable[[Rows], Any], everything: Rows
) -> tuple[Calibrated | None, str]:
    """A calibration for the scores of a learner, and what was done in words.

    Parameters
    ----------
    fitted : estimator
        Fitted on the train rows.
    held_out : Rows
        Rows that it has not seen.
    method : {"auto", "none", "temperature", "sigmoid", "isotonic"}
        "auto": a temperature, where there are no probabilities yet, or where the held-out log loss
        gets better by one per cent.
    fit : callable
        Fits the learner with its chosen setting on some rows; for "isotonic", which bends to its
        rows so much that it is fitted to scores of five folds instead.
    everything : Rows
        Train and held-out rows.

    Returns
    -------
    tuple of (Calibrated or None, str)
        To be carried over to the last fit.
    """
    has_scores = hasattr(fitted, "predict_proba") or hasattr(fitted, "decision_function")
    if method == "none" or not has_scores:
        return None, "Not calibrated."
    if method == "isotonic":
        return _cross_fitted(fit, everything), (
            f"Isotonic calibration, fitted to the scores of {N_FOLDS} folds."
        )
    held_out = held_out.first(_ENOUGH)  # they are in random order
    if method != "auto":
        model = Calibrated(fitted, method).calibrate(held_out.X, held_out.y)
        return model, f"{method.capitalize()} calibration, fitted to the held-out scores."
    model = Calibrated(fitted).calibrate(held_out.X, held_out.y)
    if hasattr(fitted, "predict_proba"):
        proba = [m.predict_proba(held_out.X) for m in (fitted, model)]
        before, after = (log_loss(held_out.y, p, labels=fitted.classes_) for p in proba)
        errors = [calibration_bins(held_out.y, p, labels=fitted.classes_).error for p in proba]
        # A temperature that only serves a few wild mistakes makes all other rows too unsure.
        if after > before * (1 - _WORTH) or errors[1] > errors[0] + _WORTH:
            return None, "A temperature would not improve its probabilities on the held-out rows."
    words = f"Temperature {model.temperature_:.3g}, fitted to the held-out scores."
    return model, words


def check_calibration(method: str, y: Any, task: Task) -> None:
    """Complain about a calibration that cannot be done, before the search rather than after it."""
    if method in ("auto", "none"):
        return
    if not task.calibrates:
        raise ParameterError(f"{method} calibration is for classes, but this is {task.title}")
    if method == "isotonic":
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < N_FOLDS:
            raise DataError(
                f"isotonic calibration needs {N_FOLDS} train and held-out rows of every class; "
                f"class {labels[counts.argmin()]!r} has {counts.min()}: choose temperature or "
                "sigmoid"
            )


def _cross_fitted(fit: Callable[[Rows], Any], rows: Rows) -> Calibrated:
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    found: list[npt.NDArray[np.float64]] = []
    seen: list[npt.NDArray[np.intp]] = []
    for first, second in folds.split(np.zeros(len(rows.y)), rows.y):
        model = fit(Rows(rows.X[first], rows.y[first]))
        logs = hasattr(model, "predict_log_proba")
        with np.errstate(divide="ignore"):  # a probability of zero is no surprise
            score = model.predict_log_proba if logs else model.decision_function
            found.append(score(rows.X[second]))
        seen.append(second)
    truth = rows.y[np.concatenate(seen)]
    known = Calibrated(model, "isotonic")
    return known.calibrate_scores(
        np.concatenate(found), truth, model.classes_, log_probabilities=logs
    )
