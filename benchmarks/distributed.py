"""Adapters of fits on Dask: a cluster of so many workers of one thread, rows that lie there."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Data, few_rows
from benchmarks.spec import Outcome

#: Partitions, and how many times as many rows as the data set has.
PARTITIONS, TIMES = 16, 8
#: Passes of L-BFGS that are timed; the tolerance is out of reach.
PASSES = 30


class Prepared(NamedTuple):
    """Rows where they are fitted, and the test rows."""

    client: Any
    X: Any
    y: Any
    X_test: Any


@cache
def _client(n_workers: int) -> Any:
    """A cluster that ends with the process."""
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=0,
        dashboard_address=None,
        silence_logs="CRITICAL",
    )
    return Client(cluster)


def rows_of(X: Any, y: Any, number: int, n_rows: int) -> tuple[Any, Any]:
    """Rows of one partition: drawn from the data set, with noise of their own."""
    generator = np.random.default_rng(number)
    chosen = generator.integers(0, len(y), n_rows)
    noise = generator.uniform(0.9, 1.1, (n_rows, X.shape[1])).astype(np.float32)
    return np.asarray(X[chosen], dtype=np.float32) * noise, y[chosen]


def prepare_cluster(data: Data, *, n_workers: int) -> Prepared:
    """Make the partitions on the workers, which keep them."""
    import dask.array as da
    from dask import delayed
    from dask.distributed import wait

    client = _client(n_workers)
    n_rows = TIMES * len(data.y_train) // PARTITIONS
    X, y = client.scatter([np.asarray(data.X_train), np.asarray(data.y_train)], broadcast=True)
    width = data.X_train.shape[1]
    kind = np.asarray(data.y_train).dtype
    blocks, labels = [], []
    for number in range(PARTITIONS):
        both = delayed(rows_of, nout=2)(X, y, number, n_rows)
        blocks.append(da.from_delayed(both[0], (n_rows, width), np.float32))
        labels.append(da.from_delayed(both[1], (n_rows,), kind))
    rows, targets = client.persist([da.concatenate(blocks), da.concatenate(labels)])
    wait([rows, targets])
    prepared = Prepared(client, rows, targets, data.X_test)
    # Workers import what they need at their first task.
    few = few_rows(data)
    chunk = -(-len(few.y_train) // PARTITIONS)
    first = da.from_array(np.asarray(few.X_train, dtype=np.float32), (chunk, width))
    fit_there(prepared._replace(X=first, y=da.from_array(np.asarray(few.y_train), chunk)))
    return prepared


def prepare_here(data: Data) -> Prepared:
    """Make the same rows in this process."""
    n_rows = TIMES * len(data.y_train) // PARTITIONS
    parts = [
        rows_of(np.asarray(data.X_train), np.asarray(data.y_train), number, n_rows)
        for number in range(PARTITIONS)
    ]
    X, y = np.concatenate([part[0] for part in parts]), np.concatenate([p[1] for p in parts])
    return Prepared(None, X, y, data.X_test)


def _model() -> Any:
    from separatrix import LogisticRegression
    from separatrix.solvers import Lbfgs

    return LogisticRegression(solver=Lbfgs(memory=20), tol=1e-14, max_iter=PASSES)


def fit_there(prepared: Prepared) -> Any:
    """Fit on the cluster."""
    from separatrix.distributed import fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(_model(), prepared.X, prepared.y, client=prepared.client)


def fit_here(prepared: Prepared) -> Any:
    """Fit in this process, on all cores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _model().fit(prepared.X, prepared.y)


def read(prepared: Prepared, model: Any) -> Outcome:
    """Passes and predictions; the cluster has done its work."""
    if prepared.client is not None:
        cluster = prepared.client.cluster
        prepared.client.close()
        cluster.close()
    rows = np.asarray(prepared.X_test, dtype=np.float32)
    return Outcome(passes=model.solution_.n_passes, predictions=model.predict(rows))
