"""The tree in which answers of partitions are merged: its shape depends on their number alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["joined_tuples", "merged", "tuple_of"]

#: Children of a node.
_FAN_IN = 8


def merged(
    merge: Callable[..., Any],
    nodes: list[Any],
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda call: call,
) -> Any:
    """Merge neighbors, and what comes out of that, until one is left."""
    call = wrap(merge)
    while True:
        nodes = [call(*nodes[i : i + _FAN_IN]) for i in range(0, len(nodes), _FAN_IN)]
        if len(nodes) == 1:
            return nodes[0]
        if merge is tuple_of:
            call = wrap(joined_tuples)


def tuple_of(*values: Any) -> tuple[Any, ...]:
    """The values, in order."""
    return values


def joined_tuples(*values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The members of all tuples, in order."""
    return tuple(member for value in values for member in value)
