"""A model as one affine map and what follows it: scalers, encoders and temperatures folded in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes.calibration import Calibrated
from separatrix.errors import NotSavableError
from separatrix.features import TableEncoder
from separatrix.features.tables.columns_to_numbers import NumericEncoder
from separatrix.learners.linear import (
    MIRA,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    Perceptron,
)

__all__ = ["Flat", "check_flat", "flatten"]

#: Exactly these classes: a subclass may predict in another way.
_FLAT = (LogisticRegression, LinearSVM, LinearClassifier, Perceptron, MIRA)


@dataclass(frozen=True, eq=False)
class Flat:
    """Scores X W + b with what was learned around them.

    Attributes
    ----------
    weights : ndarray of shape (d, K), or (d, 1) for two classes
    intercepts : ndarray of shape (K,), or (1,)
    classes : ndarray of shape (K,)
    likely : bool
        Whether the scores are those of probabilities.
    temperature, floor : float or None
        Of a calibration: softmax(max(scores, floor) / temperature), where the scores are
        log-probabilities if `likely`.
    means : ndarray of shape (d,) or None
        What takes the place of missing values, where they are allowed.
    gaps : ndarray of shape (d, K) or None
        What a missing value adds to the scores besides.
    """

    weights: npt.NDArray[Any]
    intercepts: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    likely: bool
    temperature: float | None = None
    floor: float | None = None
    means: npt.NDArray[Any] | None = None
    gaps: npt.NDArray[Any] | None = None

    def after(self, slope: Any, offset: Any) -> Flat:
        """The same scores for rows x, where these are for ``x * slope + offset``."""
        moved = self.intercepts + np.asarray(offset) @ self.weights
        slopes = np.broadcast_to(slope, self.weights.shape[:1])
        return replace(self, weights=self.weights * slopes[:, None], intercepts=moved)


def check_flat(model: Any) -> None:
    """Raise NotSavableError unless `model` predicts by W x + b and nothing else."""
    if type(model) not in _FLAT:
        known = ", ".join(cls.__name__ for cls in _FLAT)
        raise NotSavableError(
            f"{type(model).__qualname__} cannot be exported: only flat linear classifiers can "
            f"({known}); save it as a model file instead"
        )
    check_is_fitted(model)
    if hasattr(model, "vote_"):
        raise NotSavableError(
            "a voted model has many weight vectors and cannot be exported; use averaging='average'"
        )


def flatten(model: Any) -> Flat:
    """A flat linear classifier, or a pipeline of scalers and a `Calibrated` one, as one `Flat`.

    Raises
    ------
    NotSavableError
        Some part is no affine map; the message names it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(MaxAbsScaler(), LinearSVM()).fit([[1.0], [4.0]], [0, 1])
    >>> float((flatten(model).weights * 4 / model[-1].coef_)[0, 0])
    1.0
    """
    steps: list[Any] = []
    calibration: Calibrated | None = None
    while type(model) in (Pipeline, Calibrated):
        if isinstance(model, Pipeline):
            steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model.steps[-1][1]
        elif calibration is not None or model.method != "temperature":
            raise NotSavableError(
                f'a calibration by method="{model.method}" cannot be exported; use "temperature"'
            )
        else:
            check_is_fitted(model)
            calibration, model = model, model.estimator_
    check_flat(model)
    flat = Flat(
        model.coef_.T, model.intercept_, np.asarray(model.classes_), hasattr(model, "predict_proba")
    )
    if calibration is not None:
        flat = replace(flat, temperature=calibration.temperature_, floor=calibration._floor)
    for step in reversed(steps):
        flat = _fold(flat, step, first=step is steps[0])
    return flat


def _fold(flat: Flat, step: Any, first: bool) -> Flat:
    """`flat` with a step before it."""
    check_is_fitted(step)
    if type(step) is MaxAbsScaler:
        return flat.after(1 / step.scale_, np.zeros(len(step.scale_)))
    if type(step) is StandardScaler:
        d = step.n_features_in_
        slope = np.ones(d) if step.scale_ is None else 1 / step.scale_
        mean = np.zeros(d) if step.mean_ is None or not step.with_mean else step.mean_
        return flat.after(slope, -mean * slope)
    if type(step) is MinMaxScaler and not step.clip:
        return flat.after(step.scale_, step.min_)
    if type(step) is TableEncoder and first:
        return _fold_table(flat, step)
    raise NotSavableError(
        f"{type(step).__qualname__} cannot be exported: only flat linear classifiers can, behind "
        "scalers or tables of numbers; save the model as a model file instead"
    )


def _fold_table(flat: Flat, encoder: TableEncoder) -> Flat:
    """Columns of numbers: standardized, the mean for what is missing, and a weight for the gap."""
    columns: dict[str, Any] = encoder._encoders
    words = [name for name in encoder.kinds_ if type(columns.get(name)) is not NumericEncoder]
    if words:
        raise NotSavableError(
            f"column {words[0]!r} is of kind {encoder.kinds_[words[0]]}; only tables of numbers "
            "can be exported; save the model as a model file instead"
        )
    kept, gaps, at = [], np.zeros((len(columns), flat.weights.shape[1])), 0
    for j, column in enumerate(columns.values()):
        kept.append(at)
        if column.had_missing:
            gaps[j] = flat.weights[at + 1]
        at += 1 + column.had_missing
    means = np.array([column.mean for column in columns.values()])
    slope = np.array([1 / column.scale for column in columns.values()])
    center = np.array([column.mean * column.centered for column in columns.values()])
    plain = replace(flat, weights=flat.weights[kept])
    return replace(plain.after(slope, -center * slope), means=means, gaps=gaps)
