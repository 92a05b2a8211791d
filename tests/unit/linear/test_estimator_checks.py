"""scikit-learn's own checks, for every estimator and its main settings."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import (
    MIRA,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    MajorityClass,
    Perceptron,
    PriorSampling,
)

ESTIMATORS = [
    LogisticRegression(),
    LogisticRegression("l1"),
    LogisticRegression("elasticnet"),
    LinearSVM(),
    LinearClassifier(),
    LinearClassifier("hinge"),
    Perceptron(),
    Perceptron("none"),
    Perceptron("vote"),
    MIRA(),
    MajorityClass(),
    PriorSampling(),
]

ONLINE = "an online path depends on the order and number of rows, it minimizes nothing"


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    if isinstance(estimator, Perceptron | MIRA):
        return {
            "check_sample_weight_equivalence_on_dense_data": ONLINE,
            "check_sample_weight_equivalence_on_sparse_data": ONLINE,
        }
    return {}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)
