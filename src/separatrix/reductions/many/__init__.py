"""Very many classes: trees over the labels; candidates first, then a closer look at them."""

from __future__ import annotations

from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.joint_features import JointFeatures
from separatrix.reductions.many.label_tree import LabelTree
from separatrix.reductions.many.many_class import ManyClass

__all__ = ["Candidates", "JointFeatures", "LabelTree", "ManyClass"]
