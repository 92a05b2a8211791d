"""Very many classes: candidates, their ranking, the best of them."""

from __future__ import annotations

from separatrix.learners.extreme.joint_features import JointFeatures
from separatrix.learners.extreme.many_class import ManyClass
from separatrix.learners.extreme.ranking import TopLabels
from separatrix.learners.extreme.softmax import SampledSoftmax

__all__ = ["JointFeatures", "ManyClass", "SampledSoftmax", "TopLabels"]
