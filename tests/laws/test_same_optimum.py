"""Every solver that fits reaches the same optimum: deterministic ones to 1e-6, others to 1e-3.

Losses, penalties and solvers come from the registries; P is computed from the loss alone, without
kernels.
"""

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LinearClassifier
from separatrix.errors import ConvergenceWarning
from separatrix.losses import MARGIN_LOSSES, MULTICLASS_LOSSES
from separatrix.solvers import SOLVERS
from tests.laws.conftest import SETS, binary
from tests.laws.nasty_problems import BINARY, MULTICLASS, PENALTIES, fitting_solvers

C = 0.1
#: Losses with one optimum: zero weights are one of the perceptron's.
FAMILIES = [("binary", loss) for loss in BINARY if loss != "perceptron"]
FAMILIES += [("multiclass", loss) for loss in MULTICLASS if loss != "perceptron"]
STOCHASTIC = [name for name, solver in SOLVERS.items() if hasattr(solver, "schedule")]


@cache
def rows(name, kind, form="float64 dense"):
    X, y = SETS[name]()
    dtype, layout = form.split()
    X = X.astype(dtype)
    return sp.csr_array(X) if layout == "sparse" else X, binary(y) if kind == "binary" else y


def fit(X, y, loss, solver, penalty="l2", **parameters):
    ratio = 0.5 if penalty == "elasticnet" else None
    settings = {"C": C, "tol": 1e-9, "max_iter": 20_000, "random_state": 0, **parameters}
    model = LinearClassifier(loss, penalty, l1_ratio=ratio, solver=solver, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def value(model, X, y, kind, loss, penalty="l2"):
    """P of a fitted model, in double precision."""
    scores = X.astype(np.float64) @ model.coef_.astype(float).T + model.intercept_.astype(float)
    codes = np.searchsorted(model.classes_, y)
    if kind == "binary":
        losses, _ = MARGIN_LOSSES[loss].value_and_grad(scores, np.where(codes == 1, 1.0, -1.0))
    else:
        losses, _ = MULTICLASS_LOSSES[loss]().value_and_grad(scores, codes)
    return C * losses.sum() + PENALTIES[penalty].value(model.coef_.astype(float).T)


@cache
def lowest(name, kind, loss):
    """P where the default solver ends, for all that are held against it."""
    X, y = rows(name, kind)
    return value(fit(X, y, loss, "auto"), X, y, kind, loss)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("kind", "loss"), FAMILIES)
def test_deterministic_solvers_agree(name, kind, loss):
    if kind == "multiclass" and name in ("breast_cancer", "digits"):
        pytest.skip("two classes, or too slow for all solvers")
    X, y = rows(name, kind)
    solvers = [s for s in fitting_solvers(loss, "l2", kind, False) if s not in STOCHASTIC]
    values = {s: value(fit(X, y, loss, s), X, y, kind, loss) for s in solvers}
    best = min(values.values())
    assert max(values.values()) <= best * (1 + 1e-6), values


@pytest.mark.parametrize("form", ["float32 dense", "float64 sparse", "float32 sparse"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("kind", "loss"), FAMILIES)
def test_forms_and_penalties_have_one_optimum(kind, loss, penalty, form):
    X, y = rows("iris", kind, form)
    solvers = fitting_solvers(loss, penalty, kind, form.endswith("sparse"))
    solvers = [s for s in solvers if s not in STOCHASTIC]
    if not solvers or solvers == ["auto"]:
        pytest.skip("only stochastic solvers fit")
    values = {s: value(fit(X, y, loss, s, penalty, tol=1e-6), X, y, kind, loss, penalty)
              for s in solvers}  # fmt: skip
    plain, _ = rows("iris", kind)
    best = min(value(fit(plain, y, loss, "auto", penalty), plain, y, kind, loss, penalty),
               *values.values())  # fmt: skip
    assert max(values.values()) <= best * (1 + 2e-5), values


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("solver", STOCHASTIC)
def test_stochastic_solvers_come_close(name, loss, solver):
    X, y = rows(name, "binary")
    found = fit(X, y, loss, solver, tol=1e-6, max_iter=1500)
    best = lowest(name, "binary", loss)
    assert value(found, X, y, "binary", loss) <= best + 1e-3 * max(1, best)


@pytest.mark.parametrize("solver", STOCHASTIC)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_stochastic_solvers_come_close_with_many_classes(solver, loss):
    X, y = rows("wine", "multiclass")
    found = fit(X, y, loss, solver, tol=1e-6, max_iter=1500)
    best = lowest("wine", "multiclass", loss)
    assert value(found, X, y, "multiclass", loss) <= best + 1e-3 * max(1, best)


@pytest.mark.parametrize("solver", fitting_solvers("logistic", "l2", "binary", False))
def test_every_solver_leaves_a_trace(solver):
    X, y = SETS["iris"]()
    with np.errstate(all="raise", under="ignore"):
        model = LinearClassifier(solver=solver, tol=1e-3, max_iter=200, random_state=0)
        trace = model.fit(X, y == 1).solution_.trace
    assert len(trace) > 0
    assert np.isfinite(trace.objective).all()
    assert (np.diff(trace.n_passes) > 0).all()
    assert (np.diff(trace.seconds) >= 0).all()
