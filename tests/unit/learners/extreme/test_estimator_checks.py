"""scikit-learn's own checks for the learners of very many classes."""

from separatrix import LabelTree, SampledSoftmax
from tests.checks import check, each

ESTIMATORS = [
    LabelTree(random_state=0),
    LabelTree(2, loss="svm", random_state=0),
    LabelTree(2, loss="perceptron"),
    SampledSoftmax(2, max_iter=20),
]

ORDER = "nodes are solved to a tolerance, in an order that depends on the number of rows"


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    if isinstance(estimator, LabelTree):
        return {
            "check_sample_weight_equivalence_on_dense_data": ORDER,
            "check_sample_weight_equivalence_on_sparse_data": ORDER,
        }
    return {}


@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, expected_failures(estimator))
