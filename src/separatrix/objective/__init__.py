"""Where scores, loss, penalty and weights of the data meet, and nowhere else."""

from separatrix.objective.flat import Objective
from separatrix.objective.passes import Passes, PseudoLikelihood, passes_for
from separatrix.objective.structured import StructuredObjective

__all__ = ["Objective", "Passes", "PseudoLikelihood", "StructuredObjective", "passes_for"]
