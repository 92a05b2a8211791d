"""Helpers of sklearn-crfsuite."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

__all__ = ["flatten"]


def flatten(y: Iterable[Iterable[Any]]) -> list[Any]:
    """All items of all sequences in one list.

    Examples
    --------
    >>> flatten([[1, 2], [3, 4]])
    [1, 2, 3, 4]
    """
    return list(chain.from_iterable(y))
