"""What differs between kinds of tasks, in one object for each kind."""

from separatrix.experiment.families.base import Family
from separatrix.experiment.families.classes import Classes
from separatrix.experiment.families.label_sets import Sets
from separatrix.experiment.families.quantities import Quantities
from separatrix.experiment.families.sequences import Sequences
from separatrix.registry import Task

__all__ = ["FAMILIES", "Family"]

#: Name of a task -> how it is done.
FAMILIES: dict[Task, Family] = {
    "binary": Classes(),
    "multiclass": Classes(),
    "regression": Quantities(),
    "tagging": Sequences(),
    "label_sets": Sets(),
}
