"""Adapters of our own estimators; `separatrix` is imported when first used."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.objectives import FloatArray
from benchmarks.peers import Arrays, passes_of, rungs
from benchmarks.spec import Outcome

# Relative duality gaps; dense where one pass more or less decides a cell.
_LOOSE = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 2e-5, 1e-5)
LADDER = rungs((*_LOOSE, 3e-6, 2e-6, 1.5e-6, 1e-6, 3e-7, 1e-7), default=1e-5)


def check_build() -> str | None:
    """Return why the library cannot be measured, or None.

    Raises
    ------
    SystemExit
        If the extension is there but was built without optimization.
    """
    try:
        core = importlib.import_module("separatrix._core")
    except ImportError as error:
        return f"separatrix is not importable ({error}): peers only"
    profile = getattr(core, "build_profile", "unknown")
    if profile != "release":
        raise SystemExit(
            f"separatrix._core is a {profile} build; its times mean nothing. Run `make build`."
        )
    return None


def fit_path(arrays: Arrays, *, Cs: Sequence[float], tol: float) -> Any:
    """Run `separatrix.regularization_path` of logistic regression over the grid `Cs`."""
    library = importlib.import_module("separatrix")
    estimator = library.LogisticRegression(tol=tol)
    return library.regularization_path(estimator, arrays.X, arrays.y, Cs)


def fit_discriminant(arrays: Arrays) -> Any:
    """Fit `separatrix.GaussianDiscriminant` and predict the test rows."""
    library = importlib.import_module("separatrix")
    # Warming up takes fewer rows than columns, where nothing but a shrunk covariance exists.
    n, d = arrays.X.shape
    model = library.GaussianDiscriminant(shrinkage=None if n > d else 0.5)
    model.fit(arrays.X, arrays.y)
    return model, model.predict(arrays.X_test)


def fit_reduction(arrays: Arrays, *, name: str, tol: float) -> Any:
    """Fit `separatrix.OneVsAll` or `AllPairs` with LIBLINEAR's problem in every column."""
    library = importlib.import_module("separatrix")
    base = library.LinearSVM("squared_hinge", penalize_intercept=True, tol=tol, random_state=0)
    return getattr(library, name)(base).fit(arrays.X, arrays.y)


def read_reduction(arrays: Arrays, model: Any) -> Outcome:
    """Return the weights of all columns and the labels of the test rows."""
    labels = np.asarray(model.predict(arrays.X_test), dtype=np.int64)
    columns = model.columns_
    passes = float(model.report_.n_passes.max())
    return Outcome(((columns.coef, columns.intercept),), passes, labels)


def read_path(arrays: Arrays, path: Any) -> Outcome:
    """Return the models of the grid."""
    models: list[tuple[FloatArray, FloatArray]] = [
        (np.atleast_2d(np.asarray(coef)), np.ravel(np.asarray(intercept)))
        for coef, intercept in zip(path.coefs, path.intercepts, strict=True)
    ]
    return Outcome(tuple(models), passes_of(path))
