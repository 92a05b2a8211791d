"""Structures of outputs: a map from weights to scores, with its inference."""

from separatrix.structures.chain import Chain, observed_chain
from separatrix.structures.encoded import EncodedChains, make_csr
from separatrix.structures.graph import PairwiseGraph
from separatrix.structures.label_graph import LabelGraph
from separatrix.structures.label_set import LabelSet
from separatrix.structures.shapes import Forest, Graph, Grid, structure_named

__all__ = [
    "Chain",
    "EncodedChains",
    "Forest",
    "Graph",
    "Grid",
    "LabelGraph",
    "LabelSet",
    "PairwiseGraph",
    "make_csr",
    "observed_chain",
    "structure_named",
]
