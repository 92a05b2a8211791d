"""S1-S3, S5, S6: chunking of conll2000 against CRFsuite, same features, no starts and ends; S8."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import chains
from benchmarks.cases import tagging
from benchmarks.spec import Bound, Case, Contender, Setting
from separatrix.solvers import Lbfgs

#: CRFsuite's c2 = 1.
_C = 0.5
#: Pairs that L-BFGS keeps in S3.
_PAIRS = 6


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
        _ours("CRF", C=_C, solver=Lbfgs(memory=_PAIRS), max_iter=31, tol=1e-12),
        _crfsuite(chains.prepare_lbfgs, c1=0.0, c2=1.0, max_iterations=30, num_memories=_PAIRS),
    ),
    bounds=(Bound("time", must=8, goal=20),),
    note=_NOTE + " Both keep six pairs, CRFsuite's default.",
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

S6 = Case(
    name="s6",
    title="peak memory of a CRF, L2, conll2000, from numbered attributes to weights",
    data="conll2000-sentences",
    contenders=(
        Contender(
            "separatrix",
            chains.prepare_nothing,
            chains.load_and_fit_ours,
            chains.read_memory,
            ours=True,
        ),
        Contender(
            "CRFsuite",
            chains.prepare_nothing,
            chains.load_and_train_crfsuite,
            chains.read_crfsuite,
        ),
    ),
    bounds=(Bound("memory", must=2, goal=4),),
    cap=240.0,
    note="Above what the process held before. CRFsuite is fed as sklearn-crfsuite feeds it: the "
    "caller holds all sentences as lists of strings; ours takes a sparse matrix.",
)


def _hinge(C: float) -> Case:
    """The structured SVM at one C; c2 of c2 |w|^2 + sum of losses is 1 / (2 C)."""
    run = partial(chains.fit_ours, cls="StructuredSVM", C=C)
    wolfe = partial(chains.fit_ours, cls="StructuredSVM", C=C, solver="frank_wolfe", tol=1e-12)
    passes = (15, 30, 60)
    return Case(
        name=f"s8-{C:g}",
        title=f"structured SVM, Hamming, C = {C:g}, conll2000, certified relative duality gap",
        data="conll2000-sentences",
        contenders=(
            Contender(
                "separatrix",
                chains.prepare_ours,
                run,
                chains.read_hinge,
                (
                    Setting("tol=1e-2", {"tol": 1e-2}),
                    Setting("tol=1e-3", {"tol": 1e-3}, default=True),
                ),
                ours=True,
            ),
            Contender(
                "Frank–Wolfe",
                chains.prepare_ours,
                wolfe,
                chains.read_hinge,
                tuple(Setting(f"{n} passes", {"max_iter": n}, default=n == 60) for n in passes),
            ),
        ),
        objectives=(chains.CertifiedGap(C=C),),
        targets=(1e-2, 1e-3),
        bounds=(Bound(1e-2, must=1, goal=1), Bound(1e-3, must=0, goal=1)),
        cap=120.0,
        optima=(1.0,),
        note=(
            "The peer is our own block-coordinate Frank–Wolfe with line search and averaging; the "
            "ratio compares the time of its 60 passes with ours. The objective is one plus the "
            "relative duality gap: P is computed anew, the lower bound is the solver's. C is that "
            "of 1/2 |w|^2 + C sum of losses (c2 = 1 / (2 C) = " + f"{1 / (2 * C):g}). "
            "The score is the F1 of chunks on the test file."
        ),
    )


S8 = [_hinge(C) for C in (0.1, 0.5, 2.0)]

CASES = [S1, S2, S3, S5, S6, *S8]
