"""PECOS XR-Linear as a peer, run by an interpreter of its own.

libpecos 1.2 works only with numpy below 2 (and asks for torch, for models other than this one).
``make pecos`` puts it into ``.venv-pecos``, where it is found; or make an environment anywhere,
with a Python from 3.9 to 3.12, and name its interpreter by PECOS_PYTHON:

    python3.11 -m venv pecos && pecos/bin/pip install "numpy<2" "scipy<1.14" scikit-learn
    pecos/bin/pip install --no-deps "libpecos>=1.2,<2"
    export PECOS_PYTHON=$PWD/pecos/bin/python

Each order to it is one line of JSON over a pipe: what that adds to a timing is well below a
millisecond.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.data import ROOT, IntArray, Matrix
from benchmarks.peers import THREADS

_WORKER = Path(__file__).with_name("pecos_worker.py")
_USUAL = ROOT / ".venv-pecos" / "bin" / "python"


class MissingPeerError(RuntimeError):
    """The environment of a peer is not on this machine."""


def pecos_python() -> str:
    """The interpreter that has PECOS: PECOS_PYTHON, or that of ``make pecos``."""
    named = os.environ.get("PECOS_PYTHON")
    if named:
        if not os.access(named, os.X_OK):
            raise MissingPeerError(f"PECOS_PYTHON={named} is not an interpreter")
        return named
    if not _USUAL.exists():
        raise MissingPeerError("PECOS_PYTHON is not set; `make pecos` makes what it should name")
    return str(_USUAL)


class PecosClient:
    """A running interpreter with PECOS, its training rows and its model."""

    def __init__(self) -> None:
        command = [pecos_python(), str(_WORKER)]
        self._folder = tempfile.TemporaryDirectory(prefix="pecos-")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self._folder.name
        )
        #: Megabytes that the last order of each kind took at most.
        self.peaks: dict[str, float] = {}

    def _order(self, do: str, **details: Any) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **details}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except (OSError, ValueError):  # a broken pipe, or one closed before
            line = ""
        if not line:
            raise RuntimeError(f"PECOS died with exit code {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"PECOS: {answer['error']}")
        self.peaks[do] = answer["peak_mb"]

    def close(self) -> None:
        """End the interpreter and remove its files."""
        self._process.communicate()
        self._folder.cleanup()

    def load(self, X: Matrix, y: IntArray, X_test: Matrix) -> None:
        """Hand the rows over."""
        folder = Path(self._folder.name)
        sparse.save_npz(folder / "X.npz", sparse.csr_matrix(X), compressed=False)
        sparse.save_npz(folder / "X_test.npz", sparse.csr_matrix(X_test), compressed=False)
        np.save(folder / "y.npy", y)
        self._order("load", folder=str(folder))

    def train(self) -> None:
        """Train on the rows."""
        self._order("train", threads=THREADS)

    def predict(self) -> IntArray:
        """The best label of every test row, -1 where none is found."""
        path = Path(self._folder.name) / "labels.npy"
        self._order("predict", threads=THREADS, path=str(path))
        labels: IntArray = np.load(path)
        return labels

    def save(self, folder: str) -> None:
        """Write the model's folder."""
        self._order("save", folder=str(Path(folder).absolute()))


@cache
def pecos() -> PecosClient:
    """One interpreter for the whole process, so that a warm-up warms what is measured."""
    return PecosClient()
