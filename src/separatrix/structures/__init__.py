"""Structures of outputs: a map from weights to scores, with its inference."""

from separatrix.structures.chain import Chain, observed_chain
from separatrix.structures.encoded import EncodedChains, make_csr

__all__ = ["Chain", "EncodedChains", "make_csr", "observed_chain"]
