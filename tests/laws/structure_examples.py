"""A small problem for each structure, one that users write among them, for the laws."""

import itertools
import re
import runpy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.structures import Chain, Forest, Graph, Grid, Labels, LabelSet, Segments

OWN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "semi_markov.py"), run_name="own")


class Example(NamedTuple):
    """A structure with examples of three or four nodes, and the labellings that there are."""

    structure: Any
    X: Any
    y: Any
    is_labelling: Any = None


def _rows(seed=0, sizes=(3, 4, 2), d=2):
    random = np.random.default_rng(seed)
    return [random.normal(size=(size, d)) for size in sizes]


RING = [(0, 1), (1, 2), (2, 0)]
PATHS = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (1, 3)], [(0, 1)]]
TAGS = [["a", "b", "a"], ["b", "b", "a", "a"], ["a", "b"]]


def _is_segmentation(codes):
    """Whether numbers 2 k + 1 at starts and 2 k inside make segments of two tokens at most."""
    starts = [code % 2 for code in codes]
    longest = max(len(list(run)) for _, run in itertools.groupby(np.cumsum(starts)))
    same = all(b % 2 or a // 2 == b // 2 for a, b in itertools.pairwise(codes))
    return bool(starts[0]) and longest <= 2 and same


def _is_chunking(codes):
    """Whether the tags B-a, B-b, I-a, I-b, O make chunks of a of three tokens, of b of two."""
    tags = ["Ba", "Bb", "Ia", "Ib", "O"]
    word = "".join(tags[code] for code in codes)
    return re.fullmatch("(Ba(Ia){0,2}|Bb(Ib)?|O)+", word) is not None


EXAMPLES = {
    "chain": Example(Chain(), _rows(), TAGS),
    "chain of second order": Example(Chain(order=2, boundaries=False), _rows(), TAGS),
    "forest": Example(Forest(), list(zip(_rows(), PATHS, strict=True)), TAGS),
    "graph": Example(
        Graph(), list(zip(_rows(sizes=(3, 3)), [RING, RING[:2]], strict=True)), TAGS[::1][:1] * 2
    ),
    "grid": Example(
        Grid(shape=(2, 2)),
        np.random.default_rng(0).normal(size=(3, 2, 2, 2)),
        np.random.default_rng(1).integers(2, size=(3, 2, 2)),
    ),
    "label_set": Example(
        LabelSet(),
        np.random.default_rng(0).normal(size=(4, 2)),
        np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]]),
    ),
    "segments": Example(
        Segments(),
        _rows(sizes=(4, 3, 1)),
        [["B-a", "I-a", "I-a", "O"], ["O", "I-b", "I-b"], ["B-a"]],
        _is_chunking,
    ),
    "labels": Example(
        Labels(), np.random.default_rng(0).normal(size=(6, 2)), ["a", "b", "c", "a", "c", "b"]
    ),
    "labels without intercepts": Example(
        Labels(intercept=False), np.random.default_rng(2).normal(size=(4, 3)), [3, 1, 3, 1]
    ),
    "your own": Example(
        OWN["Segments"](2),
        _rows(),
        [[("a", 2), ("b", 1)], [("b", 1), ("b", 2), ("a", 1)], [("a", 2)]],
        _is_segmentation,
    ),
}
