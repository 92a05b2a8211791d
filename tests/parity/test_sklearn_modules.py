"""The test modules of scikit-learn, run on the classes of `separatrix.compat.sklearn`.

What fails is listed with its cause; anything else that fails, and a cause that no longer holds, is
a failure here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Module -> cause -> names of the tests that fail for it (without parameters).
CAUSES: dict[str, dict[str, set[str]]] = {
    "sklearn.tests.test_naive_bayes": {},
    "sklearn.tests.test_discriminant_analysis": {},
    "sklearn.tests.test_multiclass": {},
    "sklearn.linear_model.tests.test_bayes": {},
    "sklearn.svm.tests.test_svm": {
        "any solver serves any penalty and loss but l1 with hinge, whose message is ours": {
            "test_linearsvc_parameters",
        },
        "intercept_scaling is refused": {"test_dense_liblinear_intercept_handling"},
        "two passes suffice for what there takes more": {"test_linear_svm_convergence_warnings"},
    },
    "sklearn.feature_extraction.tests.test_text": {
        "the last bit of a product differs": {"test_tfidf_vectorizer_setter"},
        "stop words in upper case are told in words of our own": {
            "test_vectorizer_stop_words_inconsistent"
        },
    },
    "sklearn.linear_model.tests.test_perceptron": {
        "a penalty of the perceptron is refused": {"test_perceptron_l1_ratio"},
    },
    "sklearn.linear_model.tests.test_logistic": {
        "every solver takes every penalty, and 64-bit indices": {
            "test_check_solver_option",
            "test_elasticnet_l1_ratio_err_helpful",
            "test_large_sparse_matrix",
            "test_liblinear_with_large_values",
        },
        "one solver serves all names, so that there is no state or message of theirs": {
            "test_liblinear_dual_random_state",
            "test_max_iter",
            "test_newton_cholesky_fallback_to_lbfgs",
            "test_logistic_regression_callback_support",
            "test_warm_start_newton_solver",
        },
        "weights of two solvers are equal at tol=1e-2 only where they take the same steps": {
            "test_elastic_net_l1_l2_equivalence",
        },
        "weights agree with those of scikit-learn's other functions to about five digits": {
            "test_consistency_path",
            "test_logistic_cv",
            "test_logistic_cv_multinomial_score",
            "test_logistic_regression_cv_refit",
            "test_LogisticRegressionCV_on_folds",
        },
        "max_iter=0 is refused": {"test_zero_max_iter"},
        "intercept_scaling is refused": {"test_liblinear_not_stuck"},
        "float32 stays float32": {"test_dtype_match"},
        "penalty is not deprecated here": {
            "test_penalty_deprecated",
            "test_l1_ratio_None_deprecated",
            "test_l1_ratio_non_elasticnet",
            "test_lr_penalty_l1ratio_incompatible",
            "test_logisticregression_warns_with_n_jobs",
        },
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("module", CAUSES)
def test_what_fails_has_a_cause(module):
    options = ["-q", "--tb=no", "-rf", "--import-mode=prepend", "-p", "no:cacheprovider"]
    adapter = ["-p", "tests.parity.sklearn_adapter", "-c", "/dev/null"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *adapter, "--pyargs", module],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert " passed" in run.stdout, run.stdout + run.stderr
    failed = set(re.findall(r"^FAILED \S*::(\w+)", run.stdout, re.MULTILINE))
    assert failed == set().union(*CAUSES[module].values())
