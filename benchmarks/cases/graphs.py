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

S9 = Case(
    name="s9",
    title="CRF on 100 images of 150 x 200 pixels, two labels: belief propagation",
    data="iris",
    contenders=(
        Contender(
            "separatrix",
            graphs.prepare_images,
            partial(graphs.train_grid, loss="likelihood", n_jobs=2),
            graphs.read_grid,
            ours=True,
        ),
        Contender(
            "pseudo-likelihood",
            graphs.prepare_images,
            partial(graphs.train_grid, loss="pseudo", n_jobs=2),
            graphs.read_grid,
            rival=False,
        ),
        Contender(
            "pixels alone",
            graphs.prepare_images,
            graphs.train_pixels,
            graphs.read_pixels,
            rival=False,
        ),
    ),
    cap=1800.0,
    note="The images are generated. The score is the share of the pixels that are right.",
)

CASES = [S7, S9]
