"""Learners of very many classes: ours and the peers PECOS (XR-Linear) and napkinXC (PLT).

PECOS asks for NumPy 1 and SciPy 1.13 (pip would downgrade both), but runs with newer ones after one
name is put back. Install the peers into a folder of their own,
``pip install --no-deps --target DIR libpecos napkinxc gdown``, and put DIR on PYTHONPATH.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.data import Data, IntArray, Matrix
from benchmarks.peers import THREADS
from benchmarks.spec import Outcome


class Problem(NamedTuple):
    """Training rows, test rows, and the number of classes."""

    X: Matrix
    y: IntArray
    X_test: Matrix
    n_classes: int


def prepare(data: Data) -> Problem:
    """Hand the arrays over as they are."""
    return Problem(data.X_train, data.y_train, data.X_test, int(data.y_train.max()) + 1)


# -- ours --------------------------------------------------------------------------------------


def train_ours(problem: Problem) -> Any:
    """Fit with all defaults."""
    many = importlib.import_module("separatrix")
    return many.ManyClass(n_jobs=THREADS).fit(problem.X, problem.y)


def predict_ours(model: Any, X: Matrix) -> IntArray:
    """Predict the label of every row."""
    return np.asarray(model.predict(X), dtype=np.int64)


def save_ours(model: Any, folder: str) -> None:
    """Write one model file."""
    importlib.import_module("separatrix").save(model, str(Path(folder) / "model.sx"))


# -- PECOS -------------------------------------------------------------------------------------


def train_pecos(problem: Problem) -> Any:
    """Train XR-Linear as its own command line does by default, from clustering to weights."""
    # PECOS asks for this module by its old name, which SciPy no longer has.
    vars(sparse)["sputils"] = importlib.import_module("scipy.sparse._sputils")
    xmc = importlib.import_module("pecos.xmc")
    xlinear = importlib.import_module("pecos.xmc.xlinear.model")
    n = len(problem.y)
    ones = np.ones(n, dtype=np.float32)
    Y = sparse.csr_matrix((ones, (np.arange(n), problem.y)), shape=(n, problem.n_classes))
    embedding = xmc.LabelEmbeddingFactory.create(Y, problem.X, method="pifa")
    chain = xmc.Indexer.gen(embedding)
    return xlinear.XLinearModel.train(problem.X, Y, C=chain, threads=THREADS)


def predict_pecos(model: Any, X: Matrix) -> IntArray:
    """Predict the label of every row; -1 where none is found."""
    found = model.predict(X, threads=THREADS).tocsr()
    labels = np.full(X.shape[0], -1, dtype=np.int64)
    for i in range(X.shape[0]):
        span = slice(found.indptr[i], found.indptr[i + 1])
        if span.start < span.stop:
            labels[i] = found.indices[span][np.argmax(found.data[span])]
    return labels


def save_pecos(model: Any, folder: str) -> None:
    """Write the model's folder."""
    model.save(folder)


# -- napkinXC ----------------------------------------------------------------------------------


def train_napkin(problem: Problem) -> Any:
    """Train a probabilistic label tree with its defaults; it writes its model while training."""
    models = importlib.import_module("napkinxc.models")
    folder = tempfile.mkdtemp(prefix="napkinxc-")
    model = models.PLT(folder, threads=THREADS)
    model.fit(problem.X, problem.y.tolist())
    model.folder = folder
    return model


def predict_napkin(model: Any, X: Matrix) -> IntArray:
    """Predict the label of every row."""
    found = model.predict(X, top_k=1)
    return np.array([row[0] if row else -1 for row in found], dtype=np.int64)


def save_napkin(model: Any, folder: str) -> None:
    """Copy the files that training wrote."""
    shutil = importlib.import_module("shutil")
    shutil.copytree(model.folder, folder, dirs_exist_ok=True)


# -- what the cases call -----------------------------------------------------------------------


class Trained(NamedTuple):
    """A model and the rows to predict."""

    model: Any
    problem: Problem


def prepare_trained(data: Data, *, train: Any) -> Trained:
    """Train outside the timing."""
    problem = prepare(data)
    return Trained(train(problem), problem)


def predict_all(trained: Trained, *, predict: Any) -> IntArray:
    """Predict all test rows."""
    labels: IntArray = predict(trained.model, trained.problem.X_test)
    return labels


def read_model(problem: Problem, model: Any, *, predict: Any) -> Outcome:
    """Return the predictions of a model just trained."""
    return Outcome(predictions=predict(model, problem.X_test))


def read_labels(trained: Trained, labels: IntArray) -> Outcome:
    """Return the predictions."""
    return Outcome(predictions=labels)


def write(trained: Trained, *, save: Any) -> float:
    """Write the model and return its size on disk in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        save(trained.model, folder)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in files) / 1e6


def read_size(trained: Trained, megabytes: float) -> Outcome:
    """Return the size in the place of the accuracy."""
    return Outcome(score=megabytes)
