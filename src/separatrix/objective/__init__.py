"""Where scores, loss, penalty and weights of the data meet, and nowhere else."""

from separatrix.objective.flat import Objective
from separatrix.objective.passes import Passes, PseudoLikelihood
from separatrix.objective.structured import StructuredObjective, objective_for

__all__ = ["Objective", "Passes", "PseudoLikelihood", "StructuredObjective", "objective_for"]
