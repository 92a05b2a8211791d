"""E1: a whole job, from documents to a champion that was tuned, fitted again and tested."""

from __future__ import annotations

from functools import partial

from benchmarks import jobs
from benchmarks.spec import Bound, Case, Contender

E1 = Case(
    name="e1",
    title="compare on 20newsgroups: vectorize, tune softmax, SVM and naive Bayes, refit, test",
    data="20newsgroups-text",
    contenders=(
        Contender("separatrix", jobs.prepare, jobs.compare, jobs.read, ours=True),
        Contender(
            "sklearn, lbfgs",
            jobs.prepare,
            partial(jobs.grid_search, solver="lbfgs"),
            jobs.read,
        ),
    ),
    bounds=(Bound("time", must=10, goal=30),),
    cap=300.0,
    note="Both tune eight strengths of softmax and SVM and six of naive Bayes on a quarter of the "
    "train documents. scikit-learn searches with two jobs and fits every winner of a grid again; "
    "ours fits champion and runner-up again, calibrates the champion, scores the train rows of "
    "every setting, draws a learning curve, and looks at the data for leaks and duplicates.",
)

CASES = [E1]
