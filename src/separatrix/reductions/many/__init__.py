"""Very many classes: trees over the labels, and softmax regression in blocks."""

from __future__ import annotations

from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.label_tree import LabelTree
from separatrix.reductions.many.softmax import SampledSoftmax

__all__ = ["Candidates", "LabelTree", "SampledSoftmax"]
