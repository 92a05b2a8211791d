"""Ctrl-C stops a fit under way; `on_interrupt="keep"` keeps the weights."""

import subprocess
import sys

# One process for all of them: what is tried is the signal, not the start of Python.
SCRIPT = """
import os, signal, threading, time
import numpy as np
from sklearn.base import clone
from separatrix import LinearClassifier, LinearSVM, LogisticRegression, Perceptron

rng = np.random.default_rng(0)
X = rng.normal(size=(50_000, 60))
y = (X @ rng.normal(size=(60, 5))).argmax(1)
LONG = dict(C=1e6, tol=1e-300, max_iter=10**6, random_state=0)
learners = {
    "newton": LogisticRegression(**LONG),
    "lbfgs": LogisticRegression(solver="lbfgs", **LONG),
    "svm": LinearSVM(**LONG),
    "sgd": LinearClassifier("hinge", solver="sgd", **LONG),
    "perceptron": Perceptron(max_iter=10**6, random_state=0),
}
for name, learner in learners.items():
    begin = time.perf_counter()
    clone(learner).set_params(max_iter=1).fit(X, y)
    one_pass = time.perf_counter() - begin  # the fit is under way then, on machines of any speed
    for action in ("raise", "keep"):
        learner.set_params(on_interrupt=action)
        press = threading.Timer(one_pass, os.kill, (os.getpid(), signal.SIGINT))
        press.start()
        start, finished = time.perf_counter(), False
        try:
            learner.fit(X, y)
            finished = True
            press.join()
            kept = hasattr(learner, "coef_") and np.isfinite(learner.coef_).all()
            outcome = ("kept" if kept else "lost") + " " + learner.solution_.stopped.value
        except KeyboardInterrupt:
            outcome = "late" if finished else "raised"
        print(name, action, outcome, f"{time.perf_counter() - start:.2f}", flush=True)
"""


def test_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    print(done.stdout)  # how long each took: no bound, the machine may be busy
    outcomes = {tuple(line.split()[:2]): line.split()[2:-1] for line in done.stdout.splitlines()}
    names = ("newton", "lbfgs", "svm", "sgd", "perceptron")
    assert outcomes == {
        (name, action): ["raised"] if action == "raise" else ["kept", "interrupted"]
        for name in names
        for action in ("raise", "keep")
    }
