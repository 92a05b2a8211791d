"""One row of the data in a few words, or as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.experiment.inputs import Inputs
from separatrix.validation import is_sparse

__all__ = ["row_text"]

#: Longest text, and most columns, that are shown.
_LONGEST, _MOST = 300, 12


def row_text(data: Dataset, inputs: Inputs, row: int) -> tuple[str, npt.NDArray[Any] | None]:
    """A row in words, and its picture if it is one.

    Examples
    --------
    >>> data = Dataset("text", np.array(["free  money"], dtype=object))
    >>> row_text(data, Inputs("text"), 0)
    ('free money', None)
    """
    if data.kind == "images":
        picture = np.asarray(data.X[row])
        return "", picture if picture.ndim == 2 else None
    if data.kind == "text":
        return _short(data.X[row]), None
    if isinstance(data.X, dict):
        if inputs.kind == "text":
            return _short(data.X[inputs.columns[0]][row]), None
        cells = [f"{name}: {_cell(data.X[name][row])}" for name in inputs.columns[:_MOST]]
        more = ["…"] if len(inputs.columns) > _MOST else []
        return _short(", ".join(cells + more)), None
    values = data.X[[row]].toarray()[0] if is_sparse(data.X) else np.asarray(data.X[row]).ravel()
    largest = np.argsort(-np.abs(values), kind="stable")[:_MOST]
    told = [f"{column}: {values[column]:g}" for column in np.sort(largest) if values[column] != 0]
    return _short(", ".join(told)), None


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: Any) -> str:
    words = " ".join(str(text).split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
