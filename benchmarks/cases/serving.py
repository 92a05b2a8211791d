"""E2: serving a text model to 64 connections."""

from __future__ import annotations

from functools import partial

from benchmarks import serving
from benchmarks.spec import Bound, Case, Contender

E2 = Case(
    name="e2",
    title="20newsgroups, 7,532 requests of a document each over 64 connections",
    data="20newsgroups-text",
    contenders=(
        Contender(
            "separatrix serve", serving.prepare_ours, serving.answer_all, serving.read, ours=True
        ),
        Contender(
            "FastAPI + sklearn, threads", serving.prepare_plain, serving.answer_all, serving.read
        ),
        Contender(
            "FastAPI + sklearn, event loop",
            partial(serving.prepare_plain, path="/predict-on-the-loop"),
            serving.answer_all,
            serving.read,
        ),
    ),
    bounds=(Bound("time", must=2, goal=5),),
    cap=300.0,
    note="Both services run uvicorn with uvloop and httptools in one process, without an access "
    "log, serve the same weights and answer with the label and 20 probabilities. Ours predicts "
    "requests that arrive together in one call. `python -m benchmarks.serving` also prints p99.",
)

CASES = [E2]
