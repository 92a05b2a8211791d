"""Very many classes: trees over the labels."""

from __future__ import annotations

from separatrix.reductions.many.candidates import Candidates
from separatrix.reductions.many.label_tree import LabelTree

__all__ = ["Candidates", "LabelTree"]
