"""Adapters of the peers. Conversions a peer needs happen in ``prepare_*``, outside the timing.

All functions sit at module level and are bound with `functools.partial`, so that a contender can be
sent to a child process. Peers are imported when first used.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.data import CACHE, Data, IntArray, Matrix
from benchmarks.objectives import FloatArray
from benchmarks.spec import Outcome, Setting

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Arrays(NamedTuple):
    """What an array-based estimator is fitted on."""

    X: Matrix
    y: IntArray
    X_test: Matrix


def load_class(path: str) -> Any:
    """Import ``"package.module:Name"``."""
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


def rungs(
    tolerances: Sequence[float], default: float | None = None, **common: Any
) -> tuple[Setting, ...]:
    """Return a ladder over ``tol``, marking the default tolerance."""
    return tuple(
        Setting(f"tol={tol:g}", {"tol": tol, **common}, default=tol == default)
        for tol in tolerances
    )


def prepare_float32(data: Data) -> Arrays:
    """Hand the arrays over as they are: float32, CSR or C order."""
    return Arrays(data.X_train, data.y_train, data.X_test)


def prepare_float64(data: Data) -> Arrays:
    """Convert to float64 for peers that would do so inside ``fit`` (LIBLINEAR)."""
    X = data.X_train.astype(np.float64)
    return Arrays(X, data.y_train, data.X_test.astype(np.float64))


# -- estimators with the scikit-learn interface ------------------------------------------------


def fit_estimator(arrays: Arrays, *, cls: str, **params: Any) -> Any:
    """Fit the estimator ``cls(**params)``, `cls` as for `load_class`."""
    return load_class(cls)(**params).fit(arrays.X, arrays.y)


def stall(arrays: Arrays) -> None:
    """Return at once on a few rows and never on more: the stand-in for a peer that hangs."""
    time.sleep(0 if arrays.X.shape[0] < 100 else 3600)


def read_estimator(arrays: Arrays, model: Any) -> Outcome:
    """Read ``coef_``, ``intercept_`` and ``n_iter_``."""
    return Outcome(((coef_of(model), intercept_of(model)),), passes_of(model))


def fit_path(arrays: Arrays, *, cls: str, Cs: Sequence[float], **params: Any) -> Any:
    """Fit one estimator per C, each started from the one before where it can be."""
    model = load_class(cls)(warm_start=True, **params)
    fitted = []
    for C in Cs:
        model.set_params(C=C).fit(arrays.X, arrays.y)
        fitted.append((coef_of(model).copy(), intercept_of(model).copy(), passes_of(model)))
    return fitted


def read_path(arrays: Arrays, fitted: Any) -> Outcome:
    """Return the models of the grid; the passes are summed."""
    passes = [p for _, _, p in fitted if p is not None]
    return Outcome(tuple((w, b) for w, b, _ in fitted), sum(passes) if passes else None)


def fit_predict(arrays: Arrays, *, cls: str, **params: Any) -> Any:
    """Fit and predict the test rows."""
    model = load_class(cls)(**params).fit(arrays.X, arrays.y)
    return model, model.predict(arrays.X_test)


def read_fit_predict(arrays: Arrays, raw: Any) -> Outcome:
    """Return the predicted labels of `fit_predict`."""
    model, labels = raw
    return Outcome(passes=passes_of(model), predictions=np.asarray(labels, dtype=np.int64))


def fit_pairs(arrays: Arrays, *, tol: float) -> Any:
    """Fit scikit-learn's OneVsOneClassifier of LinearSVC, in processes."""
    base = load_class("sklearn.svm:LinearSVC")(tol=tol, max_iter=1_000_000, random_state=0)
    reduction = load_class("sklearn.multiclass:OneVsOneClassifier")
    return reduction(base, n_jobs=THREADS).fit(arrays.X, arrays.y)


def read_pairs(arrays: Arrays, model: Any) -> Outcome:
    """Stack the weights of the pairs, +1 for the first class, and label the test rows."""
    models = model.estimators_
    coef: Any = sparse.vstack([sparse.csr_matrix(-one.coef_) for one in models]).tocsr()
    intercept = -np.concatenate([one.intercept_ for one in models])
    labels = np.asarray(model.predict(arrays.X_test), dtype=np.int64)
    return Outcome(((coef, intercept),), predictions=labels)


def prepare_row(data: Data, *, cls: str, **params: Any) -> Any:
    """Fit a model and cut out one test row, for `predict_row`."""
    model = load_class(cls)(**params).fit(data.X_train, data.y_train)
    return model, data.X_test[:1], data.X_test


def predict_row(prepared: Any) -> Any:
    """Predict one row, the common case of serving."""
    model, row, _ = prepared
    return model.predict(row)


def read_row(prepared: Any, raw: Any) -> Outcome:
    """Return the model's predictions of all test rows, to show that it is a sensible model."""
    model, _, X_test = prepared
    return Outcome(predictions=np.asarray(model.predict(X_test), dtype=np.int64))


def coef_of(model: Any) -> FloatArray:
    """Return ``coef_`` as (1, d) or (K, d); Snap ML keeps its transpose."""
    coef = np.asarray(model.coef_)
    if coef.ndim == 1 or 1 in coef.shape:
        return coef.reshape(1, -1)
    return coef.T if type(model).__module__.startswith("snapml") else coef


def intercept_of(model: Any) -> FloatArray:
    """Return ``intercept_`` as (1,) or (K,)."""
    return np.ravel(np.asarray(model.intercept_))


def passes_of(model: Any) -> float | None:
    """Return ``n_iter_`` as one number."""
    count = getattr(model, "n_iter_", None)
    return None if count is None else float(np.max(count))


# -- LIBLINEAR's own Python interface ----------------------------------------------------------


def prepare_liblinear(data: Data, *, bias: float = -1.0) -> Any:
    """Convert to LIBLINEAR's node lists; `bias` >= 0 appends a (penalized) constant feature."""
    problem = load_class("liblinear.liblinear:problem")
    X = data.X_train.astype(np.float64)
    return problem(data.y_train.astype(np.float64), X, bias=bias)


def train_liblinear(problem: Any, *, solver: int, tol: float, C: float = 1.0) -> Any:
    """Train with ``-s solver -c C -e tol``."""
    train = load_class("liblinear.liblinearutil:train")
    parameter = load_class("liblinear.liblinear:parameter")
    return train(problem, parameter(f"-s {solver} -c {C:g} -e {tol:g} -B {problem.bias:g} -q"))


def read_liblinear(problem: Any, model: Any) -> Outcome:
    """Copy the weights out of the C structure, classes in sorted order, the bias split off."""
    labels = np.asarray(model.get_labels(), dtype=np.int64)
    n_columns = 1 if len(labels) == 2 and model.param.solver_type != 4 else len(labels)
    n_rows = model.get_nr_feature() + (model.bias >= 0)
    W = np.ctypeslib.as_array(model.w, (n_rows * n_columns,)).reshape(n_rows, n_columns).T.copy()
    if n_columns > 1:
        W = W[np.argsort(labels)]
    elif labels[0] != 1:  # a positive score means the label seen first
        W = -W
    if model.bias >= 0:
        return Outcome(((W[:, :-1], W[:, -1] * model.bias),))
    return Outcome(((W, np.zeros(n_columns)),))


# -- Vowpal Wabbit -----------------------------------------------------------------------------


def prepare_vowpal(data: Data) -> Any:
    """Write the training rows in Vowpal Wabbit's binary cache format, parsed already.

    Reading this cache is the fastest way into Vowpal Wabbit; it is part of the timing, as there
    is no way to hand over arrays. Rows are shuffled once: it learns in file order.
    """
    X = sparse.csr_matrix(data.X_train)
    stem = CACHE / f"vowpal-{X.shape[0]}x{X.shape[1]}-{X.nnz}"
    cache = stem.with_suffix(".cache")
    if not cache.exists():
        text = _write_vowpal_text(X, data.y_train)
        unfinished = stem.with_suffix(f".{os.getpid()}.tmp")
        workspace = load_class("vowpalwabbit:Workspace")
        bits = _bits(X.shape[1])
        workspace(f"-d {text} --cache_file {unfinished} -k -b {bits} --quiet").finish()
        text.unlink()
        os.replace(unfinished, cache)
    return cache, X.shape[1]


def _write_vowpal_text(X: Matrix, y: IntArray) -> Path:
    order = np.random.default_rng(0).permutation(X.shape[0])
    CACHE.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=CACHE, suffix=".vw", delete=False) as stream:
        for i in order:
            span = slice(X.indptr[i], X.indptr[i + 1])
            pairs = zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
            features = " ".join(f"{j}:{v:.7g}" for j, v in pairs)
            stream.write(f"{2 * y[i] - 1} | {features}\n")
    return Path(stream.name)


def _bits(n_features: int) -> int:
    return max(18, int(n_features).bit_length())


def train_vowpal(prepared: Any, *, options: str) -> Any:
    """Run one pass over the cache file."""
    cache, n_features = prepared
    workspace = load_class("vowpalwabbit:Workspace")
    data = f"--cache_file {cache} -d {cache}"
    return workspace(f"{data} -b {_bits(n_features)} --holdout_off --quiet {options}")


def read_vowpal(prepared: Any, workspace: Any) -> Outcome:
    """Read the weights; numeric feature names are their own hash."""
    _, n_features = prepared
    coef = np.array([workspace.get_weight(j) for j in range(n_features)], dtype=np.float64)
    constant = 11650396 & ((1 << _bits(n_features)) - 1)  # VW's hash of the constant feature
    bias = np.array([workspace.get_weight(constant)], dtype=np.float64)
    return Outcome(((coef[None], bias),), passes=1.0)
