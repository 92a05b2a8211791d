"""M1, M2, M3: word prediction with tens of thousands of classes, in two corpora, same defaults."""

from __future__ import annotations

from functools import partial

from benchmarks import many_peers as many
from benchmarks.spec import Bound, Case, Contender

_NOTE = (
    "Everybody at their defaults, two threads; the accuracy is P@1. PECOS is XR-Linear with PIFA "
    "embeddings and its own clustering, napkinXC a PLT."
)
_CORPORA = (("a", "words-20newsgroups", "20newsgroups"), ("b", "words-treebank", "Web Treebank"))


def _training(letter: str, data: str, corpus: str) -> Case:
    return Case(
        name=f"m1{letter}",
        title=f"word prediction, {corpus}: training",
        data=data,
        contenders=tuple(
            Contender(
                learner.name,
                learner.prepare,
                learner.train,
                partial(many.read_model, learner=learner),
                ours=learner.train is many.train_ours,
                rival=learner.train is not many.train_napkin,
            )
            for learner in many.LEARNERS
        ),
        bounds=(Bound("time", must=3, goal=7), Bound("accuracy", must=1, goal=1)),
        cap=600.0,
        note=_NOTE,
    )


def _prediction(letter: str, data: str, corpus: str) -> Case:
    return Case(
        name=f"m2{letter}",
        title=f"word prediction, {corpus}: all test rows",
        data=data,
        contenders=tuple(
            Contender(
                learner.name,
                partial(many.prepare_trained, learner=learner),
                partial(many.predict_all, learner=learner),
                many.read_labels,
                ours=learner.train is many.train_ours,
            )
            for learner in many.LEARNERS
        ),
        bounds=(Bound("time", must=5, goal=25),),
        cap=120.0,
        note=f"{_NOTE} Models are trained outside the timing.",
    )


def _size(letter: str, data: str, corpus: str) -> Case:
    return Case(
        name=f"m3{letter}",
        title=f"word prediction, {corpus}: model on disk",
        data=data,
        contenders=tuple(
            Contender(
                learner.name,
                partial(many.prepare_trained, learner=learner),
                partial(many.write, learner=learner),
                many.read_size,
                ours=learner.train is many.train_ours,
            )
            for learner in many.LEARNERS
        ),
        cap=120.0,
        note=f"{_NOTE} The time is that of writing; in the place of the accuracy stands the size "
        "of the files in MB (at most 64 is asked for, 20 is the goal).",
    )


CASES = [make(*corpus) for make in (_training, _prediction, _size) for corpus in _CORPORA]
