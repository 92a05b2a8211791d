"""Holds BLAS to few threads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads"]


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def blas_threads(n_threads: int) -> Iterator[None]:
    """Within the block BLAS uses `n_threads` threads.

    The matrices here are small: waking a second thread costs more than it saves, and where the
    machine is shared it spins for its turn, which was seen to cost a hundredfold.
    """
    with _controller().limit(limits=n_threads, user_api="blas"):
        yield
