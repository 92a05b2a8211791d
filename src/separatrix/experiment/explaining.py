"""Why some test rows got their prediction, term by term."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.errors import ParameterError
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.rows import row_text
from separatrix.explanation import Explanation as Sum
from separatrix.explanation import explain
from separatrix.report.parts import Explanation, Explanations, ExplanationStep

__all__ = ["explanations"]

#: Terms of an explanation.
_TERMS = 12


def explanations(
    model: Any,
    learner: str,
    inputs: Inputs,
    test: Dataset,
    said: npt.NDArray[Any],
    rows: npt.NDArray[np.intp],
) -> Explanations | None:
    """Running totals of some test rows; None where the model is no sum of terms.

    Parameters
    ----------
    model : Pipeline
        Takes raw rows.
    learner : str
        Its name.
    inputs : Inputs
    test : Dataset
    said : array of shape (n,)
        Predictions for the test rows.
    rows : array of int
        The rows to explain.
    """
    found = []
    for row in rows:
        x = inputs.take(test.take([row]))
        try:
            terms = explain(model, str(x[0]) if inputs.kind == "text" else x, top=_TERMS)
        except ParameterError:
            return None
        text, _ = row_text(test, inputs, int(row))
        found.append(_shown(terms, text, str(said[row]), str(test.y[row]), f"test row {row}"))
    return Explanations(tuple(found), learner) if found else None


def _shown(terms: Sum, text: str, prediction: str, truth: str, row: str) -> Explanation:
    labels = [str(label) for label in terms.labels]
    one = terms.addends.shape[1] == 1
    scores = (" against ".join(labels) or "prediction",) if one else tuple(labels)
    values = terms.values
    steps = tuple(
        ExplanationStep(
            name,
            "" if values is None or not np.isfinite(values[at]) else f"{values[at]:.4g}",
            tuple(float(v) for v in terms.addends[at]),
            tuple(float(v) for v in terms.totals[at]),
        )
        for at, name in enumerate(terms.names)
    )
    share = float("nan")
    if terms.posterior is not None and prediction in labels:
        share = float(terms.posterior[labels.index(prediction)])
    return Explanation(text, scores, steps, prediction, truth, share, terms.unknown, row)
