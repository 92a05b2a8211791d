"""Scores, loss and penalty meet here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix._core import Dense, fused_value_and_grad, longest_row, losses_at
from separatrix.losses import GeneratedLoss, kernel_of
from separatrix.objective.proof import EPSILON, ROUNDINGS
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.protocols import Array, Loss, Penalty, ScoreMap

__all__ = ["Objective"]


class Objective:
    """P(w) = R(w) + C sum_i c_i loss(s_i, y_i) with s = score_map(w).

    Parameters
    ----------
    score_map : ScoreMap
        From weights to scores.
    loss : Loss
        Loss of the scores.
    penalty : Penalty
        Penalty on the weights.
    targets : ndarray of shape (n,)
        +1 / -1 for a margin loss, class numbers otherwise.
    C : float
        Weight of the losses.
    sample_weight : ndarray of shape (n,) or None
        c_i; None stands for ones.
    exempt : bool
        Whether the last row of the weights (the intercepts) is left out of the penalty.

    Attributes
    ----------
    can : frozenset of str
        What the objective offers: "value_grad", "smooth", "smooth_loss", "curvature", "hvp",
        "prox", "elastic_net", "dual", "hinge", "l2", "dense",
        "exact_newton".
    """

    def __init__(
        self,
        score_map: ScoreMap,
        loss: Loss,
        penalty: Penalty,
        targets: npt.NDArray[Any],
        *,
        C: float = 1.0,
        sample_weight: npt.NDArray[np.float64] | None = None,
        exempt: bool = False,
    ) -> None:
        self.score_map = score_map
        self.loss = loss
        self.penalty = penalty
        self.targets = targets
        self.C = C
        self.sample_weight = sample_weight
        self.exempt = exempt
        self.can = self._capabilities()

    def _capabilities(self) -> frozenset[str]:
        can = {"prox"}
        if self.loss.smooth:
            can.add("smooth_loss")
            if hasattr(self.loss, "curvature_product"):
                can.add("curvature")
        if self.penalty.smooth:
            can.add("value_grad")
            if self.loss.smooth:
                can.add("smooth")
                if "curvature" in can:
                    can.add("hvp")
        if isinstance(self.penalty, L1 | L2 | ElasticNet | Unpenalized):
            can.add("elastic_net")
        if type(self.penalty) is L2:
            can.add("l2")
        kernel = kernel_of(self.loss)
        has_dual = kernel is not None and kernel.dual
        if has_dual and type(self.penalty) is L2 and hasattr(self.score_map, "design"):
            can.add("dual")
            if not self.loss.smooth:
                can.add("hinge")
        if hasattr(getattr(self.score_map, "design", None), "values"):
            can.add("dense")
        if has_dual or (kernel is not None and kernel.passes and self.loss.smooth):
            fits = self.loss.n_scores == 1 or ("dense" in can and self.loss.smooth)
            if fits and "l2" in can and hasattr(self.score_map, "design"):
                can.add("exact_newton")
        return frozenset(can)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Shape (d, K) of the weights."""
        return self.score_map.weight_shape

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.score_map.n_rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of a pass over the data."""
        dtype: np.dtype[Any] = getattr(self.score_map, "dtype", np.dtype(np.float64))
        return dtype

    @property
    def name(self) -> str:
        """The loss, in a word."""
        return str(getattr(self.loss, "name", type(self.loss).__name__))

    @property
    def has_fused_pass(self) -> bool:
        """Whether `value_and_grad` reads the data once instead of twice."""
        return self._kernel is not None and isinstance(self.design, Dense)

    @property
    def design(self) -> Any:
        """The data as the kernels read them, None where they lie elsewhere."""
        return getattr(self.score_map, "design", None)

    @cached_property
    def _kernel(self) -> tuple[str, npt.NDArray[Any], Array | None, int] | None:
        """Name, targets, row weights and threads for the kernels, in the types they take."""
        kernel = kernel_of(self.loss)
        dtype = getattr(self.score_map, "dtype", None)
        if kernel is None or not kernel.passes or dtype is None or self.design is None:
            return None
        kind = np.int64 if self.loss.n_scores is None else dtype
        targets = np.ascontiguousarray(self.targets, dtype=kind)
        weights = self.sample_weight
        if weights is not None:
            weights = np.ascontiguousarray(weights, dtype=dtype)
        return kernel.name, targets, weights, int(getattr(self.score_map, "n_threads", 1))

    @cached_property
    def row_weights(self) -> npt.NDArray[np.float64]:
        """C c_i for every row; not to be written to."""
        if self.sample_weight is None:
            weights = np.full(self.score_map.n_rows, float(self.C))
        else:
            weights = (self.C * self.sample_weight).astype(np.float64, copy=False)
        weights.flags.writeable = False
        return weights

    def penalized(self, w: Array) -> Array:
        """The rows of w that the penalty sees."""
        return w[:-1] if self.exempt else w

    def variables(self, w: Array) -> Array:
        """Weights of one vector in the shape that a solver has them."""
        return w.reshape(self.weight_shape).copy()

    def weights(self, variables: Array) -> npt.NDArray[np.float64]:
        """The inverse of `variables`."""
        return np.ascontiguousarray(variables, dtype=np.float64).ravel()

    def _weigh(self, values: Array) -> Array:
        return values if self.sample_weight is None else (values.T * self.sample_weight).T

    def value(self, w: Array) -> float:
        """P(w)."""
        total, _ = self.loss_at(self.score_map(w))
        return total + self.penalty.value(self.penalized(w))

    def measure(self, w: Array) -> tuple[float, float]:
        """P(w), and by how much rounding may have moved it where the data are in double."""
        scores = self.score_map(w)
        losses, _ = self.loss.value_and_grad(scores, self.targets)
        sizes = 1.0 + 2.0 * np.abs(scores).max(axis=1, initial=0.0)
        size = self.value_from_losses(sizes, w)
        return self.value_from_losses(losses, w), ROUNDINGS * EPSILON * size

    def value_from_losses(self, losses: Array, w: Array) -> float:
        """P(w) from the losses of the rows at w."""
        total = float(self._weigh(losses).sum(dtype=np.float64))
        return self.C * total + self.penalty.value(self.penalized(w))

    def value_and_grad(self, w: Array) -> tuple[float, Array]:
        """P(w) and a (sub)gradient of the shape of w, float64."""
        value, grad = self.loss_value_and_grad(w)
        grad[: len(self.penalized(w))] += self.penalty.grad(self.penalized(w))
        return value + self.penalty.value(self.penalized(w)), grad

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """The loss part C sum_i c_i loss_i alone, and its (sub)gradient."""
        if self._kernel is not None and self.has_fused_pass:
            name, targets, weights, n_threads = self._kernel
            w = np.ascontiguousarray(w, dtype=self.score_map.dtype)  # type: ignore[attr-defined]
            value, grad = fused_value_and_grad(self.design, name, targets, weights, w, n_threads)
            return self.C * value, self.C * grad
        value, ds = self.loss_at(self.score_map(w))
        return value, self.score_map.adjoint(ds)

    def loss_at(self, scores: Array) -> tuple[float, Array]:
        """The loss part C sum_i c_i loss_i at given scores, and its gradient in the scores.

        Values may overflow to infinity (exponential loss); solvers step back from there.
        """
        if self._kernel is not None:
            name, targets, weights, n_threads = self._kernel
            total, ds = losses_at(name, np.ascontiguousarray(scores), targets, weights, n_threads)
            return self.C * total, ds.dtype.type(self.C) * ds
        with np.errstate(over="ignore", invalid="ignore"):
            losses, ds = self.loss.value_and_grad(scores, self.targets)
            value = self.C * float(self._weigh(losses).sum(dtype=np.float64))
            return value, self.C * self._weigh(ds)

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w, for losses with a second derivative.

        `scores` are the scores at w where they are known already.
        """
        if scores is None:
            scores = self.score_map(w)
        product = self.curvature_product(scores)
        curvature = float(getattr(self.penalty, "curvature", 0.0))

        def apply(v: Array) -> Array:
            ds = self._weigh(product(self.score_map(v)))
            result = self.C * self.score_map.adjoint(ds)
            result[: len(self.penalized(v))] += curvature * self.penalized(v)
            return result

        return apply

    def curvature_product(self, scores: Array) -> Callable[[Array], Array]:
        """Second derivatives of the losses as a map on directions, prepared once where known."""
        product = self.loss.curvature_product  # type: ignore[attr-defined]
        if self.loss.n_scores == 1:
            second = product(scores, self.targets, np.ones_like(scores))
            return lambda direction: second * direction
        if self._kernel is None:
            return lambda direction: product(scores, self.targets, direction)
        p = self.probabilities(scores)

        def softmax_product(direction: Array) -> Array:
            weighted = p * direction
            weighted -= p * weighted.sum(axis=1, keepdims=True)
            return weighted

        return softmax_product

    def probabilities(self, scores: Array) -> Array:
        """Softmax of the scores, from the derivative of the loss."""
        _, p = losses_at(
            "multiclass_logistic",
            np.ascontiguousarray(scores),
            np.zeros(len(scores), dtype=np.int64),
            None,
            int(getattr(self.score_map, "n_threads", 1)),
        )
        p[:, 0] += 1
        return p

    @cached_property
    def class_weights(self) -> npt.NDArray[np.float64]:
        """Sum of C c_i over the rows of each class."""
        weights = self.row_weights
        if self.loss.n_scores is not None:
            second = float(weights @ (self.targets > 0))
            return np.array([max(float(weights.sum()) - second, 0.0), second])
        sums = np.bincount(self.targets, weights=weights, minlength=self.weight_shape[1])
        return sums.astype(np.float64)

    @cached_property
    def longest_row(self) -> float:
        """The largest |x_i|, without the constant feature of an intercept."""
        return longest_row(self.design)

    @property
    def convex(self) -> bool:
        """Whether P is known to be convex; a user's loss says so by an attribute of that name."""
        return bool(getattr(self.loss, "convex", False))

    def imbalance(self, sums: Array) -> tuple[float, float]:
        """What it costs to bring dual variables with column sums `sums` to column sums zero.

        Free intercepts ask for that. Mixed with a point q, (1 - t) theta + t q has them, where q
        gives weight to the rows of too light classes alone: the slopes of the losses at score zero
        for one score, points of the simplex for many. The value of q is not negative.

        Returns
        -------
        t : float
            Share of q; 1 where there is no such point and zero takes its place, infinite where the
            loss is not known to be positive.
        length : float
            Bound of t |X' q|.
        """
        total = float(np.abs(sums).sum())
        if total == 0:
            return 0.0, 0.0
        weights = self.class_weights
        if self.loss.n_scores == 1:
            excess = float(sums[0])
            losses, slopes = self.loss.value_and_grad(np.zeros((2, 1)), np.array([-1.0, 1.0]))
            room = float((-np.sign(excess) * weights * slopes[:, 0]).max())
            if room > 0 and losses.min() >= 0:
                share = abs(excess) / (abs(excess) + room)
            else:
                # No loss of ours is negative; one of a user may be, and min P with it.
                share = 1.0 if kernel_of(self.loss) is not None else float("inf")
        elif type(self.loss) is GeneratedLoss:
            over = np.maximum(sums, 0)
            whole = over + weights
            share = float(np.divide(over, whole, out=np.zeros_like(whole), where=whole > 0).max())
        else:
            share = float("inf")
        return share, float(np.sqrt(2)) * total * self.longest_row

    def gap_bound(self, w: Array, grad: Array, value: float) -> float:
        """Upper bound of P(w) - min P from the value and gradient at w, infinite if there is none.

        P is strongly convex in the penalized weights, so that without exempt intercepts it is
        1/2 |grad|^2; the slopes of the losses at w are the dual point behind that. With exempt
        intercepts the point is brought to zero sums first, see `imbalance`.
        """
        strength = float(getattr(self.penalty, "curvature", 0.0))
        if type(self.penalty) is not L2 or not self.convex:
            return float("inf")
        inner = self.penalized(grad)
        if not self.exempt:
            return float(np.vdot(inner, inner)) / (2 * strength)
        u = self.penalized(w)
        pulled = inner - strength * u
        share, length = self.imbalance(grad[-1])
        if share >= 1:
            return float("inf")
        pull = float(np.vdot(pulled, u)) + float(grad[-1] @ w[-1])
        dual = value - self.penalty.value(u) - pull
        length += (1 - share) * float(np.linalg.norm(pulled))
        return value - (1 - share) * dual + length * length / (2 * strength)
