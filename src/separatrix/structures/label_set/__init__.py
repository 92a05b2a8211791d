"""Sets of labels: a node per label, present or absent; features and inference."""

from separatrix.structures.label_set.structure import LabelGraph, LabelSet

__all__ = ["LabelGraph", "LabelSet"]
