"""One real cluster of two worker processes for all tests of a process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")

#: What workers need, imported once by the process they are forked from.
PRELOADED = ["distributed", "dask.array", "dask.bag", "dask.dataframe", "separatrix.distributed"]


def start_method() -> str:
    """How worker processes start: quickly where the system can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    distributed.utils._forkserver_preload_set = True  # Dask would set its own list
    return "forkserver"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    import dask

    with (
        # Set while the cluster lives: workers that are killed start anew.
        dask.config.set({"distributed.worker.multiprocessing-method": start_method()}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit="2GiB",
            silence_logs="CRITICAL",
        ) as found,
    ):
        yield found


@pytest.fixture(scope="session")
def session_client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def client(session_client: Any) -> Any:
    session_client.wait_for_workers(2, timeout=60)
    return session_client


@pytest.fixture(scope="session")
def nearby() -> Iterator[Any]:
    """One worker in this process: for fits of hundreds of passes."""
    with distributed.Client(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        set_as_default=False,
    ) as found:
        yield found


def left_behind(client: Any) -> list[str]:
    """Keys of the tasks that the scheduler still knows."""
    return client.run_on_scheduler(lambda dask_scheduler: [str(k) for k in dask_scheduler.tasks])
