"""What all solvers share: the check that they fit the objective."""

from __future__ import annotations

from typing import Any

from separatrix.errors import SolverError
from separatrix.protocols import Solver

__all__ = ["check_needs"]

_WHY = {
    "value_grad": "a differentiable penalty",
    "smooth": "a smooth loss and a differentiable penalty",
    "smooth_loss": "a smooth loss",
    "hvp": "a loss with a second derivative and a differentiable penalty",
    "curvature": "a loss with a second derivative",
    "elastic_net": "an L1, L2 or elastic-net penalty, or none",
    "prox": "a penalty with a proximal step",
    "dual": "an L2 penalty and a loss with a dual kernel (hinge, squared hinge or logistic)",
    "hinge": "the hinge loss under an L2 penalty",
    "dense": "dense data",
    "l2": "an L2 penalty",
    "exact_newton": "an L2 penalty and a convex loss of two classes with a minimum, or softmax on "
    "dense data",
    "chain_dual": "structure='chain' of first order, an L2 penalty, all labels known and no "
    "attributes of edges",
    "chain_margin": "the margin loss and structure='chain'",
    "margin": "the margin loss and another structure than a chain",
}


def check_needs(solver: Solver, objective: Any) -> None:
    """Raise SolverError in plain words unless `objective` offers all that `solver` needs."""
    for need in sorted(solver.needs - objective.can):
        penalty = getattr(objective.penalty, "name", type(objective.penalty).__name__)
        raise SolverError(
            f"{type(solver).__name__} needs {_WHY[need]}; "
            f"loss={objective.name!r} with penalty={penalty!r} does not offer it."
        )
