"""S1-S3, S5, S6: chunking of conll2000 against CRFsuite, same features, no starts and ends."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import chains
from benchmarks.cases import tagging
from benchmarks.spec import Bound, Case, Contender, Setting

#: CRFsuite's c2 = 1.
_C = 0.5


def _ours(cls: str, ladder: tuple[Setting, ...] = (Setting("one"),), **params: Any) -> Contender:
    run = partial(chains.fit_ours, cls=cls, **params)
    return Contender("separatrix", chains.prepare_ours, run, chains.read_ours, ladder, ours=True)


def _crfsuite(
    prepare: Any, ladder: tuple[Setting, ...] = (Setting("one"),), **params: Any
) -> Contender:
    run = partial(chains.train_crfsuite, **params)
    return Contender("CRFsuite", prepare, run, chains.read_crfsuite, ladder)


_NOTE = (
    "Attributes are ready as numbers for both, loaded by CRFsuite beforehand; both fits encode "
    "them. The score is the F1 of chunks on the test file."
)

S1 = Case(
    name="s1",
    title="CRF, L2, conll2000 chunking",
    data="conll2000-sentences",
    contenders=(
        _ours(
            "CRF",
            (
                Setting("tol=1e-3", {"tol": 1e-3}),
                Setting("tol=1e-4", {"tol": 1e-4}),
                Setting("tol=1e-5", {"tol": 1e-5}, default=True),
            ),
            C=_C,
        ),
        _crfsuite(
            chains.prepare_lbfgs,
            (
                # Fewer do not come within 1e-4; the default takes about 153.
                Setting("120 iterations", {"max_iterations": 120}),
                Setting("default", {}, default=True),
            ),
            c1=0.0,
            c2=1.0,
        ),
    ),
    objectives=(chains.ChainObjective(C=_C),),
    targets=(1e-3, 1e-4),
    bounds=(Bound(1e-4, must=20, goal=80),),
    cap=240.0,
    quoted=13084.255 / 2,
    note=_NOTE,
)

S2 = Case(
    name="s2",
    title="averaged structured perceptron, ten passes, conll2000",
    data="conll2000-sentences",
    contenders=(
        _ours("StructuredPerceptron", max_iter=10),
        _crfsuite(chains.prepare_perceptron, max_iterations=10, epsilon=0.0),
    ),
    bounds=(Bound("time", must=6, goal=15),),
    note=_NOTE,
)

S3 = Case(
    name="s3",
    title="thirty iterations of L-BFGS, conll2000",
    data="conll2000-sentences",
    contenders=(
        _ours("CRF", C=_C, solver="lbfgs", max_iter=31, tol=1e-12),
        _crfsuite(chains.prepare_lbfgs, c1=0.0, c2=1.0, max_iterations=30),
    ),
    bounds=(Bound("time", must=8, goal=20),),
    note=_NOTE,
)

S5 = Case(
    name="s5",
    title="tagging of the test file of conll2000, attributes ready",
    data="conll2000-sentences",
    contenders=(
        Contender(
            "separatrix",
            chains.prepare_ours_fitted,
            chains.tag_ours,
            chains.read_tags,
            ours=True,
        ),
        Contender(
            "CRFsuite",
            chains.prepare_crfsuite_fitted,
            chains.tag_crfsuite,
            chains.read_tags,
        ),
        *tagging.CONTENDERS,
    ),
    bounds=(Bound("time", must=8, goal=20),),
    note="47,377 tokens; CRFsuite gets its own sequences of items. Rows not in the ratio: from the "
    "gzip file of three columns to tags, attributes made on the way (CRFsuite's in Python).",
)

CASES = [S1, S2, S3, S5]
