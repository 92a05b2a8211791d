"""Structures of outputs: a map from weights to scores, with its inference."""

from separatrix.structures.chain import Chain, observed_chain
from separatrix.structures.encoded import EncodedChains, make_csr
from separatrix.structures.graph import PairwiseGraph

__all__ = ["Chain", "EncodedChains", "PairwiseGraph", "make_csr", "observed_chain"]
