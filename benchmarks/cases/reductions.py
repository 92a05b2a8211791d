"""R1, R2: one-vs-all and all pairs, judged by the sum of the objectives of their columns."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import ours, peers
from benchmarks.objectives import (
    Objective,
    PairObjective,
    one_vs_all_squared_hinge,
    squared_hinge,
)
from benchmarks.peers import rungs
from benchmarks.spec import Bound, Case, Contender, Setting

_FINE = (1, 0.5, 0.3, 0.2, 0.1, 5e-2, 3e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5)
_TIGHT = Setting("tol=1e-9", {"tol": 1e-9})
_INTERCEPT = "The intercept is a penalized constant feature for everybody, as in LIBLINEAR; C = 1."


def _ours(name: str) -> Contender:
    return Contender(
        "separatrix",
        peers.prepare_float32,
        partial(ours.fit_reduction, name=name),
        ours.read_reduction,
        ours.LADDER,
        ours=True,
    )


def _one_vs_all(name: str, data: str) -> Case:
    linear_svc: Any = partial(peers.fit_estimator, cls="sklearn.svm:LinearSVC", max_iter=1_000_000)
    return Case(
        name=name,
        title=f"one-vs-all squared hinge, {data}",
        data=data,
        objectives=(Objective(one_vs_all_squared_hinge, penalize_intercept=True),),
        contenders=(
            _ours("OneVsAll"),
            Contender(
                "sklearn LinearSVC",
                peers.prepare_float64,
                linear_svc,
                peers.read_estimator,
                rungs(_FINE, default=1e-4),
            ),
            Contender(
                "LIBLINEAR -s 1",
                partial(peers.prepare_liblinear, bias=1.0),
                partial(peers.train_liblinear, solver=1),
                peers.read_liblinear,
                rungs(_FINE, default=0.1),
            ),
        ),
        bounds=(Bound(1e-4, must=4, goal=10), Bound("default", must=4, goal=10)),
        reference=("separatrix", _TIGHT),
        note=_INTERCEPT,
    )


R1A = _one_vs_all("r1a", "sector")
R1B = _one_vs_all("r1b", "20newsgroups")

R2 = Case(
    name="r2",
    title="all pairs squared hinge, sector (5,460 columns)",
    data="sector",
    objectives=(PairObjective(squared_hinge, penalize_intercept=True),),
    contenders=(
        _ours("AllPairs"),
        Contender(
            "sklearn OneVsOne(LinearSVC)",
            peers.prepare_float64,
            peers.fit_pairs,
            peers.read_pairs,
            rungs((1, 0.1, 1e-2, 1e-3, 1e-4, 1e-5), default=1e-4),
        ),
    ),
    bounds=(Bound(1e-4, must=10, goal=30), Bound("default", must=10, goal=30)),
    reference=("separatrix", _TIGHT),
    note=f"{_INTERCEPT} The objective is the sum over all pairs. scikit-learn runs in as many "
    "processes as there are CPUs.",
)

CASES = [R1A, R1B, R2]
