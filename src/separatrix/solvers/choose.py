"""Solvers by name, and the one that fits an objective best, by its parts and shape, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.errors import ParameterError
from separatrix.objective import Objective
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.costs import Shape, seconds_of
from separatrix.solvers.dual.chain import MEMORY, ChainDualAscent
from separatrix.solvers.dual.coordinate_descent import DualCoordinateDescent
from separatrix.solvers.dual.interior_point import InteriorPoint
from separatrix.solvers.dual.margin import BlockVisits, CachedFrankWolfe, SegmentDualAscent
from separatrix.solvers.primal.exact_newton import ExactNewton
from separatrix.solvers.primal.gradient_descent import GradientDescent
from separatrix.solvers.primal.hessian import has_hessian
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.primal.newton import NewtonCG
from separatrix.solvers.proximal.gradient import ProximalGradient
from separatrix.solvers.proximal.newton import ProximalNewton
from separatrix.solvers.proximal.owlqn import OwlQn
from separatrix.solvers.row_space import RowSpace
from separatrix.solvers.stochastic.steps import AdaDelta, AdaGrad, Adam, RmsProp, StochasticGradient

__all__ = ["SOLVERS", "Auto", "choose", "describe", "make_solver", "make_structured_solver", "rank"]

#: Weights per score up to which a square matrix of them is made at all.
_GRAM_FEATURES = 4000
#: Weights up to which the Hessian of all of them is formed.
_SMALL_HESSIAN = 3000
#: Passes of Newton steps and of plain L-BFGS after which another solver has its turn: several times
#: what `costs` expects.
_PATIENCE: dict[Any, float] = {ExactNewton: 200.0, Lbfgs: 150.0}


class Candidate(NamedTuple):
    """A solver that fits, with the seconds that it should take and the reason to take it."""

    seconds: float
    solver: Solver
    why: str


def choose(objective: Objective) -> Solver:
    """The solver that fits `objective` best; a pure function of its parts and shape."""
    return rank(objective)[0].solver


def describe(objective: Objective) -> str:
    """What `choose` picks, why, and the seconds that those which fit should take."""
    ranked = rank(objective)
    words = f"{type(ranked[0].solver).__name__}: {ranked[0].why}"
    known = [one for one in ranked if math.isfinite(one.seconds)]
    if len(known) > 1:
        costs = (f"{type(one.solver).__name__} {1e3 * one.seconds:.3g} ms" for one in known)
        words += f" (predicted: {', '.join(costs)})"
    return words


def rank(objective: Objective) -> list[Candidate]:
    """All that come into question, the fastest first."""
    can = objective.can
    if "prox" not in can:
        return [Candidate(0.0, *_by_passes(can))]
    if "smooth_loss" in can and not objective.penalty.smooth:
        if ProximalNewton().fits(objective):
            why = "the penalty has a kink and the loss a second derivative"
            return [Candidate(0.0, ProximalNewton(), why)]
        why = "the penalty has a kink, which a proximal step handles"
        return [Candidate(0.0, ProximalGradient(), why)]
    if not hasattr(getattr(objective, "score_map", None), "intercept"):
        return [_without_shape(objective)]
    shape = Shape.of(objective)
    found = _on(shape, objective)
    if RowSpace.needs <= can and 2 * shape.n <= shape.d:
        inner = min(_on(shape.of_rows, objective), default=None, key=lambda one: one.seconds)
        if inner is not None:
            seconds = seconds_of("gram_of_rows", shape) + inner.seconds
            why = "far fewer rows than columns: the problem has as many columns as rows"
            found.append(Candidate(seconds, RowSpace(), why))
    ranked = sorted(found, key=lambda one: one.seconds)
    if ("hvp" in can and not shape.dense) or not found:
        # Where all others stall.
        ranked.append(_without_shape(objective)._replace(seconds=math.inf))
    return ranked


def _on(shape: Shape, objective: Objective) -> list[Candidate]:
    """Those that fit the parts of the objective, on data of this shape."""
    can, found = objective.can, []

    def add(cost: str, solver: Solver, why: str) -> None:
        found.append(Candidate(seconds_of(cost, shape), solver, why))

    if "dual" in can and not (shape.dense and shape.smooth):
        # Smooth losses on dense data have methods without chance: equal fits give equal weights.
        add("dual", DualCoordinateDescent(), "a loss with a dual kernel")
    if ExactNewton.needs <= can and shape.d * shape.k <= _SMALL_HESSIAN:
        add("exact_newton", ExactNewton(), "few weights: Hessians are cheap to sum and to factor")
    if "hinge" in can and shape.dense and shape.k > 1 and shape.d * shape.k <= _SMALL_HESSIAN:
        add("interior_point", InteriorPoint(), "the loss has a kink, few weights and dense data")
    if "hvp" in can and "dense" in can and shape.dense:
        exact = NewtonCG()
        if has_hessian(objective) and shape.d * shape.k <= exact.exact_limit:
            add("newton", exact, "few weights and dense data: the Hessian is cheap to factor")
        if shape.d <= _GRAM_FEATURES and shape.n >= shape.d:
            why = "dense data: Gram matrices precondition the steps"
            add("preconditioned", Lbfgs(memory=20, precondition=True), why)
        add("lbfgs", Lbfgs(memory=20), "dense data, of which Gram matrices cost more than passes")
    return found


def _without_shape(objective: Objective) -> Candidate:
    """For data that lie elsewhere, or losses that kernels do not know."""
    can = objective.can
    if "smooth" not in can:
        return Candidate(0.0, StochasticGradient(), "the loss has a kink and no dual kernel")
    if "hvp" in can:
        return Candidate(0.0, NewtonCG(), "a smooth loss without a dual kernel")
    return Candidate(0.0, Lbfgs(), "a smooth loss that offers gradients only")


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


@dataclass(frozen=True)
class Auto:
    """Runs what `choose` picks; `Solution.solver` says what that was.

    A solver that falls far behind, a dual method whose gap stalls (large C on badly scaled data) or
    Newton steps that get nowhere, hands its weights to the next one that fits.

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
        ranked = rank(objective)
        first, others = ranked[0], _successors(ranked[1:])
        budget = monitor.max_passes
        if others:
            patience = _PATIENCE.get(type(first.solver), math.inf)
            monitor.max_passes = min(budget, monitor.offset + patience)
        solver = self._set(first.solver, give_up=bool(others))
        solution = solver.minimize(objective, w0, monitor)
        monitor.max_passes = budget
        short = solution.stopped is StopReason.BUDGET
        short = short and monitor.offset + solution.n_passes < budget and not monitor.late
        stuck = solution.stopped is StopReason.PRECISION and objective.dtype == np.float64
        if not others or not (short or stuck):
            return solution
        monitor.offset += solution.n_passes
        second = self._set(others[0]).minimize(objective, solution.w, monitor)
        if second.gap > solution.gap:
            second = second._replace(
                w=solution.w, gap=solution.gap, objective=solution.objective, dual=solution.dual
            )
        return second._replace(
            n_passes=solution.n_passes + second.n_passes,
            solver=f"{solution.solver}, then {second.solver}",
        )

    def _set(self, solver: Solver, *, give_up: bool = False) -> Solver:
        settings = {"seed": self.seed, "start": self.start, "give_up_when_stalled": give_up}
        known = {field.name for field in fields(solver)}  # type: ignore[arg-type]
        chosen: Solver = replace(solver, **{k: v for k, v in settings.items() if k in known})  # type: ignore[type-var]
        return chosen


def _successors(ranked: list[Candidate]) -> list[Solver]:
    """Solvers that go on from the weights of another; one that cannot, but begins again, is last.

    What stalls one stalls the dual too: badly scaled columns, large C.
    """
    solvers = [one.solver for one in ranked if not isinstance(one.solver, RowSpace)]
    return sorted(solvers, key=lambda one: "dual" in one.needs)


SOLVERS: dict[str, type[Any]] = {
    "auto": Auto,
    "dual": DualCoordinateDescent,
    "interior_point": InteriorPoint,
    "newton": NewtonCG,
    "exact_newton": ExactNewton,
    "lbfgs": Lbfgs,
    "row_space": RowSpace,
    "owlqn": OwlQn,
    "gradient_descent": GradientDescent,
    "proximal": ProximalGradient,
    "proximal_newton": ProximalNewton,
    "sgd": StochasticGradient,
    "adagrad": AdaGrad,
    "adadelta": AdaDelta,
    "rmsprop": RmsProp,
    "adam": Adam,
}


#: For structures: of one name the first that fits the objective, likelihoods and margin losses.
_LIKELIHOOD: dict[str, tuple[Any, ...]] = {
    "dual": (ChainDualAscent(),),
    "lbfgs": (Lbfgs(memory=MEMORY),),
    "owlqn": (OwlQn(memory=MEMORY),),
}
_MARGIN: dict[str, tuple[Any, ...]] = {
    "dual": (SegmentDualAscent(),),
    "frank_wolfe": (BlockVisits("frank_wolfe"), CachedFrankWolfe()),
    "subgradient": (BlockVisits("subgradient"),),
}


def make_structured_solver(solver: str | Solver, objective: Any, *, seed: int) -> Solver:
    """The solver of that name for the objective of a structure, or the object itself.

    ParameterError names those that there are; SolverError what the objective lacks.
    """
    if not isinstance(solver, str):
        return make_solver(solver, seed=seed)
    if not hasattr(objective, "passes"):
        found = make_solver(solver, seed=seed)
        check_needs(found, objective)
        return found
    table = _LIKELIHOOD if objective.passes.smooth else _MARGIN
    names = ("auto", *table)
    if solver not in names:
        raise ParameterError(f"solver must be one of {names}, got {solver!r}")
    if solver == "auto":
        return _seeded(choose(objective), seed)
    fitting = [one for one in table[solver] if one.needs <= objective.can]
    made: Solver = (fitting or table[solver])[0]
    check_needs(made, objective)
    return _seeded(made, seed)


def _seeded(solver: Solver, seed: int) -> Solver:
    if any(field.name == "seed" for field in fields(solver)):  # type: ignore[arg-type]
        solver = replace(solver, seed=seed)  # type: ignore[type-var]
    return solver


def make_solver(solver: str | Solver, *, seed: int) -> Solver:
    """The solver of that name, or the object itself; `seed` goes to those named that use one."""
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {tuple(SOLVERS)}, got {solver!r}")
        return _seeded(SOLVERS[solver](), seed)
    if not isinstance(solver, Solver):
        raise ParameterError(
            f"solver must be a name or keep the contract protocols.Solver, got {solver!r}"
        )
    return solver
