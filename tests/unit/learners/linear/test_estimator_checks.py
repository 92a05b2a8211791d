"""scikit-learn's own checks, for every estimator and its main settings."""

import pytest

from separatrix import (
    MIRA,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    MajorityClass,
    Perceptron,
    PriorSampling,
)
from tests.checks import check, each

ESTIMATORS = [
    LogisticRegression(tol=1e-13),
    LogisticRegression("l1"),
    LogisticRegression("elasticnet"),
    LinearSVM(tol=1e-13),
    LinearClassifier(tol=1e-13),
    LinearClassifier("hinge", tol=1e-13),
    Perceptron(),
    Perceptron("none"),
    Perceptron("vote"),
    MIRA(),
    MajorityClass(),
    PriorSampling(),
]

PATH = "an online path depends on the order and number of rows, it minimizes nothing"
ONLINE = {
    "check_sample_weight_equivalence_on_dense_data": PATH,
    "check_sample_weight_equivalence_on_sparse_data": PATH,
}


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    if isinstance(estimator, PriorSampling):
        return {"check_classifiers_train": "predictions are drawn, not the likeliest label"}
    return ONLINE if isinstance(estimator, Perceptron | MIRA) else {}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, expected_failures(estimator))
