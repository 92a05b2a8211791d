"""Structures of outputs: from weights to scores and back, with their inference."""

from separatrix.structures.chain import Chain, ChainFeatures, Constraints
from separatrix.structures.coded_labels import CodedLabels
from separatrix.structures.graph import FactorGraph, Forest, Graph, Grid, PairwiseGraph
from separatrix.structures.inference import Best, Sums
from separatrix.structures.label_set import LabelGraph, LabelSet
from separatrix.structures.labels import FlatFeatures, Labels
from separatrix.structures.named import STRUCTURES, structure_named
from separatrix.structures.segments import SegmentFeatures, Segments

__all__ = [
    "STRUCTURES",
    "Best",
    "Chain",
    "ChainFeatures",
    "CodedLabels",
    "Constraints",
    "FactorGraph",
    "FlatFeatures",
    "Forest",
    "Graph",
    "Grid",
    "LabelGraph",
    "LabelSet",
    "Labels",
    "PairwiseGraph",
    "SegmentFeatures",
    "Segments",
    "Sums",
    "structure_named",
]
