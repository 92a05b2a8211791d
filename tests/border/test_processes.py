"""The thread pool survives a fork, and estimators survive a pickle."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score

from separatrix import MIRA, LinearClassifier, LinearSVM, LogisticRegression, Perceptron

X, Y = load_digits(return_X_y=True)
X = X / 16.0


def fit_and_score(n_jobs):
    return float(LinearSVM(C=0.1, n_jobs=n_jobs, random_state=0).fit(X, Y).score(X, Y))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_fit_in_a_child_after_a_fit_in_the_parent(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{method} does not exist on this system")
    here = fit_and_score(2)
    with multiprocessing.get_context(method).Pool(1) as pool:
        there = pool.apply_async(fit_and_score, (2,)).get(timeout=120)
    assert here == there


@pytest.mark.parametrize(
    "learner", [LogisticRegression, LinearSVM, LinearClassifier, Perceptron, MIRA]
)
def test_pickle_keeps_the_model(learner):
    model = learner(random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_grid_search_and_cross_validation_work():
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3, n_jobs=2).fit(
        X[:500], Y[:500]
    )
    assert search.best_score_ > 0.85
    assert cross_val_score(LinearSVM(C=0.1, random_state=0), X[:500], Y[:500], cv=3).min() > 0.8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_while_a_thread_imports_can_import(tmp_path):
    (tmp_path / "slow_home.py").write_text("import time\ntime.sleep(1)\nvalue = 7\n")
    script = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import separatrix.lazy
separatrix.__path__.append(sys.argv[1])

def value():
    return separatrix.lazy.imported("separatrix", {"value": "slow_home"}, "value")

threading.Thread(target=value).start()
while "separatrix.slow_home" not in sys.modules:
    time.sleep(0.01)
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if value() == 7 else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], timeout=60, check=False)
    assert done.returncode == 0
