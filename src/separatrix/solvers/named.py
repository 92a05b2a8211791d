"""Solvers by name, for `solver="..."`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from separatrix.errors import ParameterError
from separatrix.protocols import Solver
from separatrix.solvers.base import check_needs
from separatrix.solvers.choose import Auto, choose
from separatrix.solvers.dual.chain import MEMORY, ChainDualAscent
from separatrix.solvers.dual.coordinate_descent import DualCoordinateDescent
from separatrix.solvers.dual.interior_point import InteriorPoint
from separatrix.solvers.dual.margin import BlockVisits, CachedFrankWolfe, SegmentDualAscent
from separatrix.solvers.primal.exact_newton import ExactNewton
from separatrix.solvers.primal.gradient_descent import GradientDescent
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.primal.newton import NewtonCG
from separatrix.solvers.proximal.gradient import ProximalGradient
from separatrix.solvers.proximal.newton import ProximalNewton
from separatrix.solvers.proximal.owlqn import OwlQn
from separatrix.solvers.row_space import RowSpace
from separatrix.solvers.stochastic.steps import AdaDelta, AdaGrad, Adam, RmsProp, StochasticGradient

__all__ = ["SOLVERS", "make_solver", "make_structured_solver"]

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
