"""Newton's equations of the interior-point method: one factorization, any number of directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

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
    excess : ndarray of shape (len(rows), K)
        xi - s - cost - mu, zero where the slacks are those of the weights.
    """

    def __init__(
        self,
        problem: Problem,
        rows: npt.NDArray[np.int64],
        alpha: Array,
        mu: Array,
        member: npt.NDArray[np.bool_],
        residual: Array,
        excess: Array,
    ) -> None:
        self._problem = problem
        self._rows = rows
        self._X = problem.X if len(rows) == len(problem.X) else problem.X[rows]
        self.alpha, self.mu = alpha, mu
        self.member = None if member.all() else member
        self.n_members = alpha.size if self.member is None else int(np.count_nonzero(member))
        self._residual = residual
        self._excess = excess if excess.any() else None
        with np.errstate(over="ignore", divide="ignore"):
            # Zero for labels that take no part, whose mu is 1 and whose alpha is 0.
            self._per_alpha = 1 / alpha if self.member is None else member / np.where(member, alpha, 1)
            self._per_mu = 1 / mu if self.member is None else member / mu
            self._D: Array = alpha * self._per_mu
        # Sums over the labels of a row: a product is several times faster than a reduction.
        self._ones = np.ones(alpha.shape[1])
        self._total = self._D @ self._ones
        self._shares = self._D / self._total[:, None]
        # Near the end one D of a row exceeds the others by many orders of magnitude: scores are
        # taken relative to its label, and its own alpha from the sum of the others. Positions are
        # those in the flattened arrays.
        self._chief = np.arange(0, alpha.size, alpha.shape[1]) + self._D.argmax(axis=1)
        self._factor, self.failed = self._factorize()

    def among_members(self, values: Array) -> Array:
        """The values with zero for labels that take no part."""
        return values if self.member is None else values * self.member

    def _factorize(self) -> tuple[Array, bool]:
        if not np.isfinite(self._total).all():
            return self._D, True
        matrix = self._matrix()
        size, columns = self._residual.shape
        kept = len(matrix) // size
        diagonal = np.einsum("ii->i", matrix)
        ridge = 1e-15 * (float(diagonal.mean()) or 1.0)
        # The last label keeps its weights, and the others are penalized for their distance from
        # the mean of all: the direction, shifted to mean zero, is the same.
        metric = np.eye(kept) - (1 / columns if kept < columns else 0)
        blocks = np.einsum("kjlj->klj", matrix.reshape(kept, size, kept, size))
        blocks += metric[:, :, None] * self._problem.penalty[:, 0]
        diagonal += ridge
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
            weights = self._shares[:, 0] * D[:, 1]
            return gram(problem.design, self._rows, weights, False, problem.n_threads)
        taken = D.copy()
        flat = taken.reshape(-1)
        flat[self._chief] = 0.0
        least = _LEFT_OUT / problem.squares[self._rows, None]
        if problem.penalty[-1] == 0:
            # Exempt intercepts have no penalty to compare with but the curvature of other rows.
            least = np.minimum(least, _LEFT_OUT * taken.max(axis=0))
        taken *= taken > least
        flat[self._chief] = D.reshape(-1)[self._chief]
        kept = taken.shape[1] - 1
        return label_gram(problem.design, self._rows, taken, kept, False, problem.n_threads)

    def _solve(self, rhs: Array) -> Array:
        """The solution of the system, of mean zero over the labels."""
        size, columns = rhs.shape
        kept = len(self._factor) // size
        flat = rhs[:, :kept].T.reshape(-1)
        # LAPACK's solver is made for many right-hand sides and slower for one.
        half = blas.dtrsv(self._factor, flat, lower=1)
        solved = blas.dtrsv(self._factor, half, lower=1, trans=1, overwrite_x=1)
        if kept == columns:
            return np.asarray(solved).reshape(size, columns)
        dw = np.zeros((size, columns))
        dw[:, :kept] = solved.reshape(kept, size).T
        dw -= (dw @ self._ones)[:, None] / columns
        return dw

    def _balanced(self, moves: Array) -> Array:
        """The moves with those of the chief labels replaced, so that every row sums to zero."""
        flat = moves.reshape(-1)
        flat[self._chief] = 0
        flat[self._chief] = -(moves @ self._ones)
        return moves

    def direction(self, products: Array) -> Direction:
        """The Newton direction towards alpha mu = products."""
        D, problem = self._D, self._problem
        a = products * self._per_mu - self.alpha
        if self._excess is not None:
            a -= D * self._excess
        total = a @ self._ones
        fixed = self._balanced(a - self._shares * total[:, None])
        dw = self._solve(-self._residual - problem.adjoint(self._X, fixed))
        ds = problem.scores(self._X, dw)
        ds -= ds.reshape(-1)[self._chief][:, None]
        ds -= ((self._shares * ds) @ self._ones)[:, None]
        dalpha = self._balanced(fixed + D * ds)
        dmu = (total / self._total)[:, None] - ds
        if self._excess is not None:
            dmu += self._excess
        return Direction(dw, dalpha, self.among_members(dmu))

    def longest(self, direction: Direction) -> float:
        """The largest step up to 1 that keeps alpha and mu non-negative."""
        falls = -min(
            float((direction.alpha * self._per_alpha).min()),
            float((direction.mu * self._per_mu).min()),
        )
        return 1.0 if falls <= 1.0 else 1.0 / falls
