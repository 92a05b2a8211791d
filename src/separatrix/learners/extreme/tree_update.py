"""Further rows for a fitted label tree, and labels that it has not seen before."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from separatrix.learners.extreme.tree_shape import TreeShape
from separatrix.learners.extreme.tree_weights import TreeWeights

__all__ = ["add_labels", "update"]

FloatArray = npt.NDArray[np.float64]


def add_labels(
    shape: TreeShape, weights: TreeWeights, X: sp.csr_array, indicator: sp.csr_array, n_new: int
) -> tuple[TreeShape, TreeWeights]:
    """Hang new labels below the nodes that their rows lead to, with the lowest scores there.

    Parameters
    ----------
    shape, weights : TreeShape, TreeWeights
        The tree as it is.
    X : CSR array of shape (n, d)
        Further rows.
    indicator : CSR array of shape (n, K + n_new)
        Their labels; new ones last.
    n_new : int
        How many.
    """
    n_nodes, n_labels = shape.n_nodes, shape.n_labels
    members = indicator.T.tocsr()
    extra: dict[int, list[int]] = defaultdict(list)
    for label in range(n_labels, n_labels + n_new):
        rows = members.indices[members.indptr[label] : members.indptr[label + 1]]
        extra[_home(shape, weights, X[rows])].append(label)
    targets, intercepts, starts = [], [], [0]
    for node in range(n_nodes):
        edges = slice(shape.starts[node], shape.starts[node + 1])
        new = extra[node]
        targets += [shape.targets[edges], np.array(new, dtype=np.int64) + n_nodes]
        lowest = weights.intercepts[edges].min()
        intercepts += [weights.intercepts[edges], np.full(len(new), lowest)]
        starts.append(starts[-1] + len(targets[-2]) + len(new))
    grown = TreeShape(np.array(starts, dtype=np.int64), np.concatenate(targets))
    return grown, TreeWeights(
        weights.feature_starts,
        weights.features,
        weights.weight_starts,
        weights.children,
        weights.values,
        np.concatenate(intercepts),
    )


def _home(shape: TreeShape, weights: TreeWeights, rows: sp.csr_array) -> int:
    """The node of the last level that most of the rows' scores lead to."""
    node = 0
    while True:
        below = shape.children(node)
        inner = below < shape.n_nodes
        if not inner.any():
            return node
        W = weights.node(shape, node, rows.shape[1])
        edges = slice(shape.starts[node], shape.starts[node + 1])
        scores = (rows @ W).toarray() + weights.intercepts[edges]
        mean = np.where(inner, scores.mean(axis=0), -np.inf)
        node = int(below[mean.argmax()])


def update(
    shape: TreeShape,
    weights: TreeWeights,
    X: sp.csr_array,
    indicator: sp.csr_array,
    upper: FloatArray,
    *,
    single: bool,
    margin: bool,
    prune: float,
    fit_intercept: bool,
) -> TreeWeights:
    """Weights that fit further rows and stay close to what they were.

    Every node with rows minimizes 1/2 |W - W_before|^2 + sum_i U_i loss_i over them: a
    Gaussian prior around the weights so far. Other nodes stay as they are.
    """
    paths = _rows_of_nodes(shape, indicator)
    nodes: list[sp.csr_array | None] = []
    intercepts = weights.intercepts.copy()
    d = X.shape[1]
    for node in range(shape.n_nodes):
        rows, edges = paths.get(node, (None, None))
        if rows is None:
            nodes.append(None)
            continue
        inside = slice(shape.starts[node], shape.starts[node + 1])
        local = X[rows]
        used = np.unique(local.indices)
        part = local[:, used].toarray().astype(np.float64)
        before = weights.node(shape, node, d)
        start = before[used].toarray()
        T = np.zeros((len(rows), start.shape[1]))
        T[edges] = 1.0
        W, b = _nearby(
            part, T, upper[rows], start, intercepts[inside], single, margin, fit_intercept
        )
        intercepts[inside] = b
        nodes.append(_pruned(before, used, W, prune))
    return _joined(weights, nodes, intercepts)


def _rows_of_nodes(
    shape: TreeShape, indicator: sp.csr_array
) -> dict[int, tuple[npt.NDArray[np.int64], tuple[Any, Any]]]:
    """For each node its rows, and the (place of the row, child) pairs that lead to labels."""
    n_nodes = shape.n_nodes
    edge_of = np.empty(len(shape.targets) + 1, dtype=np.int64)
    edge_of[shape.targets] = np.arange(len(shape.targets))
    owner = np.repeat(np.arange(n_nodes), np.diff(shape.starts))
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in range(indicator.shape[0]):
        seen = set()
        for label in indicator.indices[indicator.indptr[row] : indicator.indptr[row + 1]]:
            edge = int(edge_of[n_nodes + label])
            while True:
                node = int(owner[edge])
                if (node, edge) in seen:
                    break
                seen.add((node, edge))
                found[node].append((row, edge - int(shape.starts[node])))
                if node == 0:
                    break
                edge = int(edge_of[node])
    result = {}
    for node, pairs in found.items():
        rows, places = np.unique([row for row, _ in pairs], return_inverse=True)
        result[node] = (rows, (places, np.array([child for _, child in pairs])))
    return result


def _nearby(
    X: FloatArray,
    T: FloatArray,
    upper: FloatArray,
    start: FloatArray,
    b: FloatArray,
    single: bool,
    margin: bool,
    fit_intercept: bool,
) -> tuple[FloatArray, FloatArray]:
    """Weights and intercepts near the old ones that fit the rows."""
    d, k = start.shape
    signs = 2 * T - 1

    def value_and_grad(flat: FloatArray) -> tuple[float, FloatArray]:
        change = flat.reshape(d + 1, k)
        Z = X @ (start + change[:d]) + (b + change[d])
        if margin:
            slack = np.maximum(0.0, 1 - signs * Z)
            loss = (slack**2).sum(axis=1)
            D = -2 * signs * slack
        elif single:
            total = logsumexp(Z, axis=1)
            loss = total - (Z * T).sum(axis=1)
            D = np.exp(Z - total[:, None]) - T
        else:
            loss = np.logaddexp(0.0, -signs * Z).sum(axis=1)
            D = -signs * expit(-signs * Z)
        D *= upper[:, None]
        grad = np.vstack([X.T @ D, D.sum(axis=0) * fit_intercept]) + change
        return float(upper @ loss + 0.5 * (change**2).sum()), grad.ravel()

    # Intercepts are held to their old values as the weights are: new rows may be of one child only.
    found = minimize(value_and_grad, np.zeros((d + 1) * k), jac=True, method="L-BFGS-B")
    change = found.x.reshape(d + 1, k)
    return start + change[:d], b + change[d] * fit_intercept


def _pruned(before: sp.csc_array, used: Any, W: FloatArray, share: float) -> sp.csr_array:
    """The node's weights with the rows `used` replaced, small weights dropped child by child."""
    kept = before.tolil()
    kept[used] = W
    columns = sp.csc_array(kept)
    for child in range(columns.shape[1]):
        values = columns.data[columns.indptr[child] : columns.indptr[child + 1]]
        order = np.argsort(np.abs(values))
        mass = np.cumsum(values[order] ** 2)
        if len(mass):
            values[order[mass <= share**2 * mass[-1]]] = 0.0
    columns.eliminate_zeros()
    rows = columns.tocsr()
    rows.sort_indices()
    return rows


def _joined(
    weights: TreeWeights, nodes: list[Any], intercepts: npt.NDArray[np.float64]
) -> TreeWeights:
    """The arrays of a tree in which some nodes have new weights."""
    features, counts, children, values, sizes = [], [], [], [], []
    for node, new in enumerate(nodes):
        if new is None:
            first, last = weights.feature_starts[node : node + 2]
            starts = weights.weight_starts[first : last + 1]
            inside = slice(int(starts[0]), int(starts[-1]))
            features.append(weights.features[first:last])
            counts.append(np.diff(starts))
            children.append(weights.children[inside])
            values.append(weights.values[inside])
        else:
            per_row = np.diff(new.indptr)
            features.append(np.flatnonzero(per_row).astype(np.int32))
            counts.append(per_row[per_row > 0].astype(np.int64))
            children.append(new.indices.astype(np.uint16))
            values.append(new.data.astype(weights.values.dtype))
        sizes.append(len(features[-1]))
    return TreeWeights(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate(features),
        np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        np.concatenate(children),
        np.concatenate(values),
        intercepts,
    )
