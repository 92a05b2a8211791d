"""What a model looks at: the largest weights of each class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.errors import ParameterError
from separatrix.experiment.inputs import Inputs
from separatrix.report.parts import ClassWeights, Weights

__all__ = ["feature_names", "weights_part"]

#: Features of a class, and classes, that are shown.
_TOP, _CLASSES = 12, 30
#: Learners whose exponentiated weights are odds ratios.
_ODDS = ("LogisticRegression", "LaplaceLogisticRegression")


def weights_part(
    model: Any, learner: str, inputs: Inputs, data: Dataset | None = None
) -> Weights | None:
    """The largest weights of a pipeline's learner; None where it has none."""
    final = model.steps[-1][1]
    while hasattr(final, "steps"):
        final = final.steps[-1][1]
    names = feature_names(model, inputs)
    unit = {"table": "per standard deviation of a number", "text": ""}.get(
        inputs.kind, "per largest absolute value of a feature"
    )
    if hasattr(final, "coef_"):
        coef = np.atleast_2d(final.coef_)
        if coef.shape[1] != len(names):
            return None
        labels = [str(label) for label in getattr(final, "classes_", ())]
        picture = _shape(inputs, data)
        if not labels:
            groups = [_group(inputs.target or "target", coef[0], names, picture=picture)]
        elif len(coef) == 1:
            groups = [_group(labels[1], coef[0], names, labels[0], picture)]
        else:
            order = range(min(len(coef), _CLASSES))
            groups = [_group(labels[k], coef[k], names, picture=picture) for k in order]
        odds = type(final).__name__ in _ODDS and len(coef) == 1
        return Weights(learner, tuple(groups), "weight", odds, unit, len(names))
    if hasattr(final, "odds_ratios"):
        return _ratios(final, learner, names)
    return None


def feature_names(model: Any, inputs: Inputs) -> list[str]:
    """Names of the columns that the last step of a pipeline sees."""
    names: Any = None
    for _, step in model.steps[:-1]:
        if hasattr(step, "get_feature_names_out"):
            width = getattr(step, "n_features_in_", 0)
            plain = names is None and inputs.kind in ("matrix", "images")
            given = [f"{j}" for j in range(width)] if plain else names
            names = step.get_feature_names_out(given) if given is not None else (
                step.get_feature_names_out()
            )  # fmt: skip
    last = model.steps[-1][1]
    if hasattr(last, "steps"):
        for _, step in last.steps[:-1]:
            names = step.get_feature_names_out(names)
    return [str(name) for name in names]


def _group(
    label: str,
    values: npt.NDArray[Any],
    names: list[str],
    against: str = "",
    picture: tuple[int, int] | None = None,
) -> ClassWeights:
    """The largest weights of both signs, falling."""
    values = np.asarray(values, dtype=np.float64)
    order = np.argsort(-values, kind="stable")
    if len(order) > 2 * _TOP:
        order = np.concatenate([order[:_TOP], order[-_TOP:]])
    order = order[values[order] != 0]
    shown = None if picture is None else values.reshape(picture)
    return ClassWeights(
        label, tuple(names[j] for j in order), values[order], against, picture=shown
    )


def _ratios(model: Any, learner: str, names: list[str]) -> Weights | None:
    groups = []
    classes = model.classes_[-1:] if len(model.classes_) == 2 else model.classes_[:_CLASSES]
    for label in classes:
        try:
            found = model.odds_ratios(label, top=_TOP, feature_names=names)
        except ParameterError:  # Gaussian columns only
            return None
        finite = np.isfinite(found.ratios) & (found.ratios > 0)
        kept = tuple(name for name, ok in zip(found.names, finite, strict=True) if ok)
        against = str(model.classes_[0]) if len(model.classes_) == 2 else ""
        groups.append(ClassWeights(str(label), kept, np.log(found.ratios[finite]), against))
    return Weights(learner, tuple(groups), "log odds ratio", True, "", len(names))


def _shape(inputs: Inputs, data: Dataset | None) -> tuple[int, int] | None:
    if inputs.kind != "images" or data is None or data.X.ndim != 3:
        return None
    return int(data.X.shape[1]), int(data.X.shape[2])
