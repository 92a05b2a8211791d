"""Labels of the nodes of graphs as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Graphs
from separatrix.errors import DataError

__all__ = ["encode_nodes", "encode_sets"]

Integers = npt.NDArray[np.int64]


def encode_nodes(
    y: Any, graphs: Graphs, classes: npt.NDArray[Any] | None = None
) -> tuple[npt.NDArray[Any], Integers]:
    """Number the labels of the nodes of graphs.

    Parameters
    ----------
    y : sequence of arrays or lists
        The labels of each graph, as many as it has nodes; label images, say.
    graphs : Graphs
        Their nodes.
    classes : array of shape (K,), optional
        The labels that are known, sorted; those of y without.

    Returns
    -------
    classes : array of shape (K,)
    codes : int64 array of shape (n_nodes,)

    Examples
    --------
    >>> graphs = Graphs.of([2, 1], [[(0, 1)], []])
    >>> classes, codes = encode_nodes([["b", "a"], ["b"]], graphs)
    >>> classes.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    >>> encode_nodes([["b", "c"], ["b"]], graphs, classes)
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: label 'c' of node 1 of graph 0 is not among the known labels ...
    """
    if y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None.")
    if isinstance(y, str) or not isinstance(y, Sequence | np.ndarray):
        raise DataError(f"y is a {type(y).__name__}; expected the labels of every graph")
    rows = [np.asarray(row) for row in y]
    if len(rows) != graphs.n_graphs:
        raise DataError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{graphs.n_graphs} graphs, y has labels of {len(rows)}"
        )
    sizes = np.diff(graphs.node_offsets).tolist()
    for number, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        if row.size != size:
            raise DataError(f"graph {number} has {size} nodes, but {row.size} labels")
        shape = None if graphs.shapes is None else graphs.shapes[number]
        if shape is not None and row.ndim == 2 and row.shape != shape:
            raise DataError(f"image {number} has shape {shape}, its labels {row.shape}")
    flat = _joined([row.ravel() for row in rows])
    if classes is None:
        return _classes(flat)
    if flat.dtype != classes.dtype and (flat.dtype == object or classes.dtype == object):
        flat, classes_ = flat.astype(object), classes.astype(object)
    else:
        classes_ = classes
    try:
        places = np.minimum(np.searchsorted(classes_, flat), len(classes) - 1)
        unknown = classes_[places] != flat
    except TypeError:
        raise DataError(f"labels are of another type than the known labels {classes}") from None
    if np.any(unknown):
        node = int(np.argmax(unknown))
        raise DataError(
            f"label {flat[node : node + 1].tolist()[0]!r} of {_place(node, graphs)} is not among "
            f"the known labels {classes.tolist()}"
        )
    return classes, places.astype(np.int64)


def _joined(rows: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    kinds = {"number" if row.dtype.kind in "biuf" else row.dtype.kind for row in rows if row.size}
    if len(kinds) > 1:
        rows = [row.astype(object) for row in rows]
    return np.concatenate([row for row in rows if row.size] or [np.zeros(0)])


def _classes(flat: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Integers]:
    if not len(flat):
        raise DataError("y holds no label")
    if flat.dtype.kind == "f":
        if not np.isfinite(flat).all():
            raise DataError("Input y contains NaN or infinity; every node needs a label")
        if not (flat == np.floor(flat)).all():
            raise DataError("Unknown label type: continuous. Labels must be discrete")
    try:
        classes, codes = np.unique(flat, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in flat.tolist()})
        raise DataError(
            f"labels of different types cannot be sorted: {kinds}; use one type"
        ) from None
    return classes, codes.astype(np.int64).ravel()


def _place(node: int, graphs: Graphs) -> str:
    graph = int(np.searchsorted(graphs.node_offsets, node, side="right")) - 1
    return f"node {node - int(graphs.node_offsets[graph])} of graph {graph}"


def encode_sets(Y: Any, n_rows: int, n_labels: int | None = None) -> Integers:
    """A matrix of labels that are absent (0) or present (1), shape (n_rows, L).

    Examples
    --------
    >>> encode_sets([[True, False], [0, 1]], 2).tolist()
    [[1, 0], [0, 1]]
    >>> encode_sets([[0, 2]], 1)
    Traceback (most recent call last):
    ...
    separatrix.errors.DataError: y is 2 at row 0, label 1; expected 0 (absent) or 1 (present)
    """
    if Y is None:
        raise DataError("This estimator requires y to be passed, but the target y is None.")
    values = np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(
            f"y must be a matrix of 0 and 1 with a column per label, got {values.dtype} of shape "
            f"{values.shape}"
        )
    if len(values) != n_rows:
        raise DataError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{n_rows} rows, y has {len(values)}"
        )
    if n_labels is not None and values.shape[1] != n_labels:
        raise DataError(f"y has {values.shape[1]} labels, but the model was fitted with {n_labels}")
    bad = (values != 0) & (values != 1)
    if bad.any():
        row, label = (int(i[0]) for i in np.nonzero(bad))
        raise DataError(
            f"y is {values[row, label]:g} at row {row}, label {label}; expected 0 (absent) or 1 "
            "(present)"
        )
    return values.astype(np.int64)
