"""PECOS in an interpreter of its own: takes orders from `benchmarks.pecos_client` line by line.

Run by the interpreter of PECOS, which has numpy below 2 and nothing of this project; so it imports
nothing of it. An order is one line of JSON on stdin, ``{"do": NAME, ...}``; the answer is one
line on stdout, with the peak memory that the order took, or with an error.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import queue
import sys
import threading
import traceback
from typing import IO, Any

sys.path.pop(0)  # the folder of this script: names in it would hide modules that PECOS imports

import numpy as np
from scipy import sparse


class Worker:
    """The arrays and the model that orders are about."""

    def __init__(self) -> None:
        # A failure to import is the answer to the first order.
        xmc = importlib.import_module("pecos.xmc")
        self.embed = xmc.LabelEmbeddingFactory.create
        self.index = xmc.Indexer.gen
        self.learner = importlib.import_module("pecos.xmc.xlinear.model").XLinearModel
        self.model: Any = None

    def load(self, folder: str) -> None:
        """Read the rows, and one label each."""
        self.X = sparse.load_npz(os.path.join(folder, "X.npz"))
        self.X_test = sparse.load_npz(os.path.join(folder, "X_test.npz"))
        y = np.load(os.path.join(folder, "y.npy"))
        ones = np.ones(len(y), dtype=np.float32)
        shape = (len(y), int(y.max()) + 1)
        self.Y = sparse.csr_matrix((ones, (np.arange(len(y)), y)), shape=shape)

    def train(self, threads: int) -> None:
        """Train XR-Linear as its own command line does by default, from clustering to weights."""
        embedding = self.embed(self.Y, self.X, method="pifa", threads=threads)
        chain = self.index(embedding, threads=threads)
        self.model = self.learner.train(self.X, self.Y, C=chain, threads=threads)

    def predict(self, threads: int, path: str) -> None:
        """Write the best label of every test row, -1 where none is found."""
        found = self.model.predict(self.X_test, only_topk=1, threads=threads)
        labels = np.full(found.shape[0], -1, dtype=np.int64)
        labels[np.diff(found.indptr) > 0] = found.indices
        np.save(path, labels)

    def save(self, folder: str) -> None:
        """Write the model's folder."""
        self.model.save(folder)


def status(field: str) -> float:
    """A field of the kernel's account of this process, in MB; not a number where it has none."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
    except OSError:
        return float("nan")


def reset_peak() -> float:
    """Reset the high-water mark of memory where it can be reset; return the memory in use."""
    gc.collect()
    try:
        with open("/proc/self/clear_refs", "w") as stream:
            stream.write("5")
    except OSError:
        return status("VmHWM")
    return status("VmRSS")


def read_orders(orders: queue.Queue[dict[str, Any]]) -> None:
    """Pass orders on; end the process, in the middle of work too, when nobody can give more."""
    for line in sys.stdin:
        orders.put(json.loads(line))
    os._exit(0)


def main(answers: IO[str]) -> None:
    """Carry orders out, one after the other."""
    orders: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=read_orders, args=(orders,), daemon=True).start()
    worker = None
    while True:
        order = orders.get()
        try:
            worker = worker or Worker()
            before = reset_peak()
            getattr(worker, order.pop("do"))(**order)
            answer: dict[str, Any] = {"peak_mb": max(status("VmHWM") - before, 0.0)}
        except Exception as error:
            answer = {"error": "".join(traceback.format_exception_only(error)).strip()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    # What PECOS prints, from C too, must not get between the answers.
    own = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    main(own)
