"""Sequences of words whose labels can be told, for the tests of learners on chains."""

from __future__ import annotations

from typing import Any

import dask.bag as db
import numpy as np


def sentences(n: int, places: float = 7) -> tuple[list[Any], list[Any]]:
    """Tokens as dicts, and labels; sevenths keep the values in double precision, eighths do not."""
    generator = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        labels = generator.integers(0, 3, generator.integers(1, 9)).tolist()
        numbers = [10 * label + int(generator.integers(0, 14)) for label in labels]
        X.append([{"word": f"w{number}", "place": t / places} for t, number in enumerate(numbers)])
        y.append([f"L{label}" for label in labels])
    return X, y


def sequence_bags(X: list[Any], y: list[Any], npartitions: int) -> tuple[Any, Any]:
    """The same in partitions."""
    return tuple(db.from_sequence(part, npartitions=npartitions) for part in (X, y))
