"""Sweeps of belief propagation over a large image, and the memory copy they are held against."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.spec import Outcome

#: Pixels along a side, and sweeps in a run: setting up is a small part of it.
SIDE, SWEEPS = 2000, 100
#: A sweep reads and writes four messages per pixel and reads a ratio, in float32; a copy that
#: moves as many bytes reads half of them and writes half.
COPIED = SIDE * SIDE * (4 + 4 + 1) * 4 // 2


def prepare_sweeps(data: Data) -> Any:
    """A square image with pairs of almost critical strength, where messages settle slowly."""
    from separatrix.data import Graphs
    from separatrix.inference.graphs import GraphScores

    unary = np.random.default_rng(0).normal(scale=0.01, size=(SIDE * SIDE, 2))
    return GraphScores.of(Graphs.grids([(SIDE, SIDE)]), unary, 0.69 * np.eye(2))


def sweep(scores: Any, *, n_threads: int) -> Any:
    """Messages after so many sweeps."""
    from separatrix._core import grid_messages

    graphs = scores.graphs
    settings = ("colored", 0.0, 0.0, SWEEPS)
    arrays = scores.arrays
    _, (_, iterations, _) = grid_messages(
        graphs.wiring, arrays, list(graphs.shapes), False, settings, None, n_threads
    )
    return int(iterations[0])


def read_sweeps(scores: Any, iterations: int) -> Outcome:
    """The number of sweeps, all of which must have been made."""
    if iterations != SWEEPS:
        raise RuntimeError(f"{iterations} sweeps instead of {SWEEPS}")
    return Outcome(passes=float(iterations))


def prepare_copy(data: Data) -> Any:
    """Two stretches of memory."""
    return np.ones(COPIED, dtype=np.uint8), np.zeros(COPIED, dtype=np.uint8)


def copy(memory: Any) -> int:
    """Copy the one to the other as often as there are sweeps."""
    source, target = memory
    for _ in range(SWEEPS):
        np.copyto(target, source)
    return SWEEPS


def read_copy(memory: Any, copies: int) -> Outcome:
    """The number of copies."""
    return Outcome(passes=float(copies))
