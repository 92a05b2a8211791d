"""Where the weights of each kind stand in one vector."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

__all__ = ["sections_of"]


def sections_of(sizes: Mapping[str, int]) -> dict[str, slice]:
    """Consecutive sections of these sizes.

    Examples
    --------
    >>> sections_of({"pairs": 2, "bias": 1})
    {'pairs': slice(0, 2, None), 'bias': slice(2, 3, None)}
    """
    ends = accumulate(sizes.values())
    return {
        name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)
    }
