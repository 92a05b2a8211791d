"""Dask, where it is installed."""

from __future__ import annotations

from typing import Any

from separatrix.errors import MissingPackageError

__all__ = ["dask_distributed"]


def dask_distributed() -> Any:
    """The module `dask.distributed`; MissingPackageError names the extra that brings it."""
    try:
        from dask import distributed
    except ImportError as error:
        raise MissingPackageError(
            f"separatrix.distributed needs Dask: pip install 'separatrix[dask]' ({error})"
        ) from None
    return distributed
