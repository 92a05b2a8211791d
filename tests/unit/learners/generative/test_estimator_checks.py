"""scikit-learn's own checks, for the generative classifiers and the calibration."""

import pytest

from separatrix import Calibrated, GaussianDiscriminant, LinearSVM, LogisticRegression, NaiveBayes
from tests.checks import check, each

ESTIMATORS = [
    NaiveBayes(),
    NaiveBayes("gaussian"),
    NaiveBayes("bernoulli", binarize=0.5),
    GaussianDiscriminant(),
    GaussianDiscriminant(shrinkage="auto"),
    GaussianDiscriminant(shared_covariance=False, shrinkage=0.1),
    Calibrated(LogisticRegression(), random_state=0),
    Calibrated(LinearSVM(random_state=0), "sigmoid", random_state=0),
    Calibrated(GaussianDiscriminant(shrinkage=0.1), "isotonic", random_state=0),
]

SPLIT = "the split into rows to fit and rows to calibrate depends on the number of rows"
ROWS = {
    "check_sample_weight_equivalence_on_dense_data": SPLIT,
    "check_sample_weight_equivalence_on_sparse_data": SPLIT,
}


POINTS = "every class is a single point there: it has no density, and the error says so"
WIDE = "more columns than rows: the covariance is singular, and the error says so"


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    if isinstance(estimator, Calibrated):
        return ROWS
    if isinstance(estimator, NaiveBayes) and estimator.features == "bernoulli":
        return {"check_classifiers_train": "blobs of points are more than on or off"}
    if isinstance(estimator, GaussianDiscriminant) and estimator.shared_covariance:
        failures = {"check_sample_weights_shape": POINTS}
        if estimator.shrinkage is None:
            failures["check_sample_weights_not_overwritten"] = WIDE
            failures["check_sample_weight_equivalence_on_dense_data"] = WIDE
            failures["check_sample_weight_equivalence_on_sparse_data"] = WIDE
        return failures
    return {}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, expected_failures(estimator))
