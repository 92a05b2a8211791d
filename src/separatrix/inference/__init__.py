"""Inference over structured outputs: maxima, sums, draws, the k best."""

from separatrix.inference.chain import (
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

__all__ = [
    "ChainMarginals",
    "ChainScores",
    "best_labels",
    "k_best_labels",
    "log_partition",
    "marginals",
    "path_scores",
    "sample_labels",
    "second_order_states",
]
