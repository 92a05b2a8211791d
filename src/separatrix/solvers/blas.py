"""Holds BLAS to few threads."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads"]


class _Hold:
    """Who holds BLAS at the moment, in all threads: the number belongs to the process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.before: list[int] = []


_HOLD = _Hold()


@cache
def _libraries() -> list[Any]:
    return [
        library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"
    ]


@contextlib.contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Within the block BLAS uses `n_threads` threads; a block within another changes nothing.

    The matrices here are small: waking a second thread costs more than it saves, and where the
    machine is shared it spins for its turn, which was seen to cost a hundredfold. The first block
    to begin sets the number and the last to end restores it, in whatever thread they run.
    """
    with _HOLD.lock:
        _HOLD.depth += 1
        if _HOLD.depth == 1:
            _HOLD.before = [library.get_num_threads() for library in _libraries()]
            _set([n_threads] * len(_HOLD.before))
    try:
        yield
    finally:
        with _HOLD.lock:
            _HOLD.depth -= 1
            if _HOLD.depth == 0:
                _set(_HOLD.before)


def _set(numbers: list[int]) -> None:
    for library, number in zip(_libraries(), numbers, strict=True):
        # Newer threadpoolctl heeds one thread at a time; here all are counted.
        clear = getattr(library, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
        library.set_num_threads(number)
        if clear is not None:
            clear(force=True)
