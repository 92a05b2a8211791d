"""How sure a comparison is: credible accuracies, and the probability that A beats B.

Probabilities are split in three by a region of practical equivalence (rope): A better by more than
the rope, a difference within it, B better by more than it.
"""

from separatrix.bayes.comparison.folds import correlated_t_test, sign_test
from separatrix.bayes.comparison.paired import (
    AccuracyInterval,
    accuracy_interval,
    compare_predictions,
)
from separatrix.bayes.comparison.result import ModelComparison

__all__ = [
    "AccuracyInterval",
    "ModelComparison",
    "accuracy_interval",
    "compare_predictions",
    "correlated_t_test",
    "sign_test",
]
