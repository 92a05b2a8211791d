"""D1: softmax on Dask, from one worker to two, and beside the same passes without a cluster."""

from __future__ import annotations

from functools import partial

from benchmarks import distributed
from benchmarks.spec import Bound, Case, Contender

D1 = Case(
    name="d1",
    title="softmax on Dask, eight times fashion_mnist (480,000 x 784), 30 passes of L-BFGS",
    data="fashion_mnist",
    contenders=(
        Contender(
            "separatrix, two workers",
            partial(distributed.prepare_cluster, n_workers=2),
            distributed.fit_there,
            distributed.read,
            ours=True,
        ),
        Contender(
            "separatrix, one worker",
            partial(distributed.prepare_cluster, n_workers=1),
            distributed.fit_there,
            distributed.read,
        ),
        Contender(
            "separatrix, no cluster, two threads",
            distributed.prepare_here,
            distributed.fit_here,
            distributed.read,
            rival=False,
        ),
    ),
    bounds=(Bound("time", must=1.6, goal=1.9),),
    cap=300.0,
    note="A worker is a process with one thread; 16 partitions lie on the workers before the clock "
    "starts. The time holds everything else: reading labels, agreeing on classes, 30 passes. The "
    "fit without a cluster makes the same passes with two threads: the difference is what Dask "
    "costs.",
)

CASES = [D1]
