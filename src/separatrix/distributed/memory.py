"""How much memory the workers have taken."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["peak_memory"]


def peak_memory(client: Any) -> dict[str, int]:
    """Largest resident memory of every worker process so far, in bytes.

    Parameters
    ----------
    client : distributed.Client
        The cluster.

    Returns
    -------
    dict of str to int
        Bytes by the address of the worker.

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(n_workers=1, processes=False, dashboard_address=None) as client:
    ...     [number > 0 for number in peak_memory(client).values()]
    [True]
    """
    found: dict[str, int] = client.run(_peak)
    return found


def _peak() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)
