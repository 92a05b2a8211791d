"""S7: a sweep of belief propagation on an image of two labels against a memory copy."""

from __future__ import annotations

from functools import partial

from benchmarks import graphs
from benchmarks.spec import Bound, Case, Contender

S7 = Case(
    name="s7",
    title="100 sweeps of belief propagation, image of 2000 x 2000, two labels, one thread",
    data="iris",
    contenders=(
        Contender(
            "separatrix",
            graphs.prepare_sweeps,
            partial(graphs.sweep, n_threads=1),
            graphs.read_sweeps,
            ours=True,
        ),
        Contender("memory copy", graphs.prepare_copy, graphs.copy, graphs.read_copy),
    ),
    bounds=(Bound("time", must=0, goal=0.5),),
    note=(
        "The image is generated. A sweep reads and writes four messages per pixel and reads one "
        "number, 36 bytes; the copy moves as many. Setting up and reading off the messages count."
    ),
)

CASES = [S7]
