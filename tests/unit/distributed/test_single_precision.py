"""Rows in float32: the same optimum, although the objective that is reported is rounded.

A loss is computed in the precision of its row, so that a sum of losses carries an error of some
1e-8 here and there. What the weights are worth is asked of the same rows in double precision.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits

from separatrix import CRF, LinearSVM, LogisticRegression
from separatrix.data import AttributeSequences, as_attribute_sequences
from separatrix.distributed import fit
from separatrix.distributed.problems import Setting, make_problem
from separatrix.distributed.rows import Rows
from separatrix.distributed.sentences import ChainProblem
from separatrix.structures.chain.structure import observed_chain
from separatrix.structures.coded_labels import encode_tags
from tests.unit.distributed.sequences import sentences, sequence_bags


def worth(model: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """P(w) in double precision."""
    setting = Setting(model, np.unique(y), np.dtype(np.float64))
    problem = make_problem(Rows(0, X.astype(np.float64), y, None), setting)
    w = np.asarray(w, dtype=np.float64)
    loss = problem.objective().loss
    losses, _ = loss.value_and_grad(problem.objective().score_map(w), problem.objective().targets)
    return float(model.C * losses.sum() + 0.5 * (w[:-1] ** 2).sum())


# Gradients of partitions are in single precision: the fit says that it ends there.
@pytest.mark.filterwarnings("ignore:.*floating point allows:separatrix.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(tol=1e-10),
        LogisticRegression(tol=1e-10, solver="lbfgs"),
        LinearSVM("squared_hinge", tol=1e-10),
    ],
)
def test_two_classes(nearby: Any, model: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    here = clone(model).fit(X, y)
    there = fit(clone(model), da.from_array(X, chunks=(100, 30)), y, client=nearby)
    assert there.coef_.dtype == here.coef_.dtype == np.float32
    wanted = worth(model, X, y, here.solution_.w)
    assert abs(worth(model, X, y, there.solution_.w) - wanted) <= 1e-8 * wanted
    # What is claimed is that, to the rounding of float32.
    assert there.solution_.objective == pytest.approx(wanted, rel=1e-6)


def test_many_classes(nearby: Any) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = (X[:300] / 16).astype(np.float32), y[:300]
    # Gradients of partitions are in single precision, and so is what they can prove.
    model = LogisticRegression(tol=1e-5)
    here = clone(model).fit(X, y)
    there = fit(clone(model), da.from_array(X, chunks=(90, 64)), y, client=nearby)
    wanted = worth(model, X, y, here.solution_.w)
    assert abs(worth(model, X, y, there.solution_.w) - wanted) <= 1e-5 * wanted


@pytest.mark.filterwarnings("ignore:.*floating point allows:separatrix.errors.ConvergenceWarning")
def test_the_hinge_is_certified_to_the_rounding_of_its_weights(nearby: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    model = LinearSVM(C=0.01, tol=1e-9, random_state=0)
    blocks = da.from_array(sp.csr_array(X), chunks=(200, 30), asarray=False)
    solution = fit(clone(model), blocks, y, client=nearby).solution_
    assert solution.gap <= 1e-8 * solution.objective
    assert solution.n_passes < 500
    wanted = clone(model).fit(X, y).solution_.objective
    assert abs(solution.objective - wanted) <= 1e-8 * wanted


def test_sequences(nearby: Any) -> None:
    X, y = sentences(60, places=8)
    found = as_attribute_sequences(X)
    assert found.matrix.dtype == np.float32
    here = CRF(tol=1e-9, solver="lbfgs").fit(X, y)
    there = fit(CRF(tol=1e-9), *sequence_bags(X, y, 4), client=nearby)
    tags = encode_tags(y, found.offsets)
    chain = observed_chain(found, len(tags.classes), tags.codes)
    exact = AttributeSequences(
        found.matrix.astype(np.float64), found.vocabulary, found.offsets, None, None
    )
    problem = ChainProblem(0, exact, tags, None, chain)

    def likelihood(w: np.ndarray) -> float:
        w = np.asarray(w, dtype=np.float64)
        return problem.evaluate(w[:, None], False)[0] + 0.5 * float(w @ w)

    wanted = likelihood(here.coef_)
    assert abs(likelihood(there.coef_) - wanted) <= 1e-8 * wanted
