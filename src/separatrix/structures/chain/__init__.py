"""Chains of labels: features, scores and inference (maxima, sums, draws, the k best)."""

from separatrix.structures.chain.constraints import Constraints
from separatrix.structures.chain.inference import (
    ChainMarginals,
    ChainScores,
    best_labels,
    k_best_labels,
    log_partition,
    marginals,
    path_scores,
    sample_labels,
    second_order_states,
)
from separatrix.structures.chain.structure import Chain, ChainFeatures

__all__ = [
    "Chain",
    "ChainFeatures",
    "ChainMarginals",
    "ChainScores",
    "Constraints",
    "best_labels",
    "k_best_labels",
    "log_partition",
    "marginals",
    "path_scores",
    "sample_labels",
    "second_order_states",
]
