"""Learners of structured outputs: sequences of labels."""

from separatrix.structured.crf import CRF
from separatrix.structured.frequency import LabelPerWord, MajorityLabel
from separatrix.structured.perceptron import StructuredPerceptron
from separatrix.structured.svm import StructuredSVM
from separatrix.structures import Constraints

__all__ = [
    "CRF",
    "Constraints",
    "LabelPerWord",
    "MajorityLabel",
    "StructuredPerceptron",
    "StructuredSVM",
]
