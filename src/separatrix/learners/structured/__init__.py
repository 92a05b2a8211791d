"""Learners of structured outputs: sequences of labels."""

from separatrix.learners.structured.crf import CRF
from separatrix.learners.structured.frequency import LabelPerWord, MajorityLabel
from separatrix.learners.structured.perceptron import StructuredPerceptron
from separatrix.learners.structured.svm import StructuredSVM
from separatrix.structures import Constraints

__all__ = [
    "CRF",
    "Constraints",
    "LabelPerWord",
    "MajorityLabel",
    "StructuredPerceptron",
    "StructuredSVM",
]
