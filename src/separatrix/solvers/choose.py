"""Picks a solver for an objective by its parts and its shape, and says why."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.dual.chain import MEMORY, ChainDualAscent
from separatrix.solvers.dual.interior_point import InteriorPoint
from separatrix.solvers.dual.margin import CachedFrankWolfe, SegmentDualAscent
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.primal.newton import NewtonCG
from separatrix.solvers.primal.preconditioner import dense_values
from separatrix.solvers.proximal.gradient import ProximalGradient
from separatrix.solvers.proximal.newton import ProximalNewton
from separatrix.solvers.proximal.owlqn import OwlQn
from separatrix.solvers.row_space import RowSpace

if TYPE_CHECKING:
    from separatrix.protocols import Solver

__all__ = ["Auto", "choose", "describe"]

#: Multiply-adds up to which forming and factoring the Hessian is cheap.
_CHEAP_HESSIAN = 2e8
#: Rows up to which their Gram matrix is cheap beside passes over the data.
_FEW_ROWS = 400
#: n (d K)^2 up to which the systems of an interior-point method are cheap.
_CHEAP_INTERIOR = 2e9
#: Features up to which Gram matrices are worth their factorization.
_GRAM_FEATURES = 4000
#: Features above which dense data count as high-dimensional: fewer rows than features.
_TALL = 1.0


def choose(objective: Objective) -> Solver:
    """The solver that fits `objective` best; a pure function of its parts and shape."""
    return _choose(objective)[0]


def describe(objective: Objective) -> str:
    """What `choose` picks, and why, in one line."""
    solver, why = _choose(objective)
    return f"{type(solver).__name__}: {why}"


def _choose(objective: Objective) -> tuple[Solver, str]:
    can = objective.can
    if "prox" not in can:
        return _by_passes(can)
    if "smooth_loss" in can and not objective.regularizer.smooth:
        if ProximalNewton().fits(objective):
            return ProximalNewton(), "the penalty has a kink and the loss a second derivative"
        return ProximalGradient(), "the penalty has a kink, which a proximal step handles"
    n_rows = objective.n_rows
    few = n_rows <= _FEW_ROWS and 2 * n_rows <= objective.weight_shape[0]
    if few and RowSpace.needs <= can:
        return RowSpace(), "far fewer rows than columns: the problem has as many columns as rows"
    if "smooth" not in can:
        return _without_gradient(objective)
    X = dense_values(objective)
    rows, n_scores = objective.weight_shape
    if "hvp" in can and X is not None:
        work = n_rows * (rows * n_scores) ** 2 / 2 + (rows * n_scores) ** 3 / 3
        if NewtonCG().is_exact(objective) and work <= _CHEAP_HESSIAN:
            return NewtonCG(), "few weights and dense data: the Hessian is cheap to factor"
        if rows <= _GRAM_FEATURES and n_rows >= _TALL * rows:
            return Lbfgs(
                memory=20, precondition=True
            ), "dense data: Gram matrices precondition the steps"
    if "dual" in can:
        return _dual(), "many features and a loss with a dual kernel"
    if "hvp" in can:
        return NewtonCG(), "a smooth loss without a dual kernel"
    return Lbfgs(), "a smooth loss that offers gradients only"


def _by_passes(can: frozenset[str]) -> tuple[Solver, str]:
    """For structures: scores of their parts are not kept from step to step."""
    if "chain_dual" in can:
        return ChainDualAscent(), "the likelihood of a chain, which has a dual kernel"
    if "chain_margin" in can:
        return SegmentDualAscent(), "the margin loss of a chain, which has a dual kernel"
    if "margin" in can:
        return CachedFrankWolfe(), "a margin loss without a dual kernel"
    if "smooth" in can:
        return Lbfgs(memory=MEMORY), "a smooth loss that offers gradients only"
    return OwlQn(memory=MEMORY), "the penalty has a kink, and the loss offers gradients only"


def _without_gradient(objective: Objective) -> tuple[Solver, str]:
    if "dual" in objective.can:
        weights = float(np.prod(objective.weight_shape))
        work = objective.n_rows * weights**2 + weights**3
        if {"hinge", "dense"} <= objective.can and work <= _CHEAP_INTERIOR:
            return InteriorPoint(), "the loss has a kink, few weights and dense data"
        return _dual(), "the loss has a kink and a dual kernel"
    from separatrix.solvers.stochastic.steps import StochasticGradient

    solver: Solver = StochasticGradient()
    return solver, "the loss has a kink and no dual kernel"


def _dual() -> Solver:
    from separatrix.solvers.dual.coordinate_descent import DualCoordinateDescent

    solver: Solver = DualCoordinateDescent()
    return solver


@dataclass(frozen=True)
class Auto:
    """Runs what `choose` picks; `Solution.solver` says what that was.

    A dual method that stalls (large C on badly scaled data) hands its weights to Newton's method
    where the loss is smooth.

    Attributes
    ----------
    seed : int
        For solvers that shuffle.
    start : ndarray or None
        Dual variables to start from, for dual solvers.
    """

    seed: int = 0
    start: Array | None = None

    needs: ClassVar[frozenset[str]] = frozenset()

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize with the solver that fits the objective."""
        solver, _ = _choose(objective)
        can_hand_over = "hvp" in objective.can
        settings = {
            "seed": self.seed,
            "start": self.start,
            "give_up_when_stalled": can_hand_over,
        }
        known = {field.name for field in fields(solver)}  # type: ignore[arg-type]
        solver = replace(solver, **{k: v for k, v in settings.items() if k in known})  # type: ignore[type-var]
        first = solver.minimize(objective, w0, monitor)
        stalled = first.stopped is StopReason.BUDGET and first.n_passes < monitor.max_passes
        if not (stalled and "give_up_when_stalled" in known and can_hand_over):
            return first
        monitor.offset += first.n_passes
        second = NewtonCG().minimize(objective, first.w, monitor)
        return second._replace(
            n_passes=first.n_passes + second.n_passes,
            solver=f"{first.solver}, then {second.solver}",
        )
