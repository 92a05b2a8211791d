"""Proofs of how far weights are from the optimum, in double precision whatever the data are.

With U_i = C c_i, any theta of the shape of the scores gives a lower bound of the minimum,

    min P >= D(theta) = V(theta) - R*(-X' theta),   V(theta) = -sum_i U_i loss_i*(theta_i / U_i),

provided that the columns of theta sum to zero where intercepts are free. The derivatives of smooth
losses at good scores make a good theta, for which V = sum_i U_i loss_i - <theta, s> (Fenchel);
losses with a kink need dual variables, or the derivatives of a smoothed loss. Under an L1 part
theta is scaled toward zero into the domain of R* (Mairal 2010, appendix D; Ndiaye et al. 2017).

Column sums r that are not exactly zero are made so by mixing theta with a point q on a line,
(1 - t) theta + t q: V is concave, V(q) >= 0, and t |X' q| is at most |r| times the longest row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax, xlog1py, xlogy

from separatrix._core import double_adjoint, double_scores, losses_at, margin_judgment
from separatrix.losses import (
    CostAugmentedMax,
    GeneratedLoss,
    Hinge,
    LogSumExp,
    Squared,
    SquaredHinge,
    is_softmax,
    kernel_of,
)
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, ElasticNet
from separatrix.protocols import Array
from separatrix.solvers.blas import blas_threads

__all__ = ["ROUNDING", "Certified", "Certifier", "as_stored"]

#: Rounding errors of a sum, in units of the last place of its largest possible value: sums are
#: blocked or pairwise, so that errors grow with the logarithm of their length.
ROUNDING = 4 * float(np.finfo(np.float64).eps)
#: Share of the wanted gap that the balance of theta may cost.
_BALANCE = 0.02
#: Share of the wanted gap at which no further dual point is tried.
_SURE = 0.9
#: Steps of the search for intercepts at most.
_STEPS = 60
#: Classes up to which that search is Newton's method; beyond, the Hessian costs more than a pass.
_NEWTON_CLASSES = 256
#: Widths of the kink, in scores, at which derivatives of smoothed hinges are tried as dual points.
_SMOOTHING = (1.0, 0.1, 0.01)


class Certified(NamedTuple):
    """Weights with a proof.

    Attributes
    ----------
    w : ndarray of shape (d, K)
        The weights in the precision of the data, free intercepts moved to where P is smallest.
    value : float
        P(w).
    gap : float
        Upper bound of P(w) - min P.
    """

    w: Array
    value: float
    gap: float


def as_stored(w: Array, dtype: Any, loss: Any) -> Array:
    """Weights as an estimator keeps them, in the precision of the data.

    Of two classes with a score each it keeps the difference alone: let that be exact. The losses do
    not see the mean, and the penalty is smallest without it.
    """
    stored = np.array(w, dtype=dtype, order="C")
    if type(loss) is GeneratedLoss and stored.shape[1] == 2 and kernel_of(loss) is not None:
        half = (stored[:, 1].astype(np.float64) / 2 - stored[:, 0].astype(np.float64) / 2).astype(
            dtype
        )
        stored = np.stack([-half, half], axis=1)
    return stored


class Certifier:
    """Bounds P(w) - min P for weights of one objective; remembers the best lower bound.

    Parameters
    ----------
    objective : Objective
        An objective for which `Certifier.fits` holds.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        # No loss of ours is negative.
        self._kernel = kernel_of(objective.loss)
        self.lower = -math.inf if self._kernel is None else 0.0
        scores: Any = objective.score_map
        self._design, self._n_threads = scores.design, scores.n_threads
        self._dtype = scores.dtype
        self._loss: Any = objective.loss
        self._upper = objective.row_weights
        kind = np.int64 if self._loss.n_scores is None else np.float64
        # Log-sum-exp is the logarithm of a number beside one, its slope a number less one: both are
        # rounded like that. The digits that other losses lose are counted by their slopes.
        log_sum_exp = type(getattr(self._loss, "max_op", None)) is LogSumExp
        self._grain = float(self._upper.sum()) if log_sum_exp else 0.0
        self._targets: npt.NDArray[Any] = np.ascontiguousarray(objective.targets, dtype=kind)

    @staticmethod
    def fits(objective: Any) -> bool:
        """Whether the loss is known to be convex, and penalty and data are of known kinds."""
        score_map = getattr(objective, "score_map", None)
        if not (isinstance(objective, Objective) and hasattr(score_map, "design")):
            return False
        loss = objective.loss
        if type(objective.penalty) not in {L1, L2, ElasticNet}:
            return False
        if not getattr(loss, "convex", False):
            return False
        # Balancing theta needs to know its domain: one score, or points of the simplex.
        return loss.n_scores == 1 or type(loss) is GeneratedLoss or not objective.exempt

    @cached_property
    def _longest(self) -> float:
        """The largest |x_i|, with the constant feature of a penalized intercept."""
        constant = float(self._has_intercept and not self.objective.exempt)
        return math.hypot(self.objective.longest_row, constant)

    def at(
        self,
        w: Array,
        wanted: float,
        *,
        duals: npt.NDArray[np.floating[Any]] | None = None,
        before: Array | None = None,
        move: bool = True,
    ) -> Certified:
        """Weights near `w` with their value and gap: one pass over the data.

        Parameters
        ----------
        w : ndarray of shape (d, K)
            Weights near the optimum.
        wanted : float
            The gap that would do; intercepts are sought with that in mind.
        duals : ndarray of shape (n,) or (n, K), optional
            Dual variables as in `Solution`; losses with a kink need them, others have slopes.
        before : ndarray of shape (n, K), optional
            Scores at the weights from which a Newton step led to `w`: see `linear_gap`.
        move : bool
            Whether free intercepts may be moved.
        """
        stored = as_stored(w, self._dtype, self._loss)
        if before is None and (move or not self.objective.exempt) and self._has_judge(duals):
            found = self._by_kernel(stored, wanted, duals)
            if found.gap > wanted and duals is not None and self._loss.smooth:
                found = self._by_kernel(stored, wanted, None)
            return found
        with blas_threads(1):
            return self._by_scores(stored, wanted, duals, before, move)

    def _has_judge(self, duals: npt.NDArray[np.floating[Any]] | None) -> bool:
        """Whether a kernel knows the loss of the margin: smooth, or the hinge with duals."""
        kernel = self._kernel
        if kernel is None or self._loss.n_scores != 1:
            return False
        if self._loss.smooth:
            return kernel.passes
        return type(self._loss) is Hinge and duals is not None

    def _by_kernel(
        self, stored: Array, wanted: float, duals: npt.NDArray[np.floating[Any]] | None
    ) -> Certified:
        """`at` for losses of the margin: intercept, value and dual point by one call."""
        objective, kernel = self.objective, self._kernel
        assert kernel is not None
        w = stored.astype(np.float64)
        inner = objective.penalized(w)
        reach = self._longest * math.sqrt(float(np.vdot(inner, inner)))
        intercept = float(w[-1, 0]) if self._has_intercept else 0.0
        given: npt.NDArray[np.float64] | None = None
        if duals is not None:
            given = np.ascontiguousarray(duals, dtype=np.float64)
        scores = double_scores(self._design, stored, self._n_threads)
        last, losses, noise, v, size, total, mass, theta = margin_judgment(
            kernel.name, scores, self._targets, self._upper, given,
            (intercept, objective.exempt), (reach, self._longest), self._dtype == np.float32,
            type(objective.penalty) is L2, wanted, self._n_threads,
        )  # fmt: skip
        if objective.exempt:
            stored[-1] = last
        value = losses + objective.penalty.value(inner)
        sums = np.array([total])
        pulled = double_adjoint(self._design, theta, self._n_threads)
        if self._has_intercept and not objective.exempt:
            pulled = np.vstack([pulled, sums])
        self._raise(v, pulled, sums, mass, size, lambda scale: self._scaled(v, theta, scale))
        gap = value - self.lower + noise + ROUNDING * abs(value)
        return Certified(stored, value, gap if math.isfinite(gap) else math.inf)

    def _by_scores(
        self,
        stored: Array,
        wanted: float,
        duals: npt.NDArray[np.floating[Any]] | None,
        before: Array | None,
        move: bool,
    ) -> Certified:
        """`at` for any loss."""
        objective = self.objective
        w = stored.astype(np.float64)
        scores = double_scores(self._design, stored, self._n_threads)
        total, theta = self._losses(scores)
        value, judged = total, scores
        unmoved, at_unmoved = scores, total
        # Intercepts of which the scores were made, before and after they are moved.
        intercepts = float(np.abs(w[-1]).max()) if self._has_intercept else 0.0
        if objective.exempt and move:
            shift, lowest, theta = self._best_shift(scores, total, theta, wanted)
            # Where columns lie far from zero, rounding intercepts to what can be stored unbalances
            # theta: the dual point is that of the best intercepts, the value that of the stored.
            last = w[-1] + shift
            if len(last) > 1:
                last -= last.mean()  # scores of many classes may move together
            last = last.astype(self._dtype).astype(np.float64)
            moved = last - w[-1]
            if len(last) > 1:
                moved -= moved.mean()
            there = scores + moved
            at_last = self._losses(there)[0] if moved.any() else value
            if at_last <= total * (1 + ROUNDING):
                stored[-1], w[-1] = last, last
                value, judged = at_last, there
                intercepts = max(intercepts, float(np.abs(last).max()))
            scores, total = scores + shift, lowest
        inner = objective.penalized(w)
        value += objective.penalty.value(inner)
        if before is not None:
            linear, v, _ = self._linear(before.astype(np.float64), unmoved)
            self._try(v, linear, at_unmoved + abs(v) + float(np.abs(linear).sum()), unmoved)
        if duals is not None and self._loss.smooth and self._loss.n_scores is None:
            upper = self._upper[:, None]
            unit = np.divide(duals, upper, where=upper > 0, out=np.zeros_like(scores))
            given = upper * self._in_domain(unit)
            v = self._scaled(0.0, given, 1.0)
            self._try(v, given, at_unmoved + abs(v) + float(np.abs(given).sum()), unmoved)
        if self._loss.smooth and value - self.lower > _SURE * wanted:
            self._try(total - float(np.vdot(theta, scores)), theta, total, scores)
        elif not self._loss.smooth:
            for candidate in self._dual_points(scores, duals):
                self._try(*candidate, total, scores)
        size = math.sqrt(float(np.vdot(inner, inner)))
        off = ROUNDING * (self._longest * size + intercepts)
        noise = ROUNDING * (abs(value) + self._grain) + self._steepest(judged, off) * off
        gap = value - self.lower + noise
        return Certified(stored, value, gap if math.isfinite(gap) else math.inf)

    def sums(self, stored: Array, off: float) -> tuple[Any, ...]:
        """What a proof needs of some of the rows, as sums over them: one pass, nothing is moved.

        Parameters
        ----------
        stored : ndarray of shape (d, K)
            Weights in the precision of the data.
        off : float
            How far scores may be off by rounding.

        Returns
        -------
        total, paired, mass, size, steepest : float
            Sums of the losses, of <theta, s>, |theta| and |theta s|, and of the slopes nearby.
        sums : ndarray of shape (K,)
            Sums of the columns of theta.
        pulled : ndarray
            X' theta, of the shape of the penalized weights.
        grain : float
            Sum of the row weights where rounding is a share of these, times 1 + |s|.
        """
        scores = double_scores(self._design, stored, self._n_threads)
        total, theta = self._losses(scores)
        pulled = double_adjoint(self._design, np.ascontiguousarray(theta), self._n_threads)
        if self._has_intercept and not self.objective.exempt:
            pulled = np.vstack([pulled, theta.sum(axis=0)])
        largest = 1 + float(np.abs(scores).max(initial=0.0))
        return (
            total,
            float(np.vdot(theta, scores)),
            float(np.abs(theta).sum()),
            float(np.abs(theta * scores).sum()),
            self._steepest(scores, off),
            theta.sum(axis=0),
            pulled,
            self._grain * largest,
        )

    @property
    def _has_intercept(self) -> bool:
        return bool(getattr(self.objective.score_map, "intercept", False))

    # -- losses at scores ---------------------------------------------------------------------

    def _losses(self, scores: Array) -> tuple[float, Array]:
        """Sum of U_i loss_i and theta = U_i loss_i', of shape (n, K)."""
        if self._kernel is not None and self._kernel.passes:
            name = self._kernel.name
            return losses_at(name, scores, self._targets, self._upper, self._n_threads)
        with np.errstate(over="ignore", invalid="ignore"):
            losses, slopes = self._loss.value_and_grad(scores, self._targets)
            return float(self._upper @ losses), self._upper[:, None] * slopes

    def _steepest(self, scores: Array, off: float) -> float:
        """Sum of U_i |loss_i'| where scores that may be off by so much have the largest losses.

        Losses are convex: they are higher there by no more than that times `off`. Slopes at the
        scores themselves will not do, as rounding may hide a row beyond a kink.
        """
        if self._loss.n_scores == 1:
            low, high = (np.abs(self._losses(scores + by)[1]) for by in (-off, off))
            return float(np.maximum(low, high).sum())
        # Those of the right labels lower, those of others higher.
        scores = scores + off
        scores[np.arange(len(scores)), self._targets] -= 2 * off
        return float(np.abs(self._losses(scores)[1]).sum())

    def _best_shift(
        self, scores: Array, total: float, theta: Array, wanted: float
    ) -> tuple[Array, float, Array]:
        """How far to move the intercepts to where the losses are smallest, as far as known.

        With the sum of the losses there, and theta.
        """
        if self._loss.n_scores == 1:
            return self._search_one(scores, total, theta)
        if self._loss.smooth:
            return self._search_many(scores, total, theta, wanted)
        return np.zeros(scores.shape[1]), total, theta

    def _search_one(self, scores: Array, total: float, theta: Array) -> tuple[Array, float, Array]:
        """The intercept at which the losses have slope zero: Newton's method within a bracket."""
        low, high, at, slope = -math.inf, math.inf, 0.0, float(theta.sum())
        small = 4 * ROUNDING * float(np.abs(theta).sum())
        step, product = 1.0, getattr(self._loss, "curvature_product", None)
        for _ in range(_STEPS):
            if abs(slope) <= small:
                break
            low, high = (at, high) if slope < 0 else (low, at)
            curvature = 0.0
            if product is not None and self._loss.smooth:
                second = product(scores + at, self._targets, np.ones_like(scores))
                curvature = float(self._upper @ second[:, 0])
            after = at - slope / curvature if curvature > 0 else math.nan
            if not low < after < high:
                step *= 2
                if math.isfinite(low) and math.isfinite(high):
                    after = 0.5 * (low + high)
                else:
                    after = at + step if slope < 0 else at - step
            if after == at or not math.isfinite(after):
                break
            at = after
            total, theta = self._losses(scores + at)
            slope = float(theta.sum())
        return np.array([at]), total, theta

    def _search_many(
        self, scores: Array, total: float, theta: Array, wanted: float
    ) -> tuple[Array, float, Array]:
        """Intercepts at which the losses have slope zero in every class, or nearly so."""
        n_classes = scores.shape[1]
        shift = np.zeros(n_classes)
        for _ in range(_STEPS):
            share, length = self.objective.imbalance(theta.sum(axis=0))
            # What the length adds to R*: at first order under L1, times |w| under L2.
            steep = math.sqrt(2 * abs(total)) if type(self.objective.penalty) is L2 else total
            if share * abs(total) + length * steep <= _BALANCE * wanted:
                break
            slope = theta.sum(axis=0)
            p = theta.copy()
            p[np.arange(len(p)), self._targets] += self._upper
            mass = p.sum(axis=0)
            if n_classes <= _NEWTON_CLASSES:
                hessian = np.diag(mass) - p.T @ (p / np.maximum(self._upper, 1e-300)[:, None])
                step = -np.linalg.lstsq(hessian, slope, rcond=1e-12)[0]
            else:
                # Iterative scaling, without the Hessian.
                weights = self.objective.class_weights
                step = np.log(weights / mass, where=weights > 0, out=np.zeros(n_classes))
            moved = None
            for _ in range(20):
                moved_total, moved = self._losses(scores + (shift + step))
                if moved_total <= total + ROUNDING * abs(total):
                    break
                step = step / 2
            else:
                break
            shift, total, theta = shift + step, moved_total, moved
        return shift, total, theta

    # -- dual points --------------------------------------------------------------------------

    def _dual_points(
        self, scores: Array, duals: npt.NDArray[np.floating[Any]] | None
    ) -> list[tuple[float, Array]]:
        """(V(theta), theta) for losses with a kink: given ones, or those of smoothed losses."""
        upper = self._upper[:, None]
        if self._loss.n_scores == 1:
            if type(self._loss) is not Hinge:
                return []
            y: Array = self._targets[:, None]
            if duals is not None:
                points = [np.clip(np.asarray(duals, dtype=np.float64)[:, None], 0, upper)]
            else:
                points = [upper * np.clip((1 - y * scores) / m, 0, 1) for m in _SMOOTHING]
            return [(float(a.sum()), -y * a) for a in map(self._balanced_one, points)]
        operator = self._loss.max_op
        rows = np.arange(len(scores))
        if type(operator) is CostAugmentedMax:
            if operator.cost is None:
                costs = np.ones_like(scores)
                costs[rows, self._targets] = 0
            else:
                costs = np.asarray(operator.cost, dtype=np.float64)[self._targets]
        else:
            costs = np.zeros_like(scores)
        if duals is not None:
            p = np.maximum(np.asarray(duals, dtype=np.float64), 0)
            sums = p.sum(axis=1, keepdims=True)
            p = np.divide(p, sums, out=np.zeros_like(p), where=sums > 0)
            p[rows, self._targets] += sums[:, 0] == 0
            points = [p]
        else:
            points = [softmax((scores + costs) / m, axis=1) for m in _SMOOTHING]
        found: list[tuple[float, Array]] = []
        for p in map(self._balanced_many, points):
            theta = upper * p
            value = float(np.vdot(theta, costs))
            # The rest, and not what is left of one: rows are to sum to zero.
            theta[rows, self._targets] = 0
            theta[rows, self._targets] = -theta.sum(axis=1)
            found.append((value, theta))
        return found

    @property
    def is_curved(self) -> bool:
        """Whether `linear_gap` knows the loss, and its slopes are not linear up to kinks anyway."""
        kernel = self._kernel
        known = kernel is not None and (kernel.conjugate is not None or is_softmax(self._loss))
        return known and self._loss.smooth and type(self._loss) not in {Squared, SquaredHinge}

    def linear_gap(self, before: Array, scores: Array) -> float:
        """About the gap after a Newton step, by slopes of the losses that are moved with it.

        The step makes the slopes at `before`, moved along their derivatives, balance the penalty
        at its end: X' theta = -w, and the sum of loss + loss* - <theta, s> is the gap. They are a
        better dual point than the slopes there by as much as the Hessian of the losses is larger
        than that of the penalty. What has to be cut off to stay in the domain counts as if its
        signs were random.
        """
        before, scores = before.astype(np.float64), scores.astype(np.float64)
        total, _ = self._losses(scores)
        theta, v, cut = self._linear(before, scores)
        return total - float(np.vdot(theta, scores)) - v + self._longest**2 * cut / 2

    def _linear(self, before: Array, scores: Array) -> tuple[Array, float, float]:
        """Slopes at `before` moved to `scores` linearly, V, and the square of what was cut off."""
        upper, product = self._upper[:, None], self.objective.curvature_product(before)
        moved = self._losses(before)[1] + upper * product(scores - before)
        unit = np.divide(moved, upper, where=upper > 0, out=np.zeros_like(moved))
        if self._loss.n_scores == 1:
            assert self._kernel is not None
            y: Array = self._targets[:, None]
            unit = -y * np.clip(-y * unit, 0, 1 if self._kernel.in_unit else None)
        else:
            unit = self._in_domain(unit)
        theta = unit * upper
        cut = moved - theta
        return theta, self._scaled(0.0, theta, 1.0), float(np.vdot(cut, cut))

    def _in_domain(self, unit: Array) -> Array:
        """Slopes of softmax, those of the right labels made of the others."""
        rows = np.arange(len(unit))
        unit[rows, self._targets] = 0
        unit = np.maximum(unit, 0)
        unit /= np.maximum(unit.sum(axis=1, keepdims=True), 1)
        unit[rows, self._targets] = -unit.sum(axis=1)
        return unit

    def _balanced_one(self, a: Array) -> Array:
        """Duals of two classes whose sums agree: those of the heavier class are scaled down."""
        if not self.objective.exempt:
            return a
        first = self._targets < 0
        sums = float(a[first].sum()), float(a[~first].sum())
        if sums[0] == sums[1] or 0.0 in sums:
            return a if sums[0] == sums[1] else np.zeros_like(a)
        heavier = first if sums[0] > sums[1] else ~first
        a = a.copy()
        a[heavier] *= min(sums) / max(sums)
        return a

    def _balanced_many(self, p: Array) -> Array:
        """Points of the simplex whose mean is that of the labels.

        The right label of a class with too much mass sends some of it to classes with too little.
        """
        if not self.objective.exempt:
            return p
        weights = self.objective.class_weights
        excess = self._upper @ p - weights
        too_much = np.maximum(excess, 0)
        if not too_much.any():
            return p
        if (weights[too_much > 0] == 0).any():
            p = np.zeros_like(p)
            p[np.arange(len(p)), self._targets] = 1
            return p
        share = np.divide(too_much, weights, out=np.zeros_like(too_much), where=too_much > 0)
        # Twice the least share of q that will do, so that nobody sends more than half.
        t = min(1.0, 2 * float((share / (1 + share)).max()))
        lacking = np.maximum(-excess, 0)
        if not lacking.any():  # what is too much is rounding
            return p
        to = lacking / lacking.sum()
        sent = (1 - t) / t * share
        q = sent[self._targets][:, None] * to
        q[np.arange(len(p)), self._targets] += 1 - sent[self._targets]
        mixed: Array = (1 - t) * p + t * q
        return mixed

    def _try(self, v: float, theta: Array, total: float, scores: Array) -> None:
        """Raise the lower bound to D(theta), made feasible, less its rounding."""
        pulled = double_adjoint(self._design, np.ascontiguousarray(theta), self._n_threads)
        if self._has_intercept and not self.objective.exempt:
            pulled = np.vstack([pulled, theta.sum(axis=0)])
        size = abs(total) + float(np.abs(theta * scores).sum())
        if self._grain:
            size += self._grain * (1 + float(np.abs(scores).max(initial=0.0)))
        mass = float(np.abs(theta).sum())
        self._raise(
            v, pulled, theta.sum(axis=0), mass, size, lambda scale: self._scaled(v, theta, scale)
        )

    def _raise(
        self,
        v: float,
        pulled: Array,
        sums: Array,
        mass: float,
        size: float,
        scaled: Callable[[float], float],
    ) -> None:
        """Raise the lower bound to that of theta, known by its sums.

        Parameters
        ----------
        v : float
            V(theta).
        pulled : ndarray of shape (d, K)
            X' theta.
        sums : ndarray of shape (K,)
            Sums of its columns.
        mass : float
            Sum of |theta|.
        size : float
            Size of the terms of v, of which rounding is a share.
        scaled : callable
            V(scale theta), or less.
        """
        penalty = self.objective.penalty
        curvature = float(getattr(penalty, "curvature", 0.0))
        threshold = 0.0 if type(penalty) is L2 else 1 - curvature
        share, loose = 0.0, 0.0
        if self.objective.exempt:
            share, loose = self.objective.imbalance(sums)
            if not math.isfinite(share):
                return
        # What balancing and rounding may add to any entry of X' theta, and to its length.
        loose += ROUNDING * (mass + self._grain) * self._longest
        noise = ROUNDING * size
        if threshold == 0:
            length = (1 - share) * float(np.linalg.norm(pulled)) + loose
            bound = (1 - share) * v - length * length / (2 * curvature)
            if math.isfinite(bound):
                self.lower = max(self.lower, bound - noise)
            return
        inner = (1 - share) * np.abs(pulled) + loose
        largest = float(inner.max(initial=0.0))
        scales = {1.0} if curvature > 0 else set()
        scales.add(min(1.0, threshold / largest) if largest > 0 else 1.0)
        for scale in scales:
            beyond = np.maximum(scale * inner - threshold, 0)
            excess = float(np.vdot(beyond, beyond)) / (2 * curvature) if curvature > 0 else 0.0
            bound = (1 - share) * (v if scale == 1 else scaled(scale)) - excess
            if math.isfinite(bound):
                self.lower = max(self.lower, bound - noise)

    def _scaled(self, v: float, theta: Array, scale: float) -> float:
        """V(scale theta), or a bound from its concavity where the conjugate is not known."""
        used = self._upper > 0
        unit: Array = scale * theta[used] / self._upper[used, None]
        if self._kernel is not None and self._kernel.conjugate is not None:
            a = -unit[:, 0] * self._targets[used]
            values = self._kernel.conjugate(np.clip(a, 0, 1) if self._kernel.in_unit else a)
        elif type(self._loss) is GeneratedLoss and type(self._loss.max_op) is LogSumExp:
            # The right label has the rest, which has no digits of small ones.
            unit[np.arange(len(unit)), self._targets[used]] = 0
            p = np.clip(unit, 0, 1)
            rest = np.minimum(p.sum(axis=1), 1)
            values = xlogy(p, p).sum(axis=1) + xlog1py(1 - rest, -rest)
        else:
            return scale * v
        return -float(self._upper[used] @ values)
