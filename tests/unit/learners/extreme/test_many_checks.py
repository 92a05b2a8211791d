"""scikit-learn's own checks."""

from separatrix import JointFeatures, ManyClass
from tests.checks import check, each

ESTIMATORS = [
    ManyClass(random_state=0),
    ManyClass("tree", random_state=0),
    ManyClass(rerank=False, random_state=0),
    JointFeatures(n_features=2**12, random_state=0),
    JointFeatures(n_features=2**12, loss="mira", random_state=0),
    JointFeatures(combine="conjunction", loss="svm", random_state=0),
]

EMPTY_ROW = "its data have a row of zeros, which is an error: it says nothing about its label"
WITH_EMPTY_ROWS = (
    "check_estimators_dtypes",
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_fit2d_1feature",
)


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    return dict.fromkeys(WITH_EMPTY_ROWS, EMPTY_ROW) if isinstance(estimator, ManyClass) else {}


@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, expected_failures(estimator))
