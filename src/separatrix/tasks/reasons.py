"""What a champion looks at, for the report: its largest weights, and sums behind test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.errors import ParameterError
from separatrix.explanation import see_through, top_weights
from separatrix.features import RadialBasis
from separatrix.features.tables.scorecard import scorecard
from separatrix.report.parts import ClassWeights, Explained, Explanations, ScorecardPart, Weights
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.rows import row_text, taken

if TYPE_CHECKING:
    from separatrix.tasks.task import Task

__all__ = ["explanations", "scorecard_part", "weights_part"]

#: Features of a class, at either end, and classes that are shown; terms of an explanation.
_TOP, _CLASSES, _TERMS = 12, 30, 12
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
    words = {}
    if not hasattr(final, "classes_"):
        words = {"positive": f"raises {inputs.target or 'the target'}", "negative": "lowers it"}
    return Weights(
        learner,
        groups,
        "log odds ratio" if found[0].kind == "log odds" else "weight",
        # Weights are of log odds where probabilities come from the model itself.
        odds=two and hasattr(final, "predict_proba"),
        note=_UNITS.get(inputs.kind, "per largest absolute value of a feature"),
        n_features=int(final.n_features_in_),
        **words,
    )


def scorecard_part(model: Any, inputs: Inputs) -> ScorecardPart | None:
    """Points of all values of all columns; None where the model is no such sum."""
    if inputs.kind != "table":
        return None
    try:
        return ScorecardPart(scorecard(model, inputs.target or "the target"))
    except ParameterError:
        return None


def explanations(
    task: Task,
    model: Any,
    learner: str,
    inputs: Inputs,
    test: Dataset,
    X: Any,
    predictions: Any,
    rows: npt.NDArray[np.intp],
) -> Explanations | None:
    """Running totals of some test rows, which models are fed as X; None where there is no sum."""
    from separatrix.tasks.task import Fitted

    fitted, found = Fitted(model, inputs), []
    for row in rows.tolist():
        x = taken(X, np.array([row]))
        try:
            terms = task.explain(fitted, str(x[0]) if inputs.kind == "text" else x, _TERMS)
        except ParameterError:
            return None
        text, _ = row_text(test, inputs, row)
        words = task.words(predictions[row]), task.words(test.y[row])
        found.append(Explained(terms, text, *words, f"test row {row}"))
    return Explanations(tuple(found), learner) if found else None
