"""Class probabilities from the probabilities of the columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from separatrix.learners.reductions.code_matrix import CodeMatrix

__all__ = ["couple", "couple_pairs"]

FloatArray = npt.NDArray[np.float64]

#: Probabilities of the columns are kept away from 0 and 1, as in LIBSVM.
_LEAST = 1e-7
#: Entries of a block of linear systems.
_BLOCK = 1 << 22


def couple(
    proba: npt.ArrayLike,
    code: CodeMatrix,
    n_rows: npt.ArrayLike | None = None,
    *,
    tol: float = 1e-8,
    max_iter: int = 2000,
) -> FloatArray:
    r"""Probabilities p of the classes whose sums over the columns come closest to the given ones.

    Minimizes :math:`\sum_l n_l \, \mathrm{KL}(r_l \,\|\, q_l)` where :math:`q_l` is the
    probability of the classes with +1 given those with +1 or -1. For all pairs that is Hastie &
    Tibshirani (1998), for any code Huang, Weng & Lin (2006), whose multiplicative steps never
    raise the sum.

    Parameters
    ----------
    proba : array-like of shape (n, L)
        r, probability of +1 in every column.
    code : CodeMatrix
        The code, K x L.
    n_rows : array-like of shape (L,), optional
        Weights of the columns, such as the rows they were trained on.
    tol : float
        Stop when no probability moves by more.
    max_iter : int
        Most steps.

    Returns
    -------
    ndarray of shape (n, K)
        Probabilities.

    Examples
    --------
    >>> from separatrix.learners.reductions.codes import all_pairs
    >>> couple([[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5]], all_pairs(3)).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    r = np.clip(np.asarray(proba, dtype=np.float64), _LEAST, 1 - _LEAST)
    weights = np.ones(code.n_columns) if n_rows is None else np.asarray(n_rows, dtype=np.float64)
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    weights = weights / weights.sum()
    plus, minus = (code.values == 1).astype(float), (code.values == -1).astype(float)
    both = plus + minus
    p = np.full((len(r), code.n_classes), 1 / code.n_classes)
    moving = np.arange(len(r))
    for _ in range(max_iter):
        now, share = p[moving], r[moving]
        above, below = now @ plus, now @ minus
        pull = (weights * share / above) @ plus.T + (weights * (1 - share) / below) @ minus.T
        step = now * pull / ((weights / (above + below)) @ both.T)
        step /= step.sum(axis=1, keepdims=True)
        p[moving] = np.maximum(step, np.finfo(np.float64).tiny)
        moving = moving[np.abs(step - now).max(axis=1) > tol]
        if len(moving) == 0:
            break
    return p


def couple_pairs(proba: npt.ArrayLike, n_classes: int) -> FloatArray:
    r"""Probabilities from all pairs by the second method of Wu, Lin & Weng (2004).

    Minimizes :math:`\sum_{i \ne j} (r_{ji} p_i - r_{ij} p_j)^2` over the probabilities p: a
    linear system for every row.

    Parameters
    ----------
    proba : array-like of shape (n, K (K - 1) / 2)
        Probability of class i given i or j > i, in the order of `codes.all_pairs`.
    n_classes : int
        K.

    Returns
    -------
    ndarray of shape (n, K)
        Probabilities.

    Examples
    --------
    >>> couple_pairs([[0.5 / 0.8, 0.5 / 0.7, 0.3 / 0.5]], 3).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    given = np.clip(np.asarray(proba, dtype=np.float64), _LEAST, 1 - _LEAST)
    k = n_classes
    first, second = np.triu_indices(k, 1)
    answer = np.empty((len(given), k))
    block = max(1, _BLOCK // (k + 1) ** 2)
    target = np.zeros((k + 1, 1))
    target[k] = 1
    for begin in range(0, len(given), block):
        part = given[begin : begin + block]
        r = np.zeros((len(part), k, k))
        r[:, first, second], r[:, second, first] = part, 1 - part
        system = np.ones((len(part), k + 1, k + 1))
        system[:, :k, :k] = -r.transpose(0, 2, 1) * r
        diagonal = np.arange(k)
        system[:, diagonal, diagonal] = np.square(r).sum(axis=1)
        system[:, k, k] = 0
        p = np.linalg.solve(system, np.broadcast_to(target, (len(part), k + 1, 1)))[:, :k, 0]
        p = np.maximum(p, 0)
        answer[begin : begin + block] = p / p.sum(axis=1, keepdims=True)
    return answer
