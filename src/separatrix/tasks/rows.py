"""Rows to learn from or to score, and one row in a few words or as a picture."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.data import Dataset
from separatrix.tasks.inputs import Inputs
from separatrix.validation import distinct_values, is_sparse

__all__ = ["Rows", "labels_of", "row_text", "taken"]

#: Longest text, and most columns, that are shown.
_LONGEST, _MOST = 300, 12


class Rows(NamedTuple):
    """Rows, raw or prepared, and their target.

    Attributes
    ----------
    X : matrix of shape (n, d), texts, dict of columns, or sequences
        Dense or CSR where it is a matrix.
    y : array of shape (n,), TokenColumn or LabelSets
    kinds : tuple of (str, str), or None
        Where each column of a prepared table comes from, and what kind of variable it is; see
        `TableEncoder.feature_kinds`.
    """

    X: Any
    y: Any
    kinds: tuple[tuple[str, str], ...] | None = None

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Rows:
        """Some of them, by number; a slice of columns and dense matrices is a view."""
        return Rows(taken(self.X, rows), taken(self.y, rows), self.kinds)

    def first(self, n: int) -> Rows:
        """The first `n`, or all if there are fewer."""
        return self if n >= len(self.y) else self.take(slice(0, n))

    def joined(self, other: Rows) -> Rows:
        """These and the others behind them."""
        return Rows(_joined(self.X, other.X), _joined(self.y, other.y), self.kinds)


def taken(part: Any, rows: npt.NDArray[np.intp] | slice) -> Any:
    """Some rows of what models are fed, or of a target, by number."""
    if isinstance(part, dict):
        return {name: taken(values, rows) for name, values in part.items()}
    if isinstance(rows, slice):
        # Of sequences a slice would be a list.
        plain = isinstance(part, np.ndarray) or sp.issparse(part)
        return part[rows] if plain else part[np.arange(len(part))[rows]]
    # Three times as fast as an index.
    return part.take(rows, axis=0) if isinstance(part, np.ndarray) else part[rows]


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, dict):
        return {name: _joined(first[name], second[name]) for name in first}
    if hasattr(first, "joined"):
        return first.joined(second)
    if sp.issparse(first):
        blocks: Any = [first, second]
        return sp.vstack(blocks, format="csr")
    return _neighbours(first, second)


def _neighbours(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Both arrays as one: not copied where they lie one behind the other in a third."""
    base = first.base
    if isinstance(base, np.ndarray) and base is second.base and base.shape[1:] == first.shape[1:]:
        at = [one.__array_interface__["data"][0] for one in (base, first, second)]
        row = base.strides[0]
        whole = base.flags.c_contiguous and first.flags.c_contiguous and row > 0
        if whole and at[2] == at[1] + row * len(first) and base.dtype == first.dtype:
            start = (at[1] - at[0]) // row
            return base[start : start + len(first) + len(second)]
    return np.concatenate([first, second])


def labels_of(y: Any) -> npt.NDArray[Any]:
    """The distinct labels of rows or of tokens, sorted."""
    return y.classes if hasattr(y, "classes") else distinct_values(np.asarray(y))[0]


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
