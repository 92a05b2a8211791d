"""Small problems on which deterministic solvers must agree with a reference."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from separatrix.losses import MARGIN_LOSSES, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L2
from separatrix.results import Monitor
from separatrix.structures.labels import FlatScores, make_design

SMOOTH = ["logistic", "squared_hinge", "squared", "exponential", "multiclass_logistic"]


def make(
    loss="logistic",
    penalty=None,
    *,
    n=90,
    d=6,
    n_classes=4,
    dtype=np.float64,
    sparse=False,
    intercept=True,
    exempt=True,
    weighted=False,
    C=0.7,
    n_threads=1,
    seed=0,
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    X = (X * np.linspace(0.3, 1.5, d)).astype(dtype)
    truth = rng.normal(size=(d, n_classes))
    scores = X @ truth + 0.5 + rng.gumbel(size=(n, n_classes))
    if loss == "multiclass_logistic":
        kind, targets, n_scores = multiclass_logistic(), scores.argmax(axis=1), n_classes
    else:
        kind, n_scores = MARGIN_LOSSES[loss], 1
        targets = np.where(scores[:, 0] > scores[:, 1], 1.0, -1.0).astype(dtype)
    data = sp.csr_array(X) if sparse else X
    score_map = FlatScores(
        make_design(data, n_threads),
        n_scores,
        intercept=intercept,
        dtype=dtype,
        n_threads=n_threads,
    )
    return Objective(
        score_map,
        kind,
        L2() if penalty is None else penalty,
        targets,
        C=C,
        sample_weight=rng.uniform(0, 2, size=n).round() if weighted else None,
        exempt=intercept and exempt,
    )


def monitor(tol=1e-9, max_passes=5000, **options):
    return Monitor(tol=tol, max_passes=max_passes, **options)


def reference(objective):
    """Minimum of a smooth objective by scipy, in two stages."""
    shape = objective.score_map.weight_shape

    def value_and_grad(flat):
        value, grad = objective.value_and_grad(flat.reshape(shape))
        return value, grad.reshape(-1)

    result = scipy.optimize.minimize(
        value_and_grad,
        np.zeros(int(np.prod(shape))),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return float(result.fun)
