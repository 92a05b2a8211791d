"""G2: Bayesian linear regression with evidence-chosen noise and prior."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import peers
from benchmarks.objectives import Objective, squared
from benchmarks.spec import Bound, Case, Contender, Setting


def _estimator(name: str, cls: str, **params: Any) -> Contender:
    run = partial(peers.fit_estimator, cls=cls, **params)
    mine = cls.startswith("separatrix")
    ladder = (Setting("default", default=True),)
    return Contender(name, peers.prepare_float32, run, peers.read_estimator, ladder, ours=mine)


G2 = Case(
    name="g2",
    title="Bayesian linear regression by evidence, 10^6 x 100",
    data="regression",
    objectives=(Objective(squared),),
    targets=(1e-6,),
    contenders=(
        _estimator("separatrix", "separatrix:BayesianLinearRegression"),
        _estimator("sklearn BayesianRidge", "sklearn.linear_model:BayesianRidge"),
    ),
    bounds=(Bound(1e-6, must=10, goal=25),),
    cap=300.0,
    note=(
        "Generated, float64. Both choose the noise and the strength of the prior by evidence; the "
        "objective shown, ridge with unit strength, tells that they found the same weights."
    ),
)

CASES = [G2]
