"""scikit-learn's own checks for the learners of very many classes."""

from separatrix import JointFeatures, ManyClass, SampledSoftmax
from tests.checks import check, each

ESTIMATORS = [
    ManyClass(random_state=0),
    ManyClass(rerank=False, random_state=0),
    JointFeatures(n_features=2**12, random_state=0),
    JointFeatures(n_features=2**12, loss="mira", random_state=0),
    JointFeatures(combine="conjunction", loss="svm", random_state=0),
    SampledSoftmax(2, max_iter=20),
]


@each(ESTIMATORS)
def test_scikit_learn_checks(estimator):
    check(estimator, {})
