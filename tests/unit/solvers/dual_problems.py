"""Problems for the tests of dual coordinate descent."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp

from separatrix.losses import (
    Hinge,
    Logistic,
    SquaredHinge,
    multiclass_hinge,
    multiclass_logistic,
)
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.results import Monitor
from separatrix.solvers import DualCoordinateDescent
from separatrix.structures.labels import FlatScores, make_design

COST = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 0.5], [0.0, 3.0, 0.0]])
LOSSES = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "multiclass_hinge": multiclass_hinge(),
    "cost": multiclass_hinge(COST),
    "multiclass_logistic": multiclass_logistic(),
}
INTERCEPTS = ("none", "penalized", "free")


def make_data(n=60, d=5, *, scale=1.0, seed=0, dtype=np.float64, sparse=False):
    """Three overlapping classes; y in {0, 1, 2}."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, d)) + 0.7 * np.eye(3, d)[y]
    X[np.abs(X) < 0.4] = 0
    X = (scale * X).astype(dtype)
    return (sp.csr_matrix(X) if sparse else X), y


def make_objective(X, y, name, intercept="none", *, C=1.0, weight=None, n_threads=1):
    loss = LOSSES[name]
    k = loss.n_scores or int(max(3, y.max() + 1))
    targets = np.where(y == 0, 1, -1) if k == 1 else y
    scores = FlatScores(
        make_design(X, n_threads),
        k,
        intercept=intercept != "none",
        dtype=X.dtype,
        n_threads=n_threads,
    )
    return Objective(
        scores, loss, L2(), targets, C=C, sample_weight=weight, exempt=intercept == "free"
    )


def solve(objective, *, tol=1e-8, max_passes=20_000, **options):
    monitor = Monitor(tol=tol, max_passes=max_passes)
    return DualCoordinateDescent(**options).minimize(objective, None, monitor)


def dense(X):
    return (X.toarray() if sp.issparse(X) else X).astype(np.float64)


def weights_from_duals(X, objective, dual):
    """W(a) without intercepts, in float64."""
    if dual.ndim == 1:
        return (dense(X).T @ (dual * objective.targets))[:, None]
    onehot = np.eye(dual.shape[1])[objective.targets]
    return dense(X).T @ (objective.row_weights[:, None] * onehot - dual)


def numpy_value(X, objective, w):
    """P(w) from its definition, in float64."""
    w, u = w.astype(np.float64), objective.row_weights
    X, y = dense(X), objective.targets
    name = objective.loss.name
    intercept = objective.score_map.intercept
    b = w[-1] if intercept else np.zeros(w.shape[1])
    z = X @ w[: X.shape[1]] + b
    if w.shape[1] == 1:
        m = y * z[:, 0]
        loss = {
            "hinge": np.maximum(1 - m, 0),
            "squared_hinge": np.maximum(1 - m, 0) ** 2,
            "logistic": np.logaddexp(0, -m),
        }[name]
    else:
        gold = z[np.arange(len(y)), y]
        if name == "multiclass_logistic":
            top = z.max(axis=1)
            loss = top + np.log(np.exp(z - top[:, None]).sum(axis=1)) - gold
        else:
            cost = objective.loss.max_op.cost
            cost = 1 - np.eye(w.shape[1]) if cost is None else cost
            loss = (z + cost[y]).max(axis=1) - gold
    value = 0.5 * (w[: X.shape[1]] ** 2).sum() + (u * loss).sum()
    return value + (0.5 * (b**2).sum() if intercept and not objective.exempt else 0.0)


def check_duals(objective, a):
    """Fail unless dual variables are feasible but for their sums over the rows."""
    u = objective.row_weights
    assert a.min() >= 0
    if a.ndim == 1:
        assert objective.loss.name == "squared_hinge" or (a <= u * (1 + 1e-12)).all()
    else:
        np.testing.assert_allclose(a.sum(axis=1), u, rtol=1e-5)


ALL = list(itertools.product(LOSSES, INTERCEPTS))
