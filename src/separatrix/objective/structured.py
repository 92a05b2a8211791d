"""The objective of outputs with parts: P(w) = R(w) + C sum_i c_i (max - score of the truth)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.losses import CostAugmentedMax, GeneratedLoss, LogSumExp
from separatrix.objective.flat import Objective
from separatrix.objective.passes import Passes, cost_of
from separatrix.objective.proof import COARSE, EPSILON, ROUNDINGS, fenchel_gap
from separatrix.penalties import L2, SharedElasticNet, strengths
from separatrix.protocols import Array, Penalty
from separatrix.structures.coded_labels import CodedLabels

__all__ = ["StructuredObjective", "objective_for"]

Floats = npt.NDArray[np.float64]

#: Relative length of a difference that stands for a derivative, by the bytes of a number.
_DIFFERENCE = {4: 3e-3, 8: 1e-6}
#: Terms of a score, and scores of a sum, for which there is room below the largest number.
_ROOM = 1e9


class _Evaluation(NamedTuple):
    """The loss at some weights: its value, what its rounding is a multiple of, and its gradient."""

    w: Array
    loss: float
    size: float
    grad: Array


class StructuredObjective:
    """A penalty, and the losses of examples of any structure, under any max operator.

    Passes go over the data in their own precision. Where a run in single precision comes near the
    tolerance, or near what single precision can tell, this and all later passes are in double
    precision, and so is what proves the gap.

    Parameters
    ----------
    passes : object
        The sum of c_i loss_i over the examples, such as `Passes`: ``evaluate(w)`` gives it with
        what its rounding is a multiple of and its gradient; ``name``, ``smooth``, ``convex``,
        ``estimated``, ``n_rows``, ``n_variables``, ``n_free``, ``dtype``, ``is_single``,
        ``widen()``, ``reach``, ``variables(w)`` and ``weights(variables)``.
    penalty : Penalty
        Penalty on all weights but the last ``n_free``.
    C : float
        Weight of the losses.
    tol : float
        The relative gap that is to be proven.

    Attributes
    ----------
    can : frozenset of str
        What the objective offers to solvers.
    noise : float
        How far the value seen last may be off, besides rounding.

    Examples
    --------
    >>> from separatrix.losses import LogSumExp
    >>> from separatrix.structures import Chain
    >>> chain = Chain()
    >>> X = chain.read([[["a"], ["b"]]])
    >>> labels = chain.codes([["A", "B"]], X)
    >>> features = chain.layout(X, labels)
    >>> objective = StructuredObjective(Passes(features, X, labels, LogSumExp()), L2())
    >>> round(objective.value(np.zeros(objective.weight_shape)), 6)  # four labellings
    1.386294
    """

    has_fused_pass: ClassVar[bool] = True

    def __init__(self, passes: Any, penalty: Penalty, *, C: float = 1.0, tol: float = 0.0) -> None:
        self.passes, self.penalty, self.C, self._tol = passes, penalty, C, tol
        self._last: _Evaluation | None = None
        self._noise = 0.0
        self.can = self._capabilities()

    def _capabilities(self) -> frozenset[str]:
        passes, can = self.passes, {"elastic_net"}
        if not passes.smooth:
            return frozenset({"chain_margin" if hasattr(passes, "handle") else "margin"})
        can.add("smooth_loss")
        if self.penalty.smooth:
            can |= {"value_grad", "smooth"}
            if passes.convex and not passes.n_free:
                can.add("hvp")
        known = type(self.penalty) in (L2, SharedElasticNet)
        squares = known and getattr(self.penalty, "curvature", 0.0) > 0
        if squares and getattr(passes, "has_dual", False):
            can.add("chain_dual")
        return frozenset(can)

    @property
    def name(self) -> str:
        """The loss, in a word."""
        return str(self.passes.name)

    @property
    def weight_shape(self) -> tuple[int, int]:
        """(n_variables, 1)."""
        return int(self.passes.n_variables), 1

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        return int(self.passes.n_rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the passes."""
        dtype: np.dtype[Any] = self.passes.dtype
        return dtype

    @property
    def convex(self) -> bool:
        """Whether P is convex and exact to compute, so that optimality can be proven."""
        return bool(self.passes.convex)

    @property
    def estimated(self) -> bool:
        """Whether values are estimates: of more than one fixed point, perhaps, and off by noise."""
        return bool(self.passes.estimated)

    @property
    def convergence(self) -> Any:
        """How belief propagation ended in the last pass, None where there was none."""
        return getattr(self.passes, "convergence", None)

    def variables(self, w: Array) -> Array:
        """The solver's variables, shape (n_variables, 1), from weights of the features."""
        found: Array = self.passes.variables(w)
        return found

    def weights(self, variables: Array) -> Floats:
        """The weights of the features, shape (n_weights,), from the solver's variables."""
        found: Floats = self.passes.weights(variables)
        return found

    def penalized(self, w: Array) -> Array:
        """The weights that the penalty sees: all but those that are free."""
        return w[: len(w) - self.passes.n_free]

    def penalty_value(self, w: Array) -> float:
        """R(w)."""
        square = getattr(self.passes, "square", None)
        if square is not None:
            return 0.5 * float(square(w))
        return float(self.penalty.value(self.penalized(w)))

    # -- values and derivatives ------------------------------------------------------------------

    def _at(self, w: Array) -> _Evaluation:
        """The loss at w, infinite where scores would overflow; the one seen last is kept."""
        if self._last is None or self._last.w is not w:
            if np.abs(w).max(initial=0.0) <= self._largest:
                value, size, grad = self.passes.evaluate(w)
            else:  # a NaN is no weight either
                value, size, grad = np.inf, np.inf, np.full(w.shape, np.nan)
            self._last = _Evaluation(w, self.C * value, self.C * size, self.C * grad)
        return self._last

    @property
    def _largest(self) -> float:
        """The largest weight with which sums of scores are surely finite."""
        reach = float(getattr(self.passes, "reach", 1.0))  # infinite where it is not known
        room = _ROOM * (max(1.0, reach) if np.isfinite(reach) else 1.0)
        return float(np.finfo(self.dtype).max) / room

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """C sum_i c_i loss_i and its (sub)gradient."""
        at = self._at(w)
        return at.loss, at.grad.copy()

    def value_and_grad(self, w: Array) -> tuple[float, Array]:
        """P(w) and its (sub)gradient."""
        value, grad = self.loss_value_and_grad(w)
        inner = self.penalized(w)
        grad[: len(inner)] += self.penalty.grad(inner)
        return value + float(self.penalty.value(inner)), grad

    def value(self, w: Array) -> float:
        """P(w)."""
        return self.value_and_grad(w)[0] if self.passes.smooth else self.measure(w)[0]

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w by differences of gradients; `scores` are not used."""
        _, grad = self.value_and_grad(w)
        size = _DIFFERENCE[self.dtype.itemsize] * (1.0 + float(np.linalg.norm(w)))

        def apply(v: Array) -> Array:
            step = size / max(float(np.linalg.norm(v)), 1e-300)
            _, moved = self.value_and_grad(w + step * v)
            result: Array = (moved - grad) / step
            return result

        return apply

    @property
    def convexity(self) -> float:
        """m where P - m/2 |w|^2 is known to be convex; else zero."""
        if not self.convex or self.passes.n_free or not self.penalty.smooth:
            return 0.0
        return float(getattr(self.penalty, "curvature", 0.0))

    # -- proofs ----------------------------------------------------------------------------------

    @property
    def noise(self) -> float:
        """How far the value seen last may be off, besides rounding."""
        return self.C * float(self.passes.noise) if self.estimated else self._noise

    @property
    def is_single(self) -> bool:
        """Whether passes are in single precision."""
        return bool(self.passes.is_single)

    def widen(self) -> None:
        """From now on pass over the data in double precision."""
        if self.is_single:
            self.passes.widen()
            self._last = None

    def gap_bound(self, w: Array, grad: Array, value: float) -> float:
        """A proven bound of `value` - min P, rounding included; infinite where there is none.

        The duality gap at the marginals of w: 1/2 |grad P|^2 under an L2 penalty. `value` is P(w)
        as a solver saw it, perhaps in single precision.
        """
        return self._bound(w, value)

    def _bound(self, w: Array, value: float | None) -> float:
        self._noise = 0.0
        if not self.convex or not np.isfinite(self.passes.reach):
            return float("inf")
        at, penalty = self._at(w), self.penalty_value(w)
        if at.loss == 0 and not w.any():
            return 0.0  # every example has one labelling
        if self.is_single:
            near = max(self._tol * (at.loss + penalty), COARSE * (at.size + penalty))
            if self._fenchel(at, 0.0) > near:
                return self._rounded(at, penalty, COARSE)
            self.widen()
            at = self._at(w)
        moved = 0.0 if value is None else abs(value - at.loss - penalty)
        self._noise = moved + ROUNDINGS * EPSILON * (at.size + penalty)
        return self._rounded(at, penalty, EPSILON) + moved

    def _rounded(self, at: _Evaluation, penalty: float, unit: float) -> float:
        off = ROUNDINGS * unit * at.size * float(self.passes.reach)
        return self._fenchel(at, off) + ROUNDINGS * unit * (at.size + penalty)

    def _fenchel(self, at: _Evaluation, off: float) -> float:
        """The duality gap at the marginals of w, with the counts that free weights ask for."""
        missing, u = 0.0, -at.grad
        if self.passes.n_free:
            C = self.C
            missing, u, moved = self.passes.dual_point(at.w, at.loss / C, at.grad / C)
            missing, u, off = C * missing, C * u, off + C * moved
        loss, inner = max(at.loss, 0.0), self.penalized(at.w)
        return fenchel_gap(loss, inner, u, self.penalty, missing=missing, off=off)

    def prove(self, w: Array, lower: float = -np.inf) -> tuple[float, float]:
        """P(w) and a bound of P(w) - min P, in double precision, where min P >= `lower`."""
        self.widen()
        bound = self._bound(w, None)
        value = max(self._at(w).loss, 0.0) + self.penalty_value(w)
        return value, min(bound, max(value - lower, 0.0) + self._noise)

    # -- margin losses ---------------------------------------------------------------------------

    @property
    def example_weights(self) -> Floats:
        """C c_i of every example."""
        weights: Floats = self.C * self.passes.example_weights
        return weights

    def measure(self, w: Array) -> tuple[float, float]:
        """P(w) of margin losses in double precision, and by how much it may be off."""
        penalty = self.penalty_value(w)
        losses, size, slack = self.passes.measure(w)
        off = ROUNDINGS * EPSILON * (penalty + self.C * size)
        return penalty + self.C * losses, off + self.C * slack


#: What features offer for a max operator in place of plain passes.
_KERNELS = {LogSumExp: "likelihood_passes", CostAugmentedMax: "margin_passes"}


def objective_for(
    features: Any,
    inputs: Any,
    labels: CodedLabels,
    operator: Any,
    penalty: Penalty,
    *,
    weights: Floats | None = None,
    scale: Floats | None = None,
    C: float = 1.0,
    tol: float = 0.0,
    n_threads: int = 1,
) -> Any:
    """The objective of labelled examples, by kernels where the features offer them.

    Features that offer a ``score_map``, one row of scores per example, have the objective of flat
    data, and so all of its solvers; others one over passes.

    Parameters
    ----------
    features, inputs, labels, operator, weights, scale, n_threads
        As for `Passes`.
    penalty, C, tol
        As for `StructuredObjective`.

    Returns
    -------
    Objective or StructuredObjective

    Examples
    --------
    >>> from separatrix.structures import Chain, Labels
    >>> examples = (Chain(), [[["a"], ["b"]]], [["A", "B"]]), (Labels(), [[1.0]], ["A"])
    >>> for structure, X, y in examples:
    ...     inputs = structure.read(X)
    ...     labels = structure.codes(y, inputs)
    ...     features = structure.layout(inputs, labels)
    ...     type(objective_for(features, inputs, labels, LogSumExp(), L2())).__name__
    'StructuredObjective'
    'Objective'
    """
    if hasattr(features, "score_map"):
        return Objective(
            features.score_map(inputs, n_threads),
            GeneratedLoss(operator, operator.name),
            penalty,
            labels.codes,
            C=C,
            sample_weight=weights,
            exempt=operator.smooth and features.n_free > 0,
        )
    make = getattr(features, _KERNELS.get(type(operator), ""), None)
    passes: Any
    if make is None:
        passes = Passes(
            features, inputs, labels, operator, weights, scale=scale, n_threads=n_threads
        )
    elif type(operator) is LogSumExp:
        found = strengths(penalty)
        merge = found is not None and found != (0.0, 0.0)
        passes = make(inputs, labels, weights, merge=merge, n_threads=n_threads)
        if merge and type(penalty) is not L2:
            assert found is not None
            penalty = SharedElasticNet(*found, passes.scale)
    else:
        passes = make(
            inputs,
            labels,
            weights,
            cost=cost_of(operator, features.n_labels),
            scale=np.ones(len(inputs)) if scale is None else scale,
            C=C,
            tol=tol,
            n_threads=n_threads,
        )
    return StructuredObjective(passes, penalty, C=C, tol=tol)
