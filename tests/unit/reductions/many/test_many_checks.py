"""scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from separatrix import JointFeatures, ManyClass

ESTIMATORS = [
    ManyClass(),
    ManyClass("tree"),
    ManyClass(rerank=False),
    JointFeatures(n_features=2**12),
    JointFeatures(n_features=2**12, learner="mira"),
    JointFeatures(combine="conjunction", learner="svm"),
]


@parametrize_with_checks(ESTIMATORS)
def test_check(estimator, check):
    check(estimator)
