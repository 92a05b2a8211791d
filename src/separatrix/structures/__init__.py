"""Structures of outputs: a map from weights to scores, with its inference."""

from separatrix.structures.chain import Chain
from separatrix.structures.chain_features import ChainFeatures
from separatrix.structures.constraints import Constraints
from separatrix.structures.encoded import EncodedChains
from separatrix.structures.graph import PairwiseGraph
from separatrix.structures.label_graph import LabelGraph
from separatrix.structures.label_set import LabelSet
from separatrix.structures.operations import Best, Sums
from separatrix.structures.shapes import STRUCTURES, Forest, Graph, Grid, structure_named
from separatrix.structures.token_labels import CodedLabels

__all__ = [
    "STRUCTURES",
    "Best",
    "Chain",
    "ChainFeatures",
    "CodedLabels",
    "Constraints",
    "EncodedChains",
    "Forest",
    "Graph",
    "Grid",
    "LabelGraph",
    "LabelSet",
    "PairwiseGraph",
    "Sums",
    "structure_named",
]
