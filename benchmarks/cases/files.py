"""T4a, T4b: reading files; time from the path to what a learner can use."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.data import Data
from benchmarks.spec import Bound, Case, Contender, Outcome


def prepare_path(data: Data) -> str:
    """Return the path of the file."""
    return str(data.X_train[0])


def read_nothing(path: str, raw: Any) -> Outcome:
    """Only time counts; that the content is the same is for the tests to say."""
    return Outcome()


def read_ours(path: str) -> Any:
    """Run `separatrix.data.read`."""
    return importlib.import_module("separatrix.data").read(path)


def read_ours_as_lists(path: str) -> Any:
    """Run `separatrix.data.read` and make all of it Python lists."""
    data = read_ours(path)
    return data.X.tolist(), data.y.tolist()


def read_sklearn(path: str) -> Any:
    """Run `sklearn.datasets.load_svmlight_file`."""
    return importlib.import_module("sklearn.datasets").load_svmlight_file(path)


def loop(path: str) -> list[list[list[str]]]:
    """Read CoNLL line by line."""
    sentences, tokens = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            if fields:
                tokens.append(fields)
            elif tokens:
                sentences.append(tokens)
                tokens = []
    return [*sentences, tokens] if tokens else sentences


def comprehension(path: str) -> list[list[list[str]]]:
    """Read CoNLL at once and split it."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        groups = stream.read().split("\n\n")
    return [[line.split() for line in group.splitlines()] for group in groups if group]


def _contender(
    name: str, run: Callable[[str], Any], ours: bool = False, rival: bool = True
) -> Contender:
    return Contender(name, prepare_path, run, read_nothing, ours=ours, rival=rival)


T4A = Case(
    name="t4a",
    title="svmlight file, sector train, gzip",
    data="sector.gz",
    contenders=(
        _contender("separatrix.data.read", read_ours, ours=True),
        _contender("sklearn load_svmlight_file", read_sklearn),
    ),
    bounds=(Bound("time", must=3, goal=6),),
    note="From the path to a CSR matrix of float64 and the labels, equal to the bit. "
    "separatrix finds the format and unpacks in the same call.",
)

T4B = Case(
    name="t4b",
    title="CoNLL file, conll2000 train, gzip",
    data="conll2000.gz",
    contenders=(
        _contender("separatrix.data.read", read_ours, ours=True),
        _contender("separatrix.data.read, then lists", read_ours_as_lists, rival=False),
        _contender("Python loop over lines", loop),
        _contender("Python comprehension over the split text", comprehension),
    ),
    bounds=(Bound("time", must=10, goal=30),),
    note="separatrix: every column as one number per token, with the distinct words (what "
    "templates and learners work on) and the sentence bounds, columns checked; words become "
    "Python strings when they are looked at. Peers: lists of lists of lists of str, nothing "
    "checked. The second row makes such lists (of tuples, and of labels) from ours too.",
)

CASES = [T4A, T4B]
