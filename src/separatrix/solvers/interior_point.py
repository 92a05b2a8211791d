"""Interior-point method for the hinge losses on small dense data: few steps, high accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.preconditioner import dense_values

__all__ = ["InteriorPoint"]

#: Rows are left out of the system while their curvatures add up to this; the penalty has 1.
_LEFT_OUT = 0.05


@dataclass(frozen=True)
class InteriorPoint:
    r"""Primal-dual interior-point method for the hinge, two classes or many, any cost matrix.

    The generalized hinge is a linear program in every row,

    .. math:: \min_{w, \xi} \tfrac12 |w|^2 + \sum_i U_i (\xi_i - s_{i y_i})
              \quad\text{with}\quad \mu_{ik} = \xi_i - s_{ik} - \Delta_{ik} \ge 0,

    with duals :math:`\alpha_{ik} \ge 0` that sum to :math:`U_i = C c_i` over k. Newton's method on
    the optimality conditions with :math:`\alpha_{ik} \mu_{ik} = \tau`, predictor and corrector as
    in Mehrotra (1992), needs one symmetric system in w a step: I + sum_i x_i x_i' (x) M_i with
    :math:`M_i = \mathrm{diag}(D_i) - D_i D_i' / \sum D_i`, :math:`D = \alpha / \mu`. Two classes
    are the case in which the first class keeps the score zero.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> from separatrix.regularizers import L2
    >>> from separatrix.scores import FlatScores, make_design
    >>> X = np.array([[2.0], [1.0], [-1.0], [-3.0]])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    >>> objective = Objective(scores, Hinge(), L2(), np.array([1, 1, -1, -1]), C=10.0)
    >>> solution = InteriorPoint().minimize(objective, None, Monitor(tol=1e-9, max_passes=100))
    >>> solution.w.round(6)
    array([[1.]])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"dual", "dense", "hinge"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize until `monitor` says stop; starts in the middle, `w0` is ignored."""
        check_needs(self, objective)
        state = _State(objective)
        best = _Best(state.w, np.inf, np.inf, state.alpha, state.mu)
        n_passes, stopped = 0.0, None
        try:
            with blas_threads(1):
                while stopped is None:
                    value, gap = state.certificate()
                    n_passes += 1
                    if gap < best.gap:
                        best = _Best(state.w, value, gap, state.alpha, state.mu)
                    stopped = monitor.record(n_passes, value, gap, lambda: state.w)
                    if stopped is None and not state.step():
                        stopped = StopReason.BUDGET  # no further progress in floating point
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        return Solution(
            w=best.w,
            n_passes=n_passes,
            gap=best.gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=best.value,
            certificate="duality gap",
            solver="interior point",
            dual=state.duals(best.alpha, best.mu),
        )


@dataclass(frozen=True, eq=False)
class _Best:
    """The iterate of the smallest gap."""

    w: Array
    value: float
    gap: float
    alpha: Array
    mu: Array


class _State:
    """Iterate (w, xi, alpha, mu), strictly inside the feasible set, for rows of positive weight."""

    def __init__(self, objective: Objective) -> None:
        values = dense_values(objective)
        assert values is not None
        self.objective = objective
        upper = objective.row_weights
        self.kept = np.flatnonzero(upper > 0)
        self.upper = upper[self.kept]
        rows, columns = objective.weight_shape
        self.X = np.ones((len(self.kept), rows))
        self.X[:, : values.shape[1]] = values[self.kept]
        self.norms = np.einsum("ij,ij->i", self.X, self.X)
        self.two = columns == 1
        self.gold, self.cost = self._targets_and_costs(columns)
        self.penalty = np.ones((rows, 1))
        if objective.exempt:
            self.penalty[-1] = 0
        n_labels = self.cost.shape[1]
        self.w = np.zeros((rows, columns))
        self.alpha = np.repeat(self.upper[:, None] / n_labels, n_labels, axis=1)
        self.mu = 1 + self.cost.max(axis=1, keepdims=True) - self.cost
        self.stuck = 0

    def _targets_and_costs(self, columns: int) -> tuple[npt.NDArray[np.intp], Array]:
        targets = self.objective.targets[self.kept]
        if self.two:
            gold = (targets > 0).astype(np.intp)
            return gold, 1.0 - np.eye(2)[gold]
        gold = targets.astype(np.intp)
        max_op: Any = self.objective.loss.max_op  # type: ignore[attr-defined]
        table = 1.0 - np.eye(columns) if max_op.cost is None else max_op.cost
        return gold, table[gold]

    def _scores(self, w: Array) -> Array:
        """Scores of every label; the first of two labels keeps zero."""
        scores = self.X @ w
        return np.column_stack([np.zeros(len(scores)), scores]) if self.two else scores

    def _adjoint(self, residuals: Array) -> Array:
        return self.X.T @ (residuals[:, 1:] if self.two else residuals)

    def _signed(self, alpha: Array) -> Array:
        """U_i [y_i = k] - alpha_ik, the share of row i in w_k."""
        shares = -alpha
        shares[np.arange(len(shares)), self.gold] += self.upper
        return shares

    def certificate(self) -> tuple[float, float]:
        """P(w) and the duality gap; see `DualCoordinateDescent` for free intercepts."""
        scores = self._scores(self.w)
        own = scores[np.arange(len(scores)), self.gold]
        losses = (scores + self.cost).max(axis=1) - own
        penalized = self.w * self.penalty
        value = 0.5 * float(np.vdot(penalized, self.w)) + float(self.upper @ losses)
        by_duals = self._adjoint(self._signed(self.alpha))
        dual = float(np.vdot(self.alpha, self.cost))
        dual -= 0.5 * float(np.vdot(by_duals * self.penalty, by_duals))
        gap = value - dual
        if self.objective.exempt:
            b, excess = self.w[-1], by_duals[-1]
            gap += float(b @ excess + np.abs(excess) @ (1 + np.abs(b)))
        return value, max(gap, 0.0)

    def step(self) -> bool:
        """Predictor, corrector, move; False when no progress is possible any more."""
        D = self.alpha / self.mu
        total = D.sum(axis=1, keepdims=True)
        solve = self._factor(D, total)
        if solve is None:
            return False
        residual = self.penalty * self.w - self._adjoint(self._signed(self.alpha))
        n = self.alpha.size
        # Near the end one D of a row exceeds the others by many orders of magnitude: scores are
        # taken relative to its label, and its own alpha from the sum of the others.
        rows, chief = np.arange(len(D)), D.argmax(axis=1)

        def balanced(moves: Array) -> Array:
            moves[rows, chief] = 0
            moves[rows, chief] = -moves.sum(axis=1)
            return moves

        now = float(np.vdot(self.alpha, self.mu)) / n

        def direction(products: Array) -> tuple[Array, Array, Array]:
            """Newton direction (w, alpha, mu) towards alpha mu = products."""
            a = products / self.mu - self.alpha
            mean = a.sum(axis=1, keepdims=True) / total
            fixed = balanced(a - D * mean)
            dw = solve(-residual - self._adjoint(fixed))
            ds = self._scores(dw)
            ds -= ds[rows, chief][:, None]
            shift = (D * ds).sum(axis=1, keepdims=True) / total
            dalpha = balanced(fixed + D * (ds - shift))
            return dw, dalpha, mean + shift - ds

        _, dalpha, dmu = direction(np.zeros_like(self.alpha))
        t = self._longest(dalpha, dmu)
        after = float(np.vdot(self.alpha + t * dalpha, self.mu + t * dmu)) / n
        products = np.maximum(now * (after / now) ** 3 - dalpha * dmu, -0.5 * self.alpha * self.mu)
        dw, dalpha, dmu = direction(products)
        if not np.isfinite(dw).all():
            return False
        t = min(1.0, 0.995 * self._longest(dalpha, dmu))
        self.w = self.w + t * dw
        self.alpha = self.alpha + t * dalpha
        self.alpha *= (self.upper / self.alpha.sum(axis=1))[:, None]
        self.mu = self.mu + t * dmu
        self.stuck = self.stuck + 1 if t < 1e-3 else 0
        return self.stuck < 5

    def _longest(self, dalpha: Array, dmu: Array) -> float:
        """Largest step up to 1 that keeps alpha and mu non-negative."""
        t = 1.0
        for at, by in ((self.alpha, dalpha), (self.mu, dmu)):
            falling = by < 0
            if falling.any():
                t = min(t, float((at[falling] / -by[falling]).min()))
        return t

    def _factor(self, D: Array, total: Array) -> Any:
        """The inverse of diag(penalty) + sum_i x_i x_i' (x) M_i as a map, or None."""
        rows, columns = self.w.shape
        matrix = self._normal_matrix(D, total)
        diagonal = np.einsum("ii->i", matrix)
        scale = float(diagonal.mean()) or 1.0
        if columns > 1 and self.objective.exempt:
            # All intercepts may move together; stiffness there does not change the solution.
            matrix[-columns:, -columns:] += scale / columns
        diagonal += np.repeat(self.penalty[:, 0], columns)
        diagonal += 1e-15 * scale
        factor, failed = lapack.dpotrf(matrix, lower=1)
        if failed:
            return None

        def solve(rhs: Array) -> Array:
            x, _ = lapack.dpotrs(factor, rhs.reshape(-1), lower=1)
            return np.asarray(x).reshape(rows, columns)

        return solve

    def _normal_matrix(self, D: Array, total: Array) -> Array:
        """sum_i x_i x_i' (x) M_i, of shape (d K, d K) in the order of w.ravel().

        Rows far from the margin are left out while their share is negligible: the step stays
        feasible for any dw, and the next residual takes up the error.
        """
        rows, columns = self.w.shape
        others = _sums_of_others(D)
        curvature = (D * others / total).sum(axis=1) * self.norms
        order = np.argsort(curvature)
        first = int(np.searchsorted(np.cumsum(curvature[order]), _LEFT_OUT))
        taken = np.sort(order[first:])
        X, D, total, others = self.X[taken], D[taken], total[taken], others[taken]
        if self.two:
            part = X * np.sqrt(D[:, :1] * D[:, 1:] / total)
            return part.T @ part
        outer = (X[:, :, None] * (D / np.sqrt(total))[:, None, :]).reshape(len(D), -1)
        matrix = -(outer.T @ outer)
        blocks = matrix.reshape(rows, columns, rows, columns)
        for k in range(columns):
            part = X * np.sqrt(D[:, k] * others[:, k] / total[:, 0])[:, None]
            blocks[:, k, :, k] = part.T @ part
        return matrix

    def duals(self, alpha: Array, mu: Array) -> Array:
        """Duals of all rows: (n,) for two classes, (n, K) for more.

        At the optimum one of alpha and mu is zero; alpha counts as zero where its effect on the
        score of its own row, alpha |x|^2, is below mu.
        """
        alpha = np.where(alpha * self.norms[:, None] > mu, alpha, 0.0)
        n = self.objective.score_map.n_rows
        if self.two:
            full = np.zeros(n)
            full[self.kept] = alpha[np.arange(len(alpha)), 1 - self.gold]
            return full
        result = np.zeros((n, alpha.shape[1]))
        result[self.kept] = alpha
        return result


def _sums_of_others(D: Array) -> Array:
    """For every entry the sum of the other entries of its row, without cancellation."""
    rows, chief = np.arange(len(D)), D.argmax(axis=1)
    rest = D.copy()
    rest[rows, chief] = 0
    result: Array = (
        D.sum(axis=1, keepdims=True) - D
    )  # small entries beside the largest: exact enough
    result[rows, chief] = rest.sum(axis=1)
    return result
