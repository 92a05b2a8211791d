"""Solvers by name, for `solver="..."`."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from separatrix.errors import ParameterError
from separatrix.protocols import Solver
from separatrix.solvers.auto import Auto
from separatrix.solvers.dual import DualCoordinateDescent
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.newton import NewtonCG
from separatrix.solvers.owlqn import OwlQn
from separatrix.solvers.proximal import ProximalGradient
from separatrix.solvers.proximal_newton import ProximalNewton
from separatrix.solvers.stochastic import AdaDelta, AdaGrad, Adam, RmsProp, StochasticGradient

__all__ = ["SOLVERS", "make_solver"]

SOLVERS: dict[str, type[Any]] = {
    "auto": Auto,
    "dual": DualCoordinateDescent,
    "interior_point": InteriorPoint,
    "newton": NewtonCG,
    "lbfgs": Lbfgs,
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


def make_solver(solver: str | Solver, *, seed: int) -> Solver:
    """The solver of that name, or the object itself; `seed` goes to those named that use one."""
    if isinstance(solver, str):
        if solver not in SOLVERS:
            raise ParameterError(f"solver must be one of {tuple(SOLVERS)}, got {solver!r}")
        made: Solver = SOLVERS[solver]()
        if any(field.name == "seed" for field in fields(made)):  # type: ignore[arg-type]
            made = replace(made, seed=seed)  # type: ignore[type-var]
        return made
    if not isinstance(solver, Solver):
        raise ParameterError(
            f"solver must be a name or keep the contract protocols.Solver, got {solver!r}"
        )
    return solver
