"""Exact inference on complete graphs of present and absent labels, by enumeration.

Where the scores of pairs are the same for all rows, the part of the pairs in the score of every set
is computed once, and the rest is products of matrices: sums over all sets of n rows of L labels
take n 2^L (L + E) multiplications, without a junction tree for each.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from separatrix.structures.graph.scores import GraphMarginals

__all__ = ["all_sets", "best_sets", "set_marginals"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Scores of sets that are held at once.
_AT_ONCE = 1 << 21


def all_sets(n_labels: int) -> Integers:
    """Every set of so many labels, shape (2 ** n_labels, n_labels).

    Examples
    --------
    >>> all_sets(2).tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return (np.arange(2**n_labels)[:, None] >> np.arange(n_labels)) & 1


def _blocks(n: int, n_sets: int) -> list[slice]:
    step = max(1, _AT_ONCE // n_sets)
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def best_sets(odds: Floats, edges: Integers, pairs: Floats) -> tuple[Integers, Floats]:
    """The set of the highest score of every row, shape (n, L), and its score, shape (n,).

    Parameters
    ----------
    odds : array of shape (n, L)
        Score of a label that is present; absent ones score nothing.
    edges : array of shape (E, 2)
        Pairs of labels.
    pairs : array of shape (E,)
        Score of both labels of an edge together.

    Examples
    --------
    >>> best_sets(np.array([[1.0, 2.0]]), np.array([[0, 1]]), np.array([-4.0]))
    (array([[0, 1]]), array([2.]))
    """
    sets = all_sets(odds.shape[1])
    shared = (sets[:, edges[:, 0]] * sets[:, edges[:, 1]]) @ pairs
    columns = np.ascontiguousarray(sets.T, dtype=np.float64)
    numbers, values = np.empty(len(odds), dtype=np.int64), np.empty(len(odds))
    for block in _blocks(len(odds), len(sets)):
        scores = odds[block] @ columns
        scores += shared
        numbers[block] = scores.argmax(axis=1)
        values[block] = scores.max(axis=1)
    return sets[numbers], values


def set_marginals(
    odds: Floats, edges: Integers, pairs: Floats, *, joint: bool = False
) -> GraphMarginals:
    """log Z, p(label) and, for `joint`, p(both labels of an edge), in the form of graphs.

    Parameters
    ----------
    odds, edges, pairs
        As for `best_sets`.
    joint : bool
        Whether marginals of the edges are wanted.

    Examples
    --------
    >>> found = set_marginals(np.zeros((1, 2)), np.array([[0, 1]]), np.array([np.log(3.0)]))
    >>> float(np.exp(found.log_partition[0]).round(6)), found.nodes.round(4).tolist()
    (6.0, [[0.3333, 0.6667], [0.3333, 0.6667]])
    """
    n, L = odds.shape
    sets = all_sets(L).astype(np.float64)
    both = sets[:, edges[:, 0]] * sets[:, edges[:, 1]]
    shared = both @ pairs
    log_partition, present = np.empty(n), np.empty((n, L))
    together = np.empty((n, len(edges))) if joint else None
    for block in _blocks(n, len(sets)):
        scores = odds[block] @ sets.T
        scores += shared
        top = scores.max(axis=1, keepdims=True)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        log_partition[block] = (top + np.log(total))[:, 0]
        present[block] = (scores @ sets) / total
        if together is not None:
            together[block] = (scores @ both) / total
    nodes = np.stack([1.0 - present, present], axis=2).reshape(n * L, 2)
    if together is None:
        return GraphMarginals(log_partition, nodes, None)
    first, second = present[:, edges[:, 0]], present[:, edges[:, 1]]
    cells = [1.0 - first - second + together, second - together, first - together, together]
    return GraphMarginals(log_partition, nodes, np.stack(cells, axis=2).reshape(-1, 2, 2))
