"""Newton's equations of the interior-point method: one factorization, any number of directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from separatrix._core import Dense, gram, label_gram
from separatrix.protocols import Array

__all__ = ["Direction", "NewtonSystem", "Problem"]

#: A pair of labels is left out of the matrix while its curvature is this share of the penalty's.
_LEFT_OUT = 1e-3


class Problem(NamedTuple):
    """The data of a run, rows of positive weight only.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows, with a column of ones where there are intercepts, in double precision.
    design : Dense
        Handle on X.
    squares : ndarray of shape (n,)
        |x_i|^2.
    penalty : ndarray of shape (d, 1)
        1 for penalized weights, 0 for exempt intercepts.
    two : bool
        Whether there is one score for two labels, the first of which keeps the score zero.
    n_threads : int
        Threads to use.
    """

    X: npt.NDArray[np.float64]
    design: Dense
    squares: npt.NDArray[np.float64]
    penalty: npt.NDArray[np.float64]
    two: bool
    n_threads: int

    def scores(self, X: Array, w: Array) -> Array:
        """Scores of every label."""
        scores: Array = X @ w
        return np.column_stack([np.zeros(len(scores)), scores]) if self.two else scores

    def adjoint(self, X: Array, residuals: Array) -> Array:
        """X' residuals, of the shape of the weights."""
        result: Array = X.T @ (residuals[:, 1:] if self.two else residuals)
        return result


class Direction(NamedTuple):
    """A move of the weights, the duals and the slacks."""

    w: Array
    alpha: Array
    mu: Array


class NewtonSystem:
    """The linearized optimality conditions at (w, alpha, mu), for some rows of a problem.

    Eliminating all but w leaves (diag(penalty) + sum_i x_i x_i' (x) M_i) dw = rhs with
    M_i = diag(D_i) - D_i D_i' / sum D_i, D = alpha / mu.

    Parameters
    ----------
    problem : Problem
        The data.
    rows : ndarray of int
        Rows with more than one label to choose from; the others have nothing to solve for.
    alpha, mu : ndarray of shape (len(rows), K)
        Duals and slacks, positive for members.
    member : ndarray of bool of shape (len(rows), K)
        The labels a row may choose from; elsewhere alpha is 0 and mu is 1.
    residual : ndarray of shape (d, K)
        penalty w - sum_i (U_i e_y - alpha_i) x_i.
    """

    def __init__(
        self,
        problem: Problem,
        rows: npt.NDArray[np.int64],
        alpha: Array,
        mu: Array,
        member: npt.NDArray[np.bool_],
        residual: Array,
    ) -> None:
        self._problem = problem
        self._rows = rows
        self._X = problem.X if len(rows) == len(problem.X) else problem.X[rows]
        self.alpha, self.mu, self.member = alpha, mu, member
        self._residual = residual
        with np.errstate(over="ignore", divide="ignore"):
            self._D: Array = alpha / mu
        self._total = self._D.sum(axis=1, keepdims=True)
        # Near the end one D of a row exceeds the others by many orders of magnitude: scores are
        # taken relative to its label, and its own alpha from the sum of the others. Positions are
        # those in the flattened arrays.
        labels = alpha.shape[1]
        self._chief = np.arange(0, alpha.size, labels) + self._D.argmax(axis=1)
        self._factor, self.failed = self._factorize()

    @property
    def n_members(self) -> int:
        """Number of pairs of a row and a label."""
        return int(np.count_nonzero(self.member))

    def _factorize(self) -> tuple[Array, bool]:
        if not np.isfinite(self._total).all():
            return self._D, True
        matrix = self._matrix()
        size, columns = self._residual.shape
        diagonal = np.einsum("ii->i", matrix)
        scale = float(diagonal.mean()) or 1.0
        if columns > 1 and self._problem.penalty[-1] == 0:
            # All intercepts may move together; stiffness there does not change the solution.
            matrix.reshape(columns, size, columns, size)[:, -1, :, -1] += scale / columns
        diagonal += np.tile(self._problem.penalty[:, 0], columns)
        diagonal += 1e-15 * scale
        # The transpose is the same matrix in the order of LAPACK.
        factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        return factor, failed != 0

    def _matrix(self) -> npt.NDArray[np.float64]:
        """sum_i M_i (x) x_i x_i', label by label.

        Labels far from the margin are left out while their share is negligible: the step stays
        feasible for any dw, and the next residual takes up the error.
        """
        D, problem = self._D, self._problem
        if problem.two:
            weights = D[:, 0] / self._total[:, 0] * D[:, 1]
            return gram(problem.design, self._rows, weights, False, problem.n_threads)
        chief = D.reshape(-1)[self._chief]
        taken = D.copy()
        taken.reshape(-1)[self._chief] = 0.0
        least = _LEFT_OUT / problem.squares[self._rows, None]
        if problem.penalty[-1] == 0:
            # Exempt intercepts have no penalty to compare with but the curvature of other rows.
            least = np.minimum(least, _LEFT_OUT * taken.max(axis=0))
        taken *= taken > least
        taken.reshape(-1)[self._chief] = chief
        return label_gram(problem.design, self._rows, taken, False, problem.n_threads)

    def _balanced(self, moves: Array) -> Array:
        """The moves with those of the chief labels replaced, so that every row sums to zero."""
        flat = moves.reshape(-1)
        flat[self._chief] = 0
        flat[self._chief] = -moves.sum(axis=1)
        return moves

    def direction(self, products: Array) -> Direction:
        """The Newton direction towards alpha mu = products."""
        D, total, problem = self._D, self._total, self._problem
        a = products / self.mu - self.alpha
        mean = a.sum(axis=1, keepdims=True) / total
        fixed = self._balanced(a - D * mean)
        rhs = -self._residual - problem.adjoint(self._X, fixed)
        solved, _ = lapack.dpotrs(self._factor, rhs.T.reshape(-1), lower=1)
        dw = np.asarray(solved).reshape(rhs.shape[::-1]).T
        ds = problem.scores(self._X, dw)
        ds -= ds.reshape(-1)[self._chief][:, None]
        shift = (D * ds).sum(axis=1, keepdims=True) / total
        ds -= shift
        dalpha = self._balanced(fixed + D * ds)
        return Direction(dw, dalpha, (mean - ds) * self.member)

    def longest(self, direction: Direction) -> float:
        """The largest step up to 1 that keeps alpha and mu non-negative."""
        # The sum of a row's alphas does not move, and outside of the members nothing does.
        with np.errstate(divide="ignore", invalid="ignore"):
            falls = max(
                float(np.nanmax(-direction.alpha / self.alpha, initial=0.0)),
                float(np.nanmax(-direction.mu / self.mu, initial=0.0)),
            )
        return 1.0 if falls <= 1.0 else 1.0 / falls
