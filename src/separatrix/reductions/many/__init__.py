"""Very many classes: trees over labels, candidates and their ranking, softmax in blocks."""

from __future__ import annotations

from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.joint_features import JointFeatures
from separatrix.reductions.many.label_tree import LabelTree
from separatrix.reductions.many.many_class import ManyClass
from separatrix.reductions.many.softmax import SampledSoftmax

__all__ = ["Candidates", "JointFeatures", "LabelTree", "ManyClass", "SampledSoftmax"]
