"""Learners of very many classes: ours and the peers PECOS (XR-Linear) and napkinXC (PLT).

PECOS runs in an interpreter of its own; see `benchmarks.pecos_client`.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Data, IntArray, Matrix
from benchmarks.pecos_client import PecosClient, pecos
from benchmarks.peers import THREADS
from benchmarks.spec import Outcome


class Problem(NamedTuple):
    """Training rows and test rows, and who holds a copy of them in a process of its own, if any."""

    X: Matrix
    y: IntArray
    X_test: Matrix
    client: PecosClient | None = None

    def peak_mb(self, order: str) -> float | None:
        """Memory that the other process took, None where there is none."""
        return None if self.client is None else self.client.peaks[order]


def prepare(data: Data) -> Problem:
    """Hand the arrays over as they are."""
    return Problem(data.X_train, data.y_train, data.X_test)


# -- ours --------------------------------------------------------------------------------------


def train_ours(problem: Problem) -> Any:
    """Fit with all defaults."""
    many = importlib.import_module("separatrix")
    return many.ManyClass(n_jobs=THREADS).fit(problem.X, problem.y)


def predict_ours(model: Any, problem: Problem) -> IntArray:
    """Predict the label of every test row."""
    return np.asarray(model.predict(problem.X_test), dtype=np.int64)


def save_ours(model: Any, folder: str) -> None:
    """Write one model file."""
    importlib.import_module("separatrix").save(model, str(Path(folder) / "model.sx"))


# -- PECOS -------------------------------------------------------------------------------------


def prepare_pecos(data: Data) -> Problem:
    """Hand the arrays over to the interpreter of PECOS."""
    problem = prepare(data)
    pecos().load(problem.X, problem.y, problem.X_test)
    return problem._replace(client=pecos())


def train_pecos(problem: Problem) -> Any:
    """Train XR-Linear with its defaults, from clustering to weights."""
    pecos().train()
    return pecos()


def predict_pecos(model: Any, problem: Problem) -> IntArray:
    """Predict the label of every test row; -1 where none is found."""
    labels: IntArray = model.predict()
    return labels


def save_pecos(model: Any, folder: str) -> None:
    """Write the model's folder."""
    model.save(folder)


# -- napkinXC ----------------------------------------------------------------------------------


def train_napkin(problem: Problem) -> Any:
    """Train a probabilistic label tree with its defaults; it writes its model while training."""
    models = importlib.import_module("napkinxc.models")
    folder = tempfile.TemporaryDirectory(prefix="napkinxc-")
    model = models.PLT(folder.name, threads=THREADS)
    model.fit(problem.X, problem.y.tolist())
    model.folder = folder
    return model


def predict_napkin(model: Any, problem: Problem) -> IntArray:
    """Predict the label of every test row."""
    found = model.predict(problem.X_test, top_k=1)
    return np.array([row[0] if row else -1 for row in found], dtype=np.int64)


def save_napkin(model: Any, folder: str) -> None:
    """Copy the files that training wrote."""
    shutil = importlib.import_module("shutil")
    shutil.copytree(model.folder.name, folder, dirs_exist_ok=True)


# -- what the cases call -----------------------------------------------------------------------


class Learner(NamedTuple):
    """What the cases call of a contender."""

    name: str
    prepare: Callable[[Data], Problem]
    train: Callable[[Problem], Any]
    predict: Callable[[Any, Problem], IntArray]
    save: Callable[[Any, str], None]


LEARNERS = (
    Learner("separatrix", prepare, train_ours, predict_ours, save_ours),
    Learner("PECOS XR-Linear", prepare_pecos, train_pecos, predict_pecos, save_pecos),
    Learner("napkinXC PLT", prepare, train_napkin, predict_napkin, save_napkin),
)


class Trained(NamedTuple):
    """A model and the rows to predict."""

    model: Any
    problem: Problem


def prepare_trained(data: Data, *, learner: Learner) -> Trained:
    """Train outside the timing."""
    problem = learner.prepare(data)
    return Trained(learner.train(problem), problem)


def predict_all(trained: Trained, *, learner: Learner) -> IntArray:
    """Predict all test rows."""
    return learner.predict(trained.model, trained.problem)


def read_model(problem: Problem, model: Any, *, learner: Learner) -> Outcome:
    """Return the predictions of a model just trained."""
    peak = problem.peak_mb("train")
    return Outcome(predictions=learner.predict(model, problem), peak_mb=peak)


def read_labels(trained: Trained, labels: IntArray) -> Outcome:
    """Return the predictions."""
    return Outcome(predictions=labels, peak_mb=trained.problem.peak_mb("predict"))


def write(trained: Trained, *, learner: Learner) -> float:
    """Write the model and return its size on disk in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        learner.save(trained.model, folder)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in files) / 1e6


def read_size(trained: Trained, megabytes: float) -> Outcome:
    """Return the size in the place of the accuracy."""
    return Outcome(score=megabytes, peak_mb=trained.problem.peak_mb("save"))
