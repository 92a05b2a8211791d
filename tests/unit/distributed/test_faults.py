"""Workers that die, data that are wrong, users who interrupt, clients that come back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from separatrix import CRF, LogisticRegression, NaiveBayes, Perceptron
from separatrix.distributed import fit
from separatrix.errors import DataError
from tests.unit.distributed.conftest import left_behind
from tests.unit.distributed.sequences import sentences, sequence_bags


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def settled(client: Any) -> list[str]:
    """Tasks left after a moment for messages that are under way."""
    for _ in range(100):
        found = left_behind(client)
        if not found:
            return []
        time.sleep(0.1)
    return found


def test_a_wrong_value_names_partition_and_row(client: Any, data: Any) -> None:
    X, y = data[0].copy(), data[1]
    X[123, 4] = np.nan
    lazy = da.from_array(X, chunks=(100, 30))
    with pytest.raises(DataError, match=r"partition 1: Input X contains NaN at row 23, column 4"):
        fit(LogisticRegression(), lazy, y, client=client)
    weights = np.ones(len(y))
    weights[250] = -1
    good = da.from_array(data[0], chunks=(100, 30))
    with pytest.raises(DataError, match=r"partition 2: sample_weight is -1 at row 50"):
        fit(LogisticRegression(), good, y, weights, client=client)
    X[123, 4] = np.inf
    with pytest.raises(DataError, match=r"partition 1: .*row 23"):
        fit(NaiveBayes("gaussian"), da.from_array(X, chunks=(100, 30)), y, client=client)
    assert settled(client) == []


def test_a_wrong_sequence_names_partition_and_token(client: Any) -> None:
    X, y = sentences(20)
    X[13], y[13] = [{"word": "w1"}, {"word": "w2", "place": np.nan}], ["L0", "L1"]
    message = r"partition 2: Input X contains NaN at sequence 3, token 1, attribute 'place'"
    with pytest.raises(DataError, match=message):
        fit(CRF(), *sequence_bags(X, y, 4), client=client)
    X, y = sentences(20)
    y[13] = [*y[13], "L0"]
    with pytest.raises(DataError, match=r"partition 2: .*sequence 3"):
        fit(CRF(), *sequence_bags(X, y, 4), client=client)
    assert settled(client) == []


def test_nothing_is_left_after_a_fit(client: Any, data: Any) -> None:
    X, y = data
    fit(LogisticRegression(), da.from_array(X, chunks=(200, 30)), y, client=client)
    fit(Perceptron(max_iter=2), da.from_array(X, chunks=(200, 30)), y, client=client)
    assert settled(client) == []


def test_a_worker_is_killed(client: Any, data: Any) -> None:
    X, y = data
    model = LogisticRegression(tol=1e-10, solver="lbfgs", C=0.1)
    wanted = LogisticRegression(tol=1e-10, C=0.1).fit(X, y).solution_.objective
    victim = next(iter(client.run(os.getpid).values()))
    ended, killed = threading.Event(), threading.Event()

    def watch() -> None:
        passes: set[str] = set()
        while not ended.is_set() and not killed.is_set():
            passes |= {key for key in left_behind(client) if "partial_gradient" in key}
            # Some passes in, when partitions of one worker share a task.
            if len(passes) > 14:
                os.kill(victim, signal.SIGKILL)
                killed.set()

    killer = threading.Thread(target=watch)
    killer.start()
    try:
        there = fit(model, da.from_array(X, chunks=(60, 30)), y, client=client)
    finally:
        ended.set()
        killer.join()
    assert killed.is_set(), "no worker was killed while the fit ran"
    assert victim not in client.run(os.getpid).values()
    assert abs(there.solution_.objective - wanted) <= 1e-8 * wanted


SCRIPT = """
import os, signal, sys, threading, time
import dask.array as da
import numpy as np
from dask.distributed import Client
from separatrix import LogisticRegression
from separatrix.distributed import fit

client = Client(sys.argv[1], set_as_default=False)
X = np.random.default_rng(0).normal(size=(2000, 300))
y = X[:, 0] > 0
model = LogisticRegression(C=1e6, tol=1e-14, solver="lbfgs", max_iter=100000)
folder = sys.argv[2]

def interrupt():
    while not os.path.exists(os.path.join(folder, "fit.npz")):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    fit(model, da.from_array(X, chunks=(200, 300)), y, client=client, checkpoint=folder,
        checkpoint_every=5)
except KeyboardInterrupt:
    print("interrupted after", model.solution_.n_passes)
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if left == 0:
            break
        time.sleep(0.1)
    print("left", left)
client.close()
"""


def test_interrupt_leaves_no_task_and_a_checkpoint(cluster: Any, tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    folder = tmp_path / "state"
    done = subprocess.run(
        [sys.executable, str(script), cluster.scheduler_address, str(folder)],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert "interrupted after" in done.stdout, done.stdout + done.stderr
    assert "left 0" in done.stdout
    assert [file.name for file in folder.iterdir()] == ["fit.npz"]


@pytest.mark.parametrize("remote", [False, True])
def test_resume(client: Any, data: Any, tmp_path: Path, remote: bool) -> None:
    X, y = data
    lazy = da.from_array(X, chunks=(200, 30))
    place = f"memory://run-{tmp_path.name}" if remote else str(tmp_path / "state")
    short = LogisticRegression(tol=1e-10, solver="lbfgs", C=0.1, max_iter=6)
    # Six passes, and one that proves what is left.
    with pytest.warns(UserWarning, match="stopped after 7 passes"):
        fit(short, lazy, y, client=client, checkpoint=place, checkpoint_every=2)
    whole = LogisticRegression(tol=1e-10, solver="lbfgs", C=0.1)
    fit(whole, lazy, y, client=client, checkpoint=place)
    wanted = LogisticRegression(tol=1e-10, C=0.1).fit(X, y).solution_.objective
    assert abs(whole.solution_.objective - wanted) <= 1e-8 * wanted
    # It went on from the sixth pass: the first objective it saw is not that of zero weights.
    first = whole.solution_.trace.objective[0]
    assert first == pytest.approx(short.solution_.objective, rel=1e-6)
    assert whole.solution_.trace.n_passes[0] > 6
    with pytest.raises(DataError, match=r"C is 0\.1 there and 5\.0 here"):
        fit(LogisticRegression(solver="lbfgs", C=5.0), lazy, y, client=client, checkpoint=place)


def test_resume_of_mixing(client: Any, data: Any, tmp_path: Path) -> None:
    X, y = data
    lazy = da.from_array(X, chunks=(200, 30))
    whole = fit(Perceptron(max_iter=6, random_state=0), lazy, y, client=client)
    for passes in (3, 6):
        parted = fit(
            Perceptron(max_iter=passes, random_state=0),
            lazy,
            y,
            client=client,
            checkpoint=tmp_path,
            checkpoint_every=1,
        )
    np.testing.assert_allclose(parted.coef_, whole.coef_, rtol=1e-12)


def test_progress_shows_passes_and_partitions(
    client: Any, data: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = data
    lazy = da.from_array(X, chunks=(200, 30))
    fit(LogisticRegression(verbose=1), lazy, y, client=client)
    shown = capsys.readouterr().out
    assert "partition 3 of 3" in shown
    assert "LogisticRegression: pass" in shown
    fit(LogisticRegression(verbose=2), lazy, y, client=client)
    assert "objective" in capsys.readouterr().out
