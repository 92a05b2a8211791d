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
    from separatrix.structures.graph.scores import GraphScores

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


#: Images of the training benchmark, and their shape.
IMAGES, SHAPE = 100, (150, 200)


def prepare_images(data: Data) -> Any:
    """Ellipses under noise of twice their contrast: two channels, two labels."""
    random = np.random.default_rng(0)
    rows, columns = np.mgrid[: SHAPE[0], : SHAPE[1]]
    images, labels = [], []
    for _ in range(IMAGES):
        center, axes = random.uniform((45, 60), (105, 140)), random.uniform(25, 60, size=2)
        inside = ((rows - center[0]) / axes[0]) ** 2 + ((columns - center[1]) / axes[1]) ** 2 < 1
        noise = random.normal(size=(2, *SHAPE))
        images.append(np.stack([0.5 * inside + noise[0], noise[1]], axis=2))
        labels.append(inside.astype(np.int64))
    return images, labels


def train_grid(prepared: Any, *, loss: str, n_jobs: int) -> Any:
    """A CRF with Potts weights by direction."""
    from separatrix import CRF, Grid

    images, labels = prepared
    return CRF(Grid(), loss=loss, C=0.01, tol=1e-3, n_jobs=n_jobs).fit(images, labels)


def train_pixels(prepared: Any) -> Any:
    """The same pixels without neighbors."""
    from separatrix import LogisticRegression

    images, labels = prepared
    pixels = np.concatenate([image.reshape(-1, image.shape[2]) for image in images])
    return LogisticRegression(C=0.01).fit(pixels, np.concatenate(labels).ravel())


def read_grid(prepared: Any, model: Any) -> Outcome:
    """Share of the pixels of the first ten images that are right, by marginals."""
    images, labels = prepared
    found = model.predict_minimum_risk(images[:10])
    score = float(np.mean([np.mean(a == b) for a, b in zip(found, labels[:10], strict=True)]))
    return Outcome(passes=float(model.solution_.n_passes), score=score)


def read_pixels(prepared: Any, model: Any) -> Outcome:
    """The same for pixels alone."""
    images, labels = prepared
    pixels = np.concatenate([image.reshape(-1, image.shape[2]) for image in images[:10]])
    score = float(model.score(pixels, np.concatenate(labels[:10]).ravel()))
    return Outcome(passes=float(model.solution_.n_passes), score=score)
