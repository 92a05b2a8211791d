"""What users give as graphs and images, as `FeatureGraphs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.data.graphs.batch import FeatureGraphs, Graphs
from separatrix.errors import DataError

__all__ = ["as_feature_graphs", "as_image_graphs"]


def as_feature_graphs(X: Any) -> FeatureGraphs:
    """Graphs with features of their nodes, and perhaps of their edges.

    Parameters
    ----------
    X : FeatureGraphs or sequence
        Of (features, edges) or (features, edges, edge features), or of networkx graphs whose nodes
        hold their features as "x".

    Raises
    ------
    DataError
        Something else, or a feature that is not finite.

    Examples
    --------
    >>> X = as_feature_graphs([(np.eye(3), [(0, 1), (1, 2)]), (np.ones((1, 3)), [])])
    >>> len(X), X.matrix.shape
    (2, (4, 3))
    """
    if isinstance(X, FeatureGraphs):
        return _checked(X)
    items = _items(X, "graphs")
    if all(hasattr(item, "nodes") and hasattr(item, "adj") for item in items):
        return _checked(FeatureGraphs.from_networkx(items))
    return _checked(_from_tuples(items))


def _from_tuples(items: list[Any]) -> FeatureGraphs:
    lengths = {len(item) if isinstance(item, tuple | list) else 0 for item in items}
    if lengths not in ({2}, {3}):
        raise DataError(
            "expected FeatureGraphs, networkx graphs, or for every graph (features, edges) or "
            "(features, edges, edge features)"
        )
    columns: list[list[Any]] = [list(column) for column in zip(*items, strict=True)]
    return FeatureGraphs.of(columns[0], columns[1], None, columns[2] if len(columns) == 3 else None)


def as_image_graphs(X: Any, neighborhood: int) -> FeatureGraphs:
    """Images as grids.

    Parameters
    ----------
    X : FeatureGraphs of grids, or sequence of arrays
        Of shape (height, width) or (height, width, features of a pixel).
    neighborhood : {4, 8}

    Raises
    ------
    DataError
        Something else, or a feature that is not finite.
    """
    if not isinstance(X, FeatureGraphs):
        X = FeatureGraphs.from_images(_items(X, "images"), neighborhood)
    if X.graphs.neighborhood != neighborhood:
        raise DataError(
            f"expected images with {neighborhood} neighbors of a pixel, as "
            f"FeatureGraphs.from_images(images, {neighborhood}) makes them"
        )
    return _checked(X)


def _items(X: Any, what: str) -> list[Any]:
    if isinstance(X, str) or not isinstance(X, Sequence | np.ndarray):
        raise DataError(f"X is a {type(X).__name__}; expected a sequence of {what}")
    items = list(X)
    if not items:
        raise DataError(f"Found array with 0 sample(s): X holds no {what}")
    return items


def _checked(X: FeatureGraphs) -> FeatureGraphs:
    if len(X) == 0:
        raise DataError("Found array with 0 sample(s): X holds no graph")
    graphs = X.graphs
    _check_finite(X.matrix, graphs, graphs.node_offsets, "node")
    if X.edge_matrix is not None:
        _check_finite(X.edge_matrix, graphs, graphs.edge_offsets, "edge")
    return X


def _check_finite(matrix: Any, graphs: Graphs, offsets: Any, what: str) -> None:
    sparse = bool(sp.issparse(matrix))
    values = matrix.data if sparse else matrix
    good = np.isfinite(values)
    if good.all():
        return
    if sparse:
        entry = int(np.argmin(good))
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        column, value = int(matrix.indices[entry]), values[entry]
    else:
        row, column = (int(i[0]) for i in np.nonzero(~good))
        value = values[row, column]
    graph = int(np.searchsorted(offsets, row, side="right")) - 1
    raise DataError(
        f"feature {column} of {what} {row - int(offsets[graph])} of graph {graph} is {value}; "
        "Input X contains NaN or infinity"
    )
