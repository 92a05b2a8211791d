"""Measures of distributions, of predicted labels and of predicted probabilities."""

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

__all__ = [
    "Averages",
    "CalibrationBins",
    "ClassReport",
    "accuracy",
    "brier_score",
    "calibration_bins",
    "confusion_matrix",
    "cross_entropy",
    "entropy",
    "expected_calibration_error",
    "expected_cost",
    "kl_divergence",
    "log_loss",
    "per_class_report",
]
