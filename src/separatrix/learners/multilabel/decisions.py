"""Which set of labels to predict, given their joint distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["best_f1_sets", "drawn_f1_tables", "f1_tables"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def f1_tables(proba: Floats, sets: Integers) -> tuple[Floats, Floats]:
    """What the expected F1 of a prediction is made of, from probabilities of sets.

    Parameters
    ----------
    proba : array of shape (n, M)
        Probability of every set; rows sum to one.
    sets : array of shape (M, L)
        The sets.

    Returns
    -------
    gains : array of shape (n, L, L)
        gains[i, l, k - 1] = E[2 y_l / (|y| + k)]: what label l adds to the expected F1 of a
        predicted set of k labels.
    empty : array of shape (n,)
        Probability of the empty set.
    """
    L = sets.shape[1]
    sizes = sets.sum(axis=1)
    by_size = 2.0 / (np.arange(L + 1)[:, None] + np.arange(1, L + 1))
    # p(y_l = 1, |y| = s), one size after the other, so that no array has more than n L^2 cells.
    gains = np.zeros((len(proba), L, L))
    for size in range(1, L + 1):
        chosen = sizes == size
        present = proba[:, chosen] @ sets[chosen]
        gains += present[:, :, None] * by_size[size]
    return gains, proba[:, sizes == 0].sum(axis=1)


def drawn_f1_tables(draws: Integers) -> tuple[Floats, Floats]:
    """The same as `f1_tables` from draws of sets, shape (n_draws, n, L)."""
    n_draws, _, L = draws.shape
    sizes = draws.sum(axis=2)
    by_size = 2.0 / (sizes.T[:, :, None] + np.arange(1, L + 1))
    present = draws.transpose(1, 2, 0).astype(np.float64)
    return present @ by_size / n_draws, (sizes == 0).mean(axis=0)


def best_f1_sets(gains: Floats, empty: Floats) -> Integers:
    """The sets of the highest expected F1, shape (n, L); F1 of two empty sets is one.

    For every size k the best set has the k labels of the largest gains, so that the best of all is
    found exactly (Dembczynski, Waegeman, Cheng and Huellermeier 2011).

    Examples
    --------
    >>> from separatrix.structures.label_set.complete import all_sets
    >>> sets = all_sets(2)
    >>> gains, empty = f1_tables(np.array([[0.4, 0.3, 0.0, 0.3]]), sets)
    >>> best_f1_sets(gains, empty).tolist()  # 0.5; the most probable set, {}, has 0.4
    [[1, 0]]
    """
    n, L, _ = gains.shape
    order = np.argsort(-gains, axis=1, kind="stable")
    totals = np.empty((n, L + 1))
    totals[:, 0] = empty
    sorted_gains = np.take_along_axis(gains, order, axis=1)
    for k in range(1, L + 1):
        totals[:, k] = sorted_gains[:, :k, k - 1].sum(axis=1)
    best = totals.argmax(axis=1)
    chosen = np.zeros((n, L), dtype=np.int64)
    for k in range(1, L + 1):
        rows = np.flatnonzero(best == k)
        chosen[rows[:, None], order[rows, :k, k - 1]] = 1
    return chosen
