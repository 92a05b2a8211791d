"""Very many classes: trees over labels, candidates and their ranking, softmax in blocks."""

from __future__ import annotations

from separatrix.learners.extreme.candidates import Candidates
from separatrix.learners.extreme.joint_features import JointFeatures
from separatrix.learners.extreme.label_tree import LabelTree
from separatrix.learners.extreme.many_class import ManyClass
from separatrix.learners.extreme.softmax import SampledSoftmax

__all__ = ["Candidates", "JointFeatures", "LabelTree", "ManyClass", "SampledSoftmax"]
