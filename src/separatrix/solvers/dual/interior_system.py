"""Newton's equations of the interior-point method: one factorization, any number of directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

from separatrix._core import Dense, fixed_moves, gram, interior_moves, label_gram
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

    def scores(
        self, X: npt.NDArray[np.float64], w: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Scores of every label."""
        scores: npt.NDArray[np.float64] = X @ w
        return np.column_stack([np.zeros(len(scores)), scores]) if self.two else scores

    def adjoint(self, X: Array, residuals: Array) -> Array:
        """X' residuals, of the shape of the weights."""
        result: Array = X.T @ (residuals[:, 1:] if self.two else residuals)
        return result


class Direction(NamedTuple):
    """A move of the weights, the duals and the slacks.

    Attributes
    ----------
    w, alpha, mu : ndarray
        The moves, of the shapes of what they move.
    longest : float
        The largest step up to 1 that keeps duals and slacks non-negative.
    """

    w: npt.NDArray[np.float64]
    alpha: npt.NDArray[np.float64]
    mu: npt.NDArray[np.float64]
    longest: float


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
    excess : ndarray of shape (len(rows), K)
        xi - s - cost - mu, zero where the slacks are those of the weights.
    """

    def __init__(
        self,
        problem: Problem,
        rows: npt.NDArray[np.int64],
        alpha: npt.NDArray[np.float64],
        mu: npt.NDArray[np.float64],
        member: npt.NDArray[np.bool_],
        residual: Array,
        excess: npt.NDArray[np.float64],
    ) -> None:
        self._problem = problem
        self._rows = rows
        self._X = problem.X if len(rows) == len(problem.X) else problem.X[rows]
        self._state = alpha, mu, member, excess
        self._residual = residual
        self._everyone = bool(member.all())
        self.n_members = alpha.size if self._everyone else int(np.count_nonzero(member))
        with np.errstate(over="ignore", divide="ignore"):
            self._D = alpha / mu
        self._factor, self.failed = self._factorize()

    def among_members(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The values with zero for labels that take no part."""
        return values if self._everyone else values * self._state[2]

    def _factorize(self) -> tuple[Array, bool]:
        if not np.isfinite(self._D).all():
            return self._D, True
        matrix = self._matrix()
        size, columns = self._residual.shape
        kept = len(matrix) // size
        diagonal = np.einsum("ii->i", matrix)
        ridge = 1e-15 * (float(diagonal.mean()) or 1.0)
        # The last label keeps its weights, and the others are penalized for their distance from
        # the mean of all: the direction, shifted to mean zero, is the same.
        if kept < columns:
            blocks = np.einsum("kjlj->klj", matrix.reshape(kept, size, kept, size))
            blocks -= self._problem.penalty[:, 0] / columns
        diagonal.reshape(kept, size)[:] += self._problem.penalty[:, 0] + ridge
        # The transpose is the same matrix in the order of LAPACK.
        factor, failed = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        return factor, failed != 0

    def _matrix(self) -> npt.NDArray[np.float64]:
        """sum_i M_i (x) x_i x_i', label by label, without the last one.

        Labels far from the margin are left out while their share is negligible: the step stays
        feasible for any dw, and the next residual takes up the error.
        """
        D, problem = self._D, self._problem
        if problem.two:
            weights = D[:, 0] / (D[:, 0] + D[:, 1]) * D[:, 1]
            matrix = gram(problem.design, self._rows, weights, False, problem.n_threads)
            return np.asarray(matrix, dtype=np.float64)
        taken = D.copy()
        flat = taken.reshape(-1)
        chief = np.arange(0, D.size, D.shape[1]) + D.argmax(axis=1)
        flat[chief] = 0.0
        least = _LEFT_OUT / problem.squares[self._rows, None]
        if problem.penalty[-1] == 0:
            # Exempt intercepts have no penalty to compare with but the curvature of other rows.
            least = np.minimum(least, _LEFT_OUT * taken.max(axis=0))
        taken *= taken > least
        flat[chief] = D.reshape(-1)[chief]
        kept = taken.shape[1] - 1
        return label_gram(problem.design, self._rows, taken, kept, False, problem.n_threads)

    def _solve(self, rhs: Array) -> npt.NDArray[np.float64]:
        """The solution of the system, of mean zero over the labels."""
        size, columns = rhs.shape
        kept = len(self._factor) // size
        flat = rhs[:, :kept].T.reshape(-1)
        # LAPACK's solver is made for many right-hand sides and slower for one.
        half = blas.dtrsv(self._factor, flat, lower=1)
        solved = blas.dtrsv(self._factor, half, lower=1, trans=1, overwrite_x=1)
        if kept == columns:
            return np.asarray(solved, dtype=np.float64).reshape(size, columns)
        dw = np.zeros((size, columns))
        dw[:, :kept] = solved.reshape(kept, size).T
        dw -= dw.mean(axis=1, keepdims=True)
        return dw

    def direction(self, products: npt.NDArray[np.float64], *, refined: bool = False) -> Direction:
        """The Newton direction towards alpha mu = products.

        With `refined`, what rounding and the labels left out of the matrix leave of the residual
        is solved for once more.
        """
        problem = self._problem
        fixed, lifts = fixed_moves(self._state, products)
        dw = self._solve(-self._residual - problem.adjoint(self._X, fixed))
        ds = problem.scores(self._X, dw)
        dalpha, dmu, longest = interior_moves(self._state, fixed, lifts, ds)
        if refined:
            error = self._residual + problem.penalty * dw + problem.adjoint(self._X, dalpha)
            dw = dw + self._solve(-error)
            ds = problem.scores(self._X, dw)
            dalpha, dmu, longest = interior_moves(self._state, fixed, lifts, ds)
        return Direction(dw, dalpha, dmu, longest)
