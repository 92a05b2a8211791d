"""F7d, F7e: small data and single rows, where overhead is everything."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import peers
from benchmarks.spec import Bound, Case, Contender

_LR = "sklearn.linear_model:LogisticRegression"
_SVC = "sklearn.svm:LinearSVC"


def _fit_predict(name: str, cls: str, rival: bool = True, **params: Any) -> Contender:
    run = partial(peers.fit_predict, cls=cls, **params)
    mine = cls.startswith("separatrix")
    read = peers.read_fit_predict
    return Contender(name, peers.prepare_float32, run, read, ours=mine, rival=rival)


def _row(name: str, cls: str, **params: Any) -> Contender:
    prepare = partial(peers.prepare_row, cls=cls, **params)
    mine = cls.startswith("separatrix")
    return Contender(name, prepare, peers.predict_row, peers.read_row, ours=mine)


def _logistic(data: str) -> Case:
    return Case(
        name=f"f7d-{data}-logistic",
        title=f"fit + predict, {data}, logistic",
        data=data,
        contenders=(
            _fit_predict("separatrix", "separatrix:LogisticRegression"),
            _fit_predict("sklearn lbfgs", _LR, max_iter=10_000),
            _fit_predict("sklearn newton-cg", _LR, solver="newton-cg", max_iter=10_000),
            _fit_predict("sklearn newton-cholesky", _LR, solver="newton-cholesky", max_iter=10_000),
        ),
        bounds=(Bound("time", must=1, goal=3),),
        note="Default tolerances, C = 1.",
    )


def _svm(data: str) -> Case:
    return Case(
        name=f"f7d-{data}-svm",
        title=f"fit + predict, {data}, linear SVM",
        data=data,
        contenders=(
            _fit_predict("separatrix", "separatrix:LinearSVM"),
            _fit_predict(
                "sklearn LinearSVC Crammer-Singer",
                _SVC,
                multi_class="crammer_singer",
                max_iter=100_000,
            ),
            _fit_predict("sklearn LinearSVC one-vs-rest", _SVC, rival=False, max_iter=100_000),
        ),
        bounds=(Bound("time", must=1, goal=3),),
        note="Default tolerances, C = 1. One-vs-rest solves another, easier problem.",
    )


def _latency(kind: str, data: str) -> Case:
    return Case(
        name=f"f7e-{kind}",
        title=f"predict one row, {kind} ({data})",
        data=data,
        contenders=(
            _row("separatrix", "separatrix:LogisticRegression", tol=1e-3),
            _row("sklearn LogisticRegression", _LR, max_iter=1000),
            _row("sklearn LinearSVC", _SVC, tol=1e-2),
        ),
        bounds=(Bound("time", must=1, goal=10),),
        note="Time of `predict(X[:1])` on a fitted model.",
    )


CASES = [
    _logistic("iris"),
    _logistic("digits"),
    _svm("iris"),
    _svm("digits"),
    _latency("dense", "digits"),
    _latency("sparse", "imdb"),
]
