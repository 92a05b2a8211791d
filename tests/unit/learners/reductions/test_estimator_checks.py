"""scikit-learn's own checks, for the reductions over learners of ours and of scikit-learn."""

import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from separatrix import AllPairs, LogisticRegression, OneVsAll, OutputCode
from separatrix.learners.reductions import ClassNumbers
from tests.checks import check, each

ESTIMATORS = [
    OneVsAll(),
    OneVsAll(LogisticRegression(), shared=False),
    OneVsAll(Ridge()),
    AllPairs(LogisticRegression()),
    AllPairs(decode="tournament"),
    AllPairs(GaussianNB(), coupling="hastie_tibshirani"),
    OutputCode(random_state=0),
    OutputCode(code="all_pairs", decode="hamming"),
    OutputCode(LogisticRegression(), code="exhaustive"),
    OutputCode(code="confusion", random_state=0),
    ClassNumbers(),
]

SPLIT = "the split into rows for the code and rows to hold out depends on the number of rows"


def expected_failures(estimator):
    """Checks that do not apply, each with the reason in one line."""
    if getattr(estimator, "code", None) == "confusion":
        return {
            "check_sample_weight_equivalence_on_dense_data": SPLIT,
            "check_sample_weight_equivalence_on_sparse_data": SPLIT,
        }
    return {}


@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, expected_failures(estimator))


@pytest.mark.parametrize("estimator", [OneVsAll(), AllPairs(), OutputCode()])
def test_the_default_learner_is_ours(estimator):
    assert "LinearSVM" in repr(estimator._base())
