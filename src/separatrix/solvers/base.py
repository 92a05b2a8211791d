"""What all solvers share: the check that they fit the objective."""

from __future__ import annotations

from separatrix.errors import SolverError
from separatrix.objective import Objective
from separatrix.protocols import Solver

__all__ = ["check_needs"]

_WHY = {
    "value_grad": "a differentiable regularizer",
    "smooth": "a smooth loss and a differentiable regularizer",
    "smooth_loss": "a smooth loss",
    "hvp": "a loss with a second derivative and a differentiable regularizer",
    "curvature": "a loss with a second derivative",
    "elastic_net": "an L1, L2 or elastic-net penalty, or none",
    "prox": "a regularizer with a proximal step",
    "dual": "an L2 penalty and a loss with a dual kernel (hinge, squared hinge or logistic)",
    "hinge": "the hinge loss under an L2 penalty",
    "dense": "dense data",
}


def check_needs(solver: Solver, objective: Objective) -> None:
    """Raise SolverError in plain words unless `objective` offers all that `solver` needs."""
    for need in sorted(solver.needs - objective.can):
        loss = getattr(objective.loss, "name", type(objective.loss).__name__)
        regularizer = getattr(objective.regularizer, "name", type(objective.regularizer).__name__)
        raise SolverError(
            f"{type(solver).__name__} needs {_WHY[need]}; "
            f"loss={loss!r} with regularizer={regularizer!r} does not offer it."
        )
