"""Leading eigenpairs of a large symmetric matrix that is known by its products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh_tridiagonal

__all__ = ["leading_pairs"]

FloatArray = npt.NDArray[np.float64]

#: Steps beyond twice the rank, which settle the last of the pairs.
_EXTRA = 32
#: A step shorter than this share of the largest ends in an invariant subspace.
_NOTHING_LEFT = 1e-10


def leading_pairs(
    product: Callable[[FloatArray], FloatArray], order: int, rank: int
) -> tuple[FloatArray, FloatArray]:
    """Largest eigenvalues, (r,), and eigenvectors, (order, r), with r <= rank.

    Lanczos iterations without restarts, every vector held orthogonal to all before (Golub &
    Van Loan 2013, 10.3): 2 rank + 32 products. The leading pairs come out exact to many digits, the
    last of them to few; fewer than `rank` come where the matrix has no more.

    Examples
    --------
    >>> matrix = np.diag([5.0, 3.0, 1.0, 0.0])
    >>> values, vectors = leading_pairs(lambda v: matrix @ v, 4, 2)
    >>> values.round(6), abs(vectors[:, 0]).round(6)
    (array([5., 3.]), array([1., 0., 0., 0.]))
    """
    steps = min(order, 2 * rank + _EXTRA)
    basis = np.empty((steps, order))
    diagonal, beside = np.empty(steps), np.empty(steps)
    # A start of its own, for the same result in every run.
    vector = np.random.RandomState(0).standard_normal(order)
    vector /= np.linalg.norm(vector)
    largest, done = 0.0, steps
    for step in range(steps):
        basis[step] = vector
        vector = product(vector)
        diagonal[step] = basis[step] @ vector
        seen = basis[: step + 1]
        for _ in range(2):  # once is not enough in finite precision
            vector = vector - (seen @ vector) @ seen
        beside[step] = np.linalg.norm(vector)
        largest = max(largest, abs(diagonal[step]), beside[step])
        if beside[step] <= _NOTHING_LEFT * largest:
            done = step + 1
            break
        vector /= beside[step]
    values, turns = eigh_tridiagonal(diagonal[:done], beside[: done - 1])
    kept = np.argsort(-values, kind="stable")[:rank]
    return np.asarray(values[kept], np.float64), basis[:done].T @ np.asarray(
        turns[:, kept], np.float64
    )
