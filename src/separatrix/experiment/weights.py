"""What a model looks at, for the report: the largest weights of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.data import Dataset
from separatrix.errors import ParameterError
from separatrix.experiment.inputs import Inputs
from separatrix.explanation import see_through, top_weights
from separatrix.features import RadialBasis
from separatrix.report.parts import ClassWeights, Weights

__all__ = ["weights_part"]

#: Features of a class, at either end, and classes that are shown.
_TOP, _CLASSES = 12, 30
#: Learners whose exponentiated weights are odds ratios.
_ODDS = ("LogisticRegression", "LaplaceLogisticRegression", "NaiveBayes")
_UNITS = {"table": "per standard deviation of a number", "text": ""}


def weights_part(
    model: Any, learner: str, inputs: Inputs, data: Dataset | None = None
) -> Weights | None:
    """The largest weights of a model; None where it has none.

    Parameters
    ----------
    model : Pipeline
        Takes raw rows.
    learner : str
        Its name.
    inputs : Inputs
        What it is fed.
    data : Dataset, optional
        Rows, whose shape tells how weights of pixels lie.
    """
    names = None
    if inputs.kind in ("matrix", "images"):
        names = [f"column {column}" for column in range(inputs.n_features or 0)]
    steps, final = see_through(model)
    if any(isinstance(step, RadialBasis) for step in steps):
        return None  # its columns have no meaning of their own
    try:
        found = top_weights(model, _TOP, names=names)
    except ParameterError:
        return None
    pictures: list[Any] = [None] * len(found)
    if (
        inputs.kind == "images"
        and data is not None
        and data.X.ndim == 3
        and hasattr(final, "coef_")
    ):
        pictures = list(np.reshape(final.coef_, (len(found), *data.X.shape[1:])))
    two = len(found) == 1 and hasattr(final, "classes_")
    groups = tuple(
        ClassWeights(
            str(inputs.target or "target" if one.label is None else one.label),
            one.names,
            one.values,
            one.rest if two else "",
            picture=picture,
        )
        for one, picture in zip(found[:_CLASSES], pictures, strict=False)
    )
    return Weights(
        learner,
        groups,
        "log odds ratio" if found[0].kind == "log odds" else "weight",
        odds=type(final).__name__ in _ODDS and two,
        note=_UNITS.get(inputs.kind, "per largest absolute value of a feature"),
        n_features=int(final.n_features_in_),
    )
