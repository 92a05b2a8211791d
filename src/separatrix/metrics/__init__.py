"""Measures of distributions, of predicted labels, of probabilities and of labeled sequences."""

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
    "per_class_report",
    "sequence_accuracy",
    "token_accuracy",
    "token_counts",
]
