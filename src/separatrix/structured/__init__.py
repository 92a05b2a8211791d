"""Learners of structured outputs: sequences of labels."""

from separatrix.structured.constraints import Constraints
from separatrix.structured.crf import CRF
from separatrix.structured.perceptron import StructuredPerceptron
from separatrix.structured.svm import StructuredSVM

__all__ = ["CRF", "Constraints", "StructuredPerceptron", "StructuredSVM"]
