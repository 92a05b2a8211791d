"""Data three times the memory of the workers, generated in partitions and never whole."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import distributed as dask_distributed
import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.distributed import fit, peak_memory

LIMIT = 640 * 2**20
COLUMNS, ROWS = 64, 100_000


def make_rows(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal((ROWS, COLUMNS), dtype=np.float32)


def make_labels(number: int, X: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng([number, 1]).logistic(size=len(X))
    return (0.5 * X[:, :4].sum(axis=1) + noise > 0).astype(np.int64)


@pytest.mark.slow
def test_three_times_the_memory(tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    partitions = -(-3 * 2 * LIMIT // (ROWS * COLUMNS * 4))
    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        dask_distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=None,
            silence_logs="CRITICAL",
        ) as cluster,
        dask_distributed.Client(cluster, set_as_default=False) as client,
    ):
        blocks, labels = [], []
        for number in range(partitions):
            rows = dask.delayed(make_rows)(number)
            blocks.append(da.from_delayed(rows, (ROWS, COLUMNS), np.float32))
            own = dask.delayed(make_labels)(number, rows)
            labels.append(da.from_delayed(own, (ROWS,), np.int64))
        X, y = da.concatenate(blocks), da.concatenate(labels)
        assert X.nbytes >= 3 * 2 * LIMIT
        # Every pass reads all rows from disk and writes them again: few passes.
        model = fit(LogisticRegression(tol=1e-5, solver="lbfgs"), X, y, client=client)
        peaks = peak_memory(client)
        pids = client.run(lambda: 0)
    assert len(pids) == 2
    assert model.solution_.gap <= 1e-5 * model.solution_.objective
    # The labels were drawn from weights of 0.5 on the first four columns, zero elsewhere.
    np.testing.assert_allclose(model.coef_[0, :4], 0.5, atol=0.005)
    np.testing.assert_allclose(model.coef_[0, 4:], 0.0, atol=0.005)
    for worker, peak in peaks.items():
        record_property(worker, peak)
        print(f"{worker}: peak memory {peak / 2**20:.0f} MiB of {LIMIT / 2**20:.0f}")
        assert peak <= LIMIT
