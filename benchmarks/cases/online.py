"""F7a-F7c: one pass of the online learners over imdb; time alone counts, accuracy is shown."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import peers
from benchmarks.spec import Bound, Case, Contender

_SGD = "sklearn.linear_model:SGDClassifier"
_ROWS = 25_000  # of imdb; alpha = 1 / (n C) turns C = 1 into scikit-learn's convention


def _learner(name: str, cls: str, **params: Any) -> Contender:
    run = partial(peers.fit_estimator, cls=cls, **params)
    mine = cls.startswith("separatrix")
    return Contender(name, peers.prepare_float32, run, peers.read_estimator, ours=mine)


def _sgd(name: str, **params: Any) -> Contender:
    return _learner(name, _SGD, max_iter=1, tol=None, random_state=0, **params)


def _vowpal(options: str) -> Contender:
    run = partial(peers.train_vowpal, options=options)
    return Contender("vowpalwabbit " + options, peers.prepare_vowpal, run, peers.read_vowpal)


_BOUND = (Bound("time", must=2, goal=5),)
_VOWPAL_NOTE = (
    " Vowpal Wabbit reads its binary cache file, written beforehand: there is no faster way in."
)

F7A = Case(
    name="f7a",
    title="perceptron, one pass, imdb",
    data="imdb",
    contenders=(
        _learner(
            "separatrix", "separatrix:Perceptron", averaging="none", max_iter=1, random_state=0
        ),
        _sgd(
            "sklearn SGDClassifier perceptron",
            loss="perceptron",
            learning_rate="constant",
            eta0=1.0,
            penalty=None,
        ),
        _vowpal("--loss_function hinge --sgd"),
    ),
    bounds=_BOUND,
    note="Rows shuffled, no averaging." + _VOWPAL_NOTE,
)

F7B = Case(
    name="f7b",
    title="MIRA, one pass, imdb",
    data="imdb",
    contenders=(
        _learner("separatrix", "separatrix:MIRA", C=1.0, max_iter=1, random_state=0),
        _sgd(
            "sklearn SGDClassifier pa1",
            loss="hinge",
            learning_rate="pa1",
            eta0=1.0,
            penalty=None,
        ),
        _vowpal("--loss_function hinge --sgd"),
    ),
    bounds=_BOUND,
    note="C = 1, rows shuffled. separatrix moves on mistakes and averages the weights too; the "
    "peers move on every row within the margin and do not average." + _VOWPAL_NOTE,
)

F7C = Case(
    name="f7c",
    title="logistic SGD, one pass, imdb",
    data="imdb",
    contenders=(
        _learner(
            "separatrix",
            "separatrix:LinearClassifier",
            loss="logistic",
            penalty="l2",
            solver="sgd",
            max_iter=1,
            random_state=0,
        ),
        _sgd("sklearn SGDClassifier", loss="log_loss", alpha=1.0 / _ROWS),
        _vowpal("--loss_function logistic --sgd"),
        _vowpal("--loss_function logistic"),
    ),
    bounds=_BOUND,
    note="C = 1, rows shuffled." + _VOWPAL_NOTE,
)

CASES = [F7A, F7B, F7C]
