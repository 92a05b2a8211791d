"""S10-S12: the drop-in for sklearn-crfsuite beside it, from Python lists to weights and labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from benchmarks import taggers
from benchmarks.chains import chain_likelihood
from benchmarks.data import Data, IntArray
from benchmarks.objectives import Loss, Objective
from benchmarks.spec import Bound, Case, Contender, Outcome, Setting

_C1 = _C2 = 0.1


@lru_cache(maxsize=1)
def _corpus(name: str) -> Any:
    """Train and test items and labels of a corpus, or of so many generated labels."""
    if name.isdecimal():
        return *taggers.many_labels(int(name)), *taggers.many_labels(int(name), 1)
    return taggers.load(name)


@dataclass(frozen=True)
class TaggerObjective(Objective):
    """c1 |w|_1 + c2 |w|^2 - log-likelihood, in double precision, from weights by name."""

    loss: Loss = chain_likelihood
    corpus: str = ""
    c1: float = 0.0
    c2: float = 0.0

    def __call__(self, coef: Any, intercept: Any, X: Any, y: IntArray) -> float:
        """The value on the train sentences."""
        items, labels, *_ = _corpus(self.corpus)
        return taggers.objective(coef, intercept, items, labels, self.c1, self.c2)


def prepare(data: Data, corpus: str) -> Any:
    """The lists of a corpus."""
    return _corpus(corpus)


def fit(prepared: Any, *, peer: str, **params: Any) -> Any:
    """A model, from lists of dicts."""
    X, y, *_ = prepared
    return taggers.make(peer, **params).fit(X, y)


def read_fit(prepared: Any, model: Any) -> Outcome:
    """Weights by name, and the share of test tokens that are right."""
    *_, X, y = prepared
    weights = (model.state_features_, model.transition_features_)
    return Outcome(models=(weights,), score=float(model.score(X, y)))


def prepare_fitted(data: Data, corpus: str, peer: str, strings: bool) -> Any:
    """A perceptron of three passes, and the test items."""
    X, y, X_test, y_test = taggers.load(corpus, strings=strings)
    return taggers.make(peer, algorithm="ap", max_iterations=3).fit(X, y), X_test, y_test


def predict(prepared: Any) -> Any:
    """Labels of the test items."""
    return prepared[0].predict(prepared[1])


def read_labels(prepared: Any, found: Any) -> Outcome:
    """Share of the test tokens that are right."""
    pairs = [
        (a, b)
        for row, truth in zip(found, prepared[2], strict=True)
        for a, b in zip(row, truth, strict=True)
    ]
    return Outcome(score=sum(a == b for a, b in pairs) / len(pairs))


def _elastic(corpus: str) -> Case:
    common = {"c1": _C1, "c2": _C2}
    few = tuple(Setting(f"{n} passes", {"max_iterations": n}) for n in (30, 40, 60))
    return Case(
        name=f"s10-{corpus}",
        title=f"CRF, c1 = c2 = 0.1, {corpus}, from lists of dicts",
        data="conll2000-sentences",
        contenders=(
            Contender(
                "separatrix",
                partial(prepare, corpus=corpus),
                partial(fit, peer="separatrix", **common),
                read_fit,
                (*few, Setting("100 passes", {"max_iterations": 100}, default=True)),
                ours=True,
            ),
            Contender(
                "CRFsuite",
                partial(prepare, corpus=corpus),
                partial(fit, peer="CRFsuite", **common),
                read_fit,
                (Setting("100 iterations", {"max_iterations": 100}, default=True),),
            ),
        ),
        objectives=(TaggerObjective(corpus=corpus, c1=_C1, c2=_C2),),
        targets=(1e-1, 1e-2, 1e-3),
        bounds=(Bound("default", must=15, goal=30),),
        cap=300.0,
        reference=("separatrix", Setting("reference", {"max_iterations": 500, "delta": 1e-6})),
        note="Features and settings of sklearn-crfsuite's tutorial; both encode the lists. The "
        "score is the share of test tokens that are right.",
    )


def _predictions(corpus: str, strings: bool) -> Case:
    kind = "str" if strings else "dicts"
    return Case(
        name=f"s11-{corpus}-{'str' if strings else 'dict'}",
        title=f"labels of the test file of {corpus}, from lists of {kind}",
        data="conll2000-sentences",
        contenders=tuple(
            Contender(
                peer,
                partial(prepare_fitted, corpus=corpus, peer=peer, strings=strings),
                predict,
                read_labels,
                ours=peer == "separatrix",
            )
            for peer in taggers.PEERS[::-1]
        ),
        bounds=(Bound("time", must=2, goal=4),),
        note="The tutorial's features of every token, made beforehand; the score is the share of "
        "tokens that are right.",
    )


def _many(K: int) -> Case:
    return Case(
        name=f"s12-{K}",
        title=f"CRF, c2 = 1, {K} labels (generated), from lists of dicts",
        data="conll2000-sentences",
        contenders=(
            Contender(
                "separatrix",
                partial(prepare, corpus=str(K)),
                partial(fit, peer="separatrix", c2=1.0),
                read_fit,
                (
                    Setting("delta=1e-2", {"delta": 1e-2}),
                    Setting("delta=1e-3", {"delta": 1e-3}),
                    Setting("default", {}, default=True),
                ),
                ours=True,
            ),
            Contender(
                "CRFsuite",
                partial(prepare, corpus=str(K)),
                partial(fit, peer="CRFsuite", c2=1.0),
                read_fit,
                (
                    Setting("30 iterations", {"max_iterations": 30}),
                    Setting("100 iterations", {"max_iterations": 100}, default=True),
                ),
            ),
        ),
        objectives=(TaggerObjective(corpus=str(K), c2=1.0),),
        targets=(1e-2, 1e-3),
        bounds=(Bound(1e-2, must=5, goal=15),),
        cap=300.0,
        reference=("separatrix", Setting("reference", {"delta": 1e-7})),
        note="2,000 sentences whose labels follow each other by a chain with about ten likely "
        "successors of each; transitions that were seen have a weight. The score is the share of "
        "test tokens that are right.",
    )


CASES = [
    *(_elastic(corpus) for corpus in taggers.CORPORA),
    *(_predictions(corpus, strings) for corpus in taggers.CORPORA for strings in (False, True)),
    *(_many(K) for K in (126, 300, 1000)),
]
