"""scikit-learn's own checks, as far as they hand in label sets."""

import pytest

from separatrix import FrequentLabels, ManyLabels, MultiLabel
from tests.checks import check, each

CLASSES = "hands in a column of class numbers, not a binary matrix"
LISTS = "hands in a binary matrix as lists, which are lists of labels here"
NOT_SETS = {
    "check_estimators_dtypes": CLASSES,
    "check_sample_weights_pandas_series": CLASSES,
    "check_sample_weights_not_an_array": CLASSES,
    "check_sample_weights_shape": CLASSES,
    "check_sample_weights_not_overwritten": CLASSES,
    "check_dtype_object": CLASSES,
    "check_estimator_sparse_array": CLASSES,
    "check_estimator_sparse_matrix": CLASSES,
    "check_classifier_data_not_an_array": CLASSES,
    "check_classifiers_one_label": CLASSES,
    "check_classifiers_one_label_sample_weights": CLASSES,
    "check_classifiers_classes": CLASSES,
    "check_classifiers_train": CLASSES,
    "check_classifiers_regression_target": CLASSES,
    "check_classifier_not_supporting_multiclass": CLASSES,
    "check_fit2d_1feature": CLASSES,
    "check_decision_proba_consistency": CLASSES,
    "check_classifiers_multilabel_representation_invariance": LISTS,
}


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@each([MultiLabel(tol=1e-12), ManyLabels(random_state=0), FrequentLabels()])
def test_scikit_learn_checks(estimator):
    check(estimator, NOT_SETS)
