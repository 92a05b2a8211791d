"""Rows, reductions and base learners that the tests share."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris

from separatrix import (
    AllPairs,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
)
from separatrix.learners.reductions.columns import FittedColumns

IRIS, IRIS_LABELS = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[IRIS_LABELS]

_random = np.random.default_rng(0)
N, D, K = 210, 320, 5
CODES = np.arange(N) % K
_cells = np.where(_random.random((N, D)) < 0.03, _random.random((N, D)), 0.0)
_cells[np.arange(N), CODES] += 0.5 * (_random.random(N) < 0.8)
SPARSE = sp.csr_matrix(_cells)

REDUCTIONS = [
    OneVsAll(),
    AllPairs(),
    AllPairs(decode="scores"),
    OutputCode(code="random_sparse", random_state=3),
    OutputCode(code="random_dense", n_columns=12, decode="hamming", random_state=3),
]
BASES = [
    LinearSVM("squared_hinge", tol=1e-9),
    LinearSVM("hinge", tol=1e-7, max_iter=20_000),
    LogisticRegression(tol=1e-9),
    LogisticRegression(tol=1e-9, penalize_intercept=True),
    LinearSVM("squared_hinge", tol=1e-9, fit_intercept=False, class_weight="balanced"),
    LinearSVM("squared_hinge", tol=1e-9, class_weight={-1: 2.0, 1: 3.0}),
]


def both_ways(reduction, base, X, y, **options):
    together = clone(reduction).set_params(estimator=base).fit(X, y, **options)
    apart = clone(reduction).set_params(estimator=base, shared=False).fit(X, y, **options)
    assert isinstance(apart.columns_, FittedColumns)
    assert not isinstance(together.columns_, FittedColumns)
    return together, apart
