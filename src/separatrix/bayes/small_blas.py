"""One thread of BLAS for matrices that are not worth more."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from separatrix.solvers.blas import blas_threads

__all__ = ["small_blas"]

#: Order of a matrix from which on a second thread pays, even where the machine is shared.
_WORTH_THREADS = 2048


def small_blas(order: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread within the block, for decompositions of this order."""
    return blas_threads(1) if order < _WORTH_THREADS else nullcontext()
