"""Holds BLAS to the threads that the caller asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache

from threadpoolctl import ThreadpoolController

from separatrix.objective import Objective

__all__ = ["blas_threads"]

#: Multiply-adds below which waking a second BLAS thread costs more than it saves.
_SMALL = 1 << 27


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@contextlib.contextmanager
def blas_threads(objective: Objective, work: float) -> Iterator[None]:
    """Within the block, BLAS uses the threads of the objective, one if `work` is small.

    `work` is the number of multiply-adds of a call.
    """
    wanted = int(getattr(objective.score_map, "n_threads", 1)) if work > _SMALL else 1
    with _controller().limit(limits=wanted, user_api="blas"):
        yield
