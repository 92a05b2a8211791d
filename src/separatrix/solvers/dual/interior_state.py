"""The iterate of the interior-point method: where it begins, who takes part, how it moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Dense
from separatrix.losses import Logistic, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.protocols import Array, Loss
from separatrix.results import Monitor, StopReason
from separatrix.solvers.dual.interior_system import NewtonSystem, Problem
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.primal.preconditioner import dense_values

__all__ = ["InteriorState"]

#: Scores n K from which a smooth problem is solved first, to begin near the solution.
_MANY_SCORES = 2000
#: C c |x|^2 on the average from which the smooth problem is solved with a smaller C.
_STRONG = 100.0
#: How many times smaller it may be; beyond, to begin at w = 0 is better.
_TOO_STRONG = 100.0
#: Relative gap and passes of the smooth problem.
_ROUGH, _ROUGH_PASSES = 0.1, 30.0
#: Labels that come within so many costs of the margin take part from the start.
_NEAR = 2.0
#: Labels that come within this share of a cost of the margin are admitted later.
_ADMITTED = 0.3
#: Slack of a label when it is admitted, as a share of a cost.
_SLACK = 0.3
#: Where the path begins: the sum of alpha mu over all members, as a share of P(w).
_FIRST = 3.0
#: Gap relative to P(w) below which directions are refined.
_LATE = 1e-6
#: Correctors of a step at most, beyond Mehrotra's.
_CORRECTORS = 1


class InteriorState:
    """Iterate (w, xi, alpha, mu), strictly inside the feasible set, for rows of positive weight.

    `member` tells the labels that take part; a row with one of them has its whole weight there.
    """

    def __init__(self, objective: Objective) -> None:
        values = dense_values(objective)
        assert values is not None
        self.objective = objective
        upper = objective.row_weights
        self.kept = np.flatnonzero(upper > 0)
        self.upper = upper[self.kept]
        size, columns = objective.weight_shape
        X = np.ones((len(self.kept), size))
        X[:, : values.shape[1]] = values if len(X) == len(values) else values[self.kept]
        penalty = np.ones((size, 1))
        if objective.exempt:
            penalty[-1] = 0
        squares = np.einsum("ij,ij->i", X, X)
        n_threads = int(getattr(objective.score_map, "n_threads", 1))
        self.problem = Problem(X, Dense(X), squares, penalty, columns == 1, n_threads)
        self.gold, self.cost = self._targets_and_costs(columns)
        self.mean_cost = float(self.cost.mean()) * self.cost.shape[1] / (self.cost.shape[1] - 1)
        # Positions of the right labels in the flattened arrays.
        self.gold_at = np.arange(0, self.cost.size, self.cost.shape[1]) + self.gold
        self.w: npt.NDArray[np.float64] = np.zeros((size, columns))
        self.alpha: npt.NDArray[np.float64] = np.zeros(self.cost.shape)
        self.mu: npt.NDArray[np.float64] = np.ones(self.cost.shape)
        self.member = np.ones(self.cost.shape, dtype=np.bool_)
        # xi - reach - mu, zero but for labels that were admitted late.
        self.excess = np.zeros(self.cost.shape)
        self.hot = np.arange(len(X))
        self.stuck = 0
        # Weight against the penalty: C c |x|^2 on the average.
        self.strength = float(self.upper.mean() * squares.mean())
        self.cap = 1.0

    def _targets_and_costs(
        self, columns: int
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        targets = self.objective.targets[self.kept]
        if self.problem.two:
            gold = (targets > 0).astype(np.intp)
            return gold, 1.0 - np.eye(2)[gold]
        gold = targets.astype(np.intp)
        max_op: Any = self.objective.loss.max_op  # type: ignore[attr-defined]
        table = 1.0 - np.eye(columns) if max_op.cost is None else max_op.cost
        return gold, table[gold]

    def begin(self, w0: Array | None, budget: float) -> float:
        """Center the iterate at `w0`, or near the solution; returns the passes that took.

        `budget` is the largest number of them.
        """
        n_passes = 0.0
        if self.strength <= _TOO_STRONG * _STRONG:
            if w0 is not None:
                self.w = np.array(w0, dtype=np.float64)
            elif self.cost.size >= _MANY_SCORES and self.mean_cost > 0 < self.strength:
                n_passes = self._rough(min(_ROUGH_PASSES, budget))
        if not self.problem.two:
            # Only differences of scores decide; of all shifts this one has the least penalty.
            self.w -= self.w.mean(axis=1, keepdims=True)
        self._score()
        if self.w.any():
            # Where the classes overlap, the duals of many rows do reach their bounds.
            overlap = float(self._losses().mean()) > 0.5 * self.mean_cost
            self.cap = 1.0 if overlap else min(1.0, _STRONG / self.strength)
            gold = self.reach.reshape(-1)[self.gold_at][:, None]
            self.member = self.reach >= gold - _NEAR * self.mean_cost
            self.member.reshape(-1)[self.gold_at] = True
        self._center(self._first())
        return n_passes

    def begin_again(self) -> None:
        """Center the iterate at w = 0, with every label: slow, but far from every bound."""
        self.w = np.zeros_like(self.w)
        self.member = np.ones_like(self.member)
        self.excess = np.zeros_like(self.excess)
        self.cap, self.stuck = 1.0, 0
        self._score()
        self._center(self._first())

    def _first(self) -> float:
        """The product alpha mu at which the sum over all members is about P(w)."""
        members = np.count_nonzero(self.member)
        return _FIRST * (self._value() or float(self.upper.sum())) / members

    def _rough(self, budget: float) -> float:
        """Weights of the smooth problem whose temperature is the mean cost."""
        objective = self.objective
        loss: Loss = Logistic() if self.problem.two else multiclass_logistic()
        smooth = Objective(
            objective.score_map,
            loss,
            L2(),
            objective.targets,
            C=objective.C * min(1.0, _STRONG / self.strength) / self.mean_cost,
            sample_weight=objective.sample_weight,
            exempt=objective.exempt,
        )
        solver = Lbfgs(memory=20, precondition=True)
        solution = solver.minimize(smooth, None, Monitor(tol=_ROUGH, max_passes=budget))
        if solution.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        self.w = self.mean_cost * solution.w
        return solution.n_passes

    def _score(self) -> None:
        """Set `reach`, score plus cost of every label."""
        self.reach = self.problem.scores(self.problem.X, self.w) + self.cost

    def _center(self, product: float) -> None:
        """Set alpha and mu so that alpha mu = product for all members, w as it is.

        A row without a choice has its weight on the right label. Where w is far off and the weight
        of a row large, its other labels get the share `cap` of it, as much as they have in the
        smooth problem.

        xi solves sum_k product / (xi - reach_k) = U. Newton's method on the reciprocal of that
        sum, which is concave, climbs from the left.
        """
        hot = self.hot = np.flatnonzero(np.count_nonzero(self.member, axis=1) > 1)
        member, upper = self.member[hot], self.upper[hot, None]
        reach = np.where(member, self.reach[hot], -np.inf)
        top = reach.max(axis=1, keepdims=True)
        gold = np.arange(len(hot)), self.gold[hot]
        if self.cap < 1:
            wrong = reach[gold][:, None] < top
            upper = np.where(wrong, self.cap, 1.0) * upper
        wanted = product / upper
        xi = top + wanted
        for _ in range(6):
            inverse = 1 / (xi - reach)
            total = inverse.sum(axis=1, keepdims=True)
            squares = np.einsum("ik,ik->i", inverse, inverse)[:, None]
            xi += (wanted - 1 / total) * total**2 / squares
        mu = xi - reach
        alpha = product / mu
        alpha *= upper / alpha.sum(axis=1, keepdims=True)
        alpha[gold] += self.upper[hot] - upper[:, 0]
        self.alpha, self.mu = np.zeros(self.cost.shape), np.ones(self.cost.shape)
        self.alpha.reshape(-1)[self.gold_at] = self.upper
        self.mu.reshape(-1)[self.gold_at] = 0.0
        self.alpha[hot], self.mu[hot] = alpha, np.where(member, mu, 1.0)

    def _share(self) -> Array:
        """sum_i (U_i e_y - alpha_i) x_i, the weights that belong to the duals."""
        hot = self.hot
        shares = -self.alpha[hot]
        shares[np.arange(len(hot)), self.gold[hot]] += self.upper[hot]
        X = self.problem.X
        return self.problem.adjoint(X if len(hot) == len(X) else X[hot], shares)

    def _value(self) -> float:
        """P(w)."""
        penalized = self.problem.penalty * self.w
        return 0.5 * float(np.vdot(penalized, self.w)) + float(self.upper @ self._losses())

    def _losses(self) -> Array:
        losses: Array = self.reach.max(axis=1) - self.reach.reshape(-1)[self.gold_at]
        return losses

    def certificate(self) -> tuple[float, float]:
        """P(w), and P(w) minus the value of the dual at alpha.

        With exempt intercepts the duals must balance over the classes; what is missing is charged
        with the size of the intercepts, so that this is an estimate.
        """
        self.value = value = self._value()
        by_duals = self._share()
        self.residual = self.problem.penalty * self.w - by_duals
        dual = float(np.vdot(self.alpha, self.cost))
        dual -= 0.5 * float(np.vdot(by_duals * self.problem.penalty, by_duals))
        gap = value - dual
        if self.objective.exempt:
            b, excess = self.w[-1], by_duals[-1]
            gap += float(b @ excess + np.abs(excess) @ (1 + np.abs(b)))
        return value, max(gap, 0.0)

    def _admit(self) -> None:
        """Let labels take part that came close to the margin of their row."""
        if self.member.all():
            return
        # xi of every row, from the label with the largest dual.
        chief = np.arange(0, self.alpha.size, self.alpha.shape[1]) + self.alpha.argmax(axis=1)
        xi = sum(values.reshape(-1)[chief] for values in (self.reach, self.mu, self.excess))
        near = self.reach > xi[:, None] - _ADMITTED * self.mean_cost
        near &= ~self.member
        if not near.any():
            return
        product = self._product()
        rows = np.flatnonzero(near.any(axis=1))
        new, upper = near[rows], self.upper[rows, None]
        alpha, mu, excess = self.alpha[rows], self.mu[rows], self.excess[rows]
        # A row that had no choice had no slack either.
        single = np.count_nonzero(self.member[rows], axis=1) == 1
        gold = self.gold[rows[single]]
        mu[single, gold] = product / self.upper[rows[single]]
        xi = xi[rows, None] + np.where(single, product / upper[:, 0], 0.0)[:, None]
        # The new slacks are positive and the new duals small, whatever w says; where both cannot
        # be had, the slack exceeds xi - reach, and the next steps make up for it.
        room = xi - self.reach[rows]
        slack = np.maximum(room, np.maximum(_SLACK * self.mean_cost, 10 * product / upper))
        mu = np.where(new, slack, mu)
        excess = np.where(new, room - slack, excess)
        alpha = np.where(new, product / slack, alpha)
        alpha *= upper / alpha.sum(axis=1, keepdims=True)
        self.alpha, self.mu = self.alpha.copy(), self.mu.copy()
        self.alpha[rows], self.mu[rows], self.excess[rows] = alpha, mu, excess
        self.member = self.member | near
        self.hot = np.flatnonzero(np.count_nonzero(self.member, axis=1) > 1)
        self.residual = self.problem.penalty * self.w - self._share()

    def _product(self) -> float:
        """alpha mu on the average over the members."""
        members = np.count_nonzero(self.member[self.hot])
        if not members:
            return self._first()
        return float(np.vdot(self.alpha[self.hot], self.mu[self.hot])) / members

    def step(self) -> bool:
        """Predictor, correctors, move; False when no progress is possible any more."""
        self._admit()
        hot = self.hot
        if not len(hot):
            return False
        alpha, mu, member = self.alpha[hot], self.mu[hot], self.member[hot]
        system = NewtonSystem(self.problem, hot, alpha, mu, member, self.residual, self.excess[hot])
        if system.failed:
            return False
        n = system.n_members
        gaps = system.among_members(alpha * mu)
        now = float(gaps.sum()) / n
        move = system.direction(np.zeros_like(alpha))
        t = move.longest
        after = float(np.vdot(alpha + t * move.alpha, system.among_members(mu + t * move.mu))) / n
        target = now * (after / now) ** 3
        products = system.among_members(np.maximum(target - move.alpha * move.mu, -0.5 * gaps))
        # Late steps are short of digits, not of time.
        refined = now * n < _LATE * self.value
        move = system.direction(products, refined=refined)
        t = move.longest
        for _ in range(_CORRECTORS):
            # Products that a longer step would leave far from the target are drawn to it.
            ahead = min(1.0, t + 0.3)
            reached = (alpha + ahead * move.alpha) * (mu + ahead * move.mu)
            wanted = np.minimum(np.maximum(reached, 0.1 * target), 10 * target)
            drawn = np.maximum(wanted - reached, -10 * target)
            corrected = products + system.among_members(drawn)
            other = system.direction(corrected, refined=refined)
            if other.longest < t + 0.03:
                break
            products, move, t = corrected, other, other.longest
        if not np.isfinite(move.w).all():
            return False
        t = min(1.0, 0.995 * t)
        self.w = self.w + t * move.w
        alpha = alpha + t * move.alpha
        alpha *= (self.upper[hot] / alpha.sum(axis=1))[:, None]
        self.alpha, self.mu = self.alpha.copy(), self.mu.copy()
        self.alpha[hot] = alpha
        self.mu[hot] = mu + t * move.mu
        self.excess *= 1 - t
        self._score()
        self.stuck = self.stuck + 1 if t < 1e-3 else 0
        return self.stuck < 5

    def duals(self, alpha: Array, mu: Array) -> Array:
        """Duals of all rows: (n,) for two classes, (n, K) for more.

        At the optimum one of alpha and mu is zero; alpha counts as zero where its effect on the
        score of its own row, alpha |x|^2, is below mu.
        """
        return self.all_duals(np.where(alpha * self.problem.squares[:, None] > mu, alpha, 0.0))

    def all_duals(self, alpha: Array) -> Array:
        """The duals `alpha` of the rows kept, among zeros for the others, shaped as for `duals`."""
        n = self.objective.score_map.n_rows
        if self.problem.two:
            full = np.zeros(n)
            full[self.kept] = alpha[np.arange(len(alpha)), 1 - self.gold]
            return full
        result = np.zeros((n, alpha.shape[1]))
        result[self.kept] = alpha
        return result
