"""Learners of structured outputs: sequences of labels."""

from separatrix.learners.structured.frequency import LabelPerWord, MajorityLabel
from separatrix.learners.structured.minimizing import CRF, StructuredSVM
from separatrix.learners.structured.perceptron import StructuredPerceptron
from separatrix.structures import Constraints

__all__ = [
    "CRF",
    "Constraints",
    "LabelPerWord",
    "MajorityLabel",
    "StructuredPerceptron",
    "StructuredSVM",
]
