"""Measures of distributions, predicted labels, probabilities, rankings and labeled sequences."""

from separatrix.metrics.metric import Metric, Outcome, ratio_of_means
from separatrix.metrics.predictions import (
    Averages,
    ClassReport,
    accuracy,
    confusion_matrix,
    cross_entropy,
    entropy,
    expected_cost,
    kl_divergence,
    per_class_report,
)
from separatrix.metrics.probabilities import (
    CalibrationBins,
    brier_score,
    calibration_bins,
    expected_calibration_error,
    log_loss,
)
from separatrix.metrics.ranking import (
    ndcg_at_k,
    precision_at_k,
    propensities,
    propensity_scored_ndcg_at_k,
    propensity_scored_precision_at_k,
    rank_scores,
    top_k_accuracy,
)
from separatrix.metrics.scorers import scorer
from separatrix.metrics.sequences import (
    ChunkReport,
    chunk_counts,
    chunk_f1,
    chunk_report,
    chunks,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)

__all__ = [
    "Averages",
    "CalibrationBins",
    "ChunkReport",
    "ClassReport",
    "Metric",
    "Outcome",
    "accuracy",
    "brier_score",
    "calibration_bins",
    "chunk_counts",
    "chunk_f1",
    "chunk_report",
    "chunks",
    "confusion_matrix",
    "cross_entropy",
    "entropy",
    "expected_calibration_error",
    "expected_cost",
    "kl_divergence",
    "log_loss",
    "ndcg_at_k",
    "per_class_report",
    "precision_at_k",
    "propensities",
    "propensity_scored_ndcg_at_k",
    "propensity_scored_precision_at_k",
    "rank_scores",
    "ratio_of_means",
    "scorer",
    "sequence_accuracy",
    "token_accuracy",
    "token_counts",
    "top_k_accuracy",
]
