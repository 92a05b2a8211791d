"""Ctrl-C stops a fit that would run for hours; `on_interrupt="keep"` keeps the weights."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
from separatrix import LinearClassifier, LinearSVM, LogisticRegression, Perceptron

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 60))
y = rng.integers(0, 5, size=len(X))
learner = {learner}
sent = []

def press():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(1.0, press).start()
try:
    learner.fit(X, y)
    outcome = "kept" if hasattr(learner, "coef_") and np.isfinite(learner.coef_).all() else "lost"
    outcome += " " + learner.solution_.stopped.value
except KeyboardInterrupt:
    outcome = "raised"
print(outcome, f"{{time.perf_counter() - sent[0]:.2f}}" if sent else "finished early")
"""

LONG = "tol=1e-300, max_iter=10**6, random_state=0"


@pytest.mark.parametrize(
    "learner",
    [
        f"LogisticRegression({LONG}{{keep}})",
        f"LogisticRegression(solver='lbfgs', {LONG}{{keep}})",
        f"LinearSVM({LONG}{{keep}})",
        f"LinearClassifier('hinge', solver='sgd', {LONG}{{keep}})",
        "Perceptron(max_iter=10**6, random_state=0{keep})",
    ],
)
@pytest.mark.parametrize("keep", [False, True])
def test_interrupt(learner, keep):
    text = learner.format(keep=", on_interrupt='keep'" if keep else "")
    script = textwrap.dedent(SCRIPT).format(learner=text)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    *outcome, seconds = done.stdout.split()
    assert outcome == (["kept", "interrupted"] if keep else ["raised"])
    print(f"stopped {seconds} s after the signal")  # no bound: the machine may be busy
