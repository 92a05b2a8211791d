"""From the answers of the columns to scores of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import ParameterError
from separatrix.learners.reductions.code_matrix import CodeMatrix
from separatrix.losses import MARGIN_LOSSES

__all__ = [
    "DECODING_LOSSES",
    "hamming_distances",
    "loss_distances",
    "pair_scores",
    "tournament",
    "vote",
]

FloatArray = npt.NDArray[np.floating[Any]]

#: Losses of loss-based decoding.
DECODING_LOSSES = ("hinge", "squared_hinge", "logistic", "exponential", "squared")

#: Margins are cut here before exponentials: sums stay finite, and the order of classes too.
_LARGEST = 500.0


#: Share of entries up to which a code counts as sparse.
_SPARSE = 0.1


def hamming_distances(margins: FloatArray, code: CodeMatrix) -> FloatArray:
    """Distances of shape (n, K) of the signs of the columns from the words; a 0 counts one half.

    Examples
    --------
    >>> code = CodeMatrix([[1, 1], [1, -1], [-1, 1]])
    >>> hamming_distances(np.array([[0.3, -2.0]]), code)
    array([[1., 0., 2.]])
    """
    signs = np.where(margins > 0, 1.0, -1.0)
    return np.asarray((code.n_columns - _sums(signs, code)) / 2)


def loss_distances(margins: FloatArray, code: CodeMatrix, loss: str) -> FloatArray:
    """Sums over the columns of the loss of M_kl f_l, of shape (n, K) (Allwein et al. 2000).

    Examples
    --------
    >>> code = CodeMatrix([[1, 1], [1, -1], [-1, 1]])
    >>> loss_distances(np.array([[0.5, -1.5]]), code, "hinge")
    array([[3. , 0.5, 4. ]])
    """
    if loss not in DECODING_LOSSES:
        raise ParameterError(f"loss must be 'auto' or one of {DECODING_LOSSES}, got {loss!r}")
    phi: Any = MARGIN_LOSSES[loss]
    f = np.clip(margins, -_LARGEST, _LARGEST) if loss == "exponential" else margins
    M = code.values
    plus, minus = (M == 1).astype(f.dtype), (M == -1).astype(f.dtype)
    left_out = (M == 0).sum(axis=1) * float(phi.value(np.zeros(1))[0])
    return np.asarray(phi.value(f) @ plus.T + phi.value(-f) @ minus.T + left_out)


def _sums(values: FloatArray, code: CodeMatrix) -> FloatArray:
    """sum_l M_kl v_l, of shape (n, K); codes with few entries as sparse matrices."""
    M = code.values.astype(values.dtype)
    if np.count_nonzero(M) > _SPARSE * M.size:
        return np.asarray(values @ M.T)
    return np.ascontiguousarray((sp.csr_array(M) @ values.T).T)


def pair_scores(margins: FloatArray, code: CodeMatrix) -> FloatArray:
    """Sum of the margins for each class less those against it, of shape (n, K)."""
    return _sums(margins, code)


def vote(margins: FloatArray, code: CodeMatrix) -> FloatArray:
    """Columns won by each class, of shape (n, K); ties go to the larger sum of margins.

    The sums are drawn into (-1/3, 1/3), as in scikit-learn's OneVsOneClassifier, so that they
    decide nothing else.
    """
    signs = np.where(margins > 0, 1.0, -1.0)
    n_columns_of = np.abs(code.values).sum(axis=1)
    wins = (_sums(signs, code) + n_columns_of) / 2
    sums = pair_scores(margins, code)
    return np.asarray(wins + sums / (3 * (np.abs(sums) + 1)))


def tournament(margins: FloatArray, n_classes: int) -> FloatArray:
    """Rounds of a knock-out that each class survives, of shape (n, K); the champion has the most.

    Classes meet in the order of their labels; of an odd number the last one goes on by itself.
    Margins are those of all pairs, in the order of `codes.all_pairs`.
    """
    n = len(margins)
    column_of = np.zeros((n_classes, n_classes), dtype=np.intp)
    column_of[np.triu_indices(n_classes, 1)] = np.arange(n_classes * (n_classes - 1) // 2)
    rows = np.arange(n)[:, None]
    survived = np.zeros((n, n_classes))
    left = np.tile(np.arange(n_classes), (n, 1))
    while left.shape[1] > 1:
        even = left.shape[1] // 2 * 2
        # Earlier classes stand on the left throughout: winners keep their order.
        first, second = left[:, 0:even:2], left[:, 1:even:2]
        winners = np.where(margins[rows, column_of[first, second]] > 0, first, second)
        left = np.hstack([winners, left[:, even:]])
        survived[rows, left] += 1
    return survived
