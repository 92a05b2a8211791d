"""Whatever the partitions and the workers: the objective of the fit on one machine, to 1e-8."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from separatrix import (
    CRF,
    MIRA,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
    Perceptron,
    StructuredPerceptron,
)
from separatrix.distributed import fit
from separatrix.errors import ParameterError, SolverError
from separatrix.results import StopReason
from separatrix.structures import Chain
from tests.unit.distributed.sequences import sentences, sequence_bags


@pytest.fixture(scope="module")
def two() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:300, :10], np.array(["b", "m"])[y[:300]]


@pytest.fixture(scope="module")
def ten() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:250] / 16, y[:250]


def compare(client: Any, model: Any, X: Any, y: Any, chunk: int, weights: Any = None) -> Any:
    here = clone(model).fit(X, y, sample_weight=weights)
    lazy = da.from_array(X, chunks=(chunk, X.shape[1]), asarray=False)
    there = fit(clone(model), lazy, y, weights, client=client)
    assert there.classes_.tolist() == here.classes_.tolist()
    found, wanted = there.solution_.objective, here.solution_.objective
    assert abs(found - wanted) <= 1e-8 * wanted
    # The objective that is claimed is that of the weights that are kept.
    assert (there.predict(X) == here.predict(X)).mean() > 0.99
    return there


@pytest.mark.parametrize(
    ("model", "chunk"),
    [
        (LogisticRegression(tol=1e-10), 300),
        (LogisticRegression(tol=1e-10, penalize_intercept=True, class_weight="balanced"), 110),
        # More partitions than the tree has children.
        (LinearSVM("squared_hinge", tol=1e-10, solver="newton"), 23),
    ],
)
def test_two_classes(client: Any, two: Any, model: Any, chunk: int) -> None:
    there = compare(client, model, *two, chunk)
    assert there.solution_.solver == "exact Newton"


def test_lbfgs_and_conjugate_gradients(client: Any, two: Any) -> None:
    X, y = two
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    model = LogisticRegression(tol=1e-10, solver="lbfgs", C=0.1)
    assert compare(client, model, X, y, 120, weights).solution_.solver == "L-BFGS"
    # Wide sparse rows have no Hessian as a matrix.
    wide = sp.random_array((300, 400), density=0.05, format="csr", random_state=0)
    model = LogisticRegression(tol=1e-10, solver="newton", C=0.1)
    assert compare(client, model, wide, y, 120).solution_.solver == "Newton-CG"


def test_many_classes(client: Any) -> None:
    X, y = load_iris(return_X_y=True)
    there = compare(client, LogisticRegression(tol=1e-10), X, y, 40)
    np.testing.assert_allclose(there.coef_.sum(axis=0), 0, atol=1e-6)
    assert abs(there.intercept_.sum()) < 1e-9


def test_penalties_with_a_kink(nearby: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression("elasticnet", tol=1e-9, C=0.1)
    there = compare(nearby, model, X - X.mean(axis=0), (y == 2).astype(int), 80)
    assert there.solution_.solver == "OWL-QN"


def test_hinge(client: Any, two: Any) -> None:
    there = compare(client, LinearSVM(C=0.01, tol=1e-9, random_state=0), *two, 110)
    solution = there.solution_
    assert solution.certificate == "duality gap"
    assert solution.gap <= 1e-9 * max(1.0, solution.objective)


@pytest.mark.slow
def test_hinge_of_many_classes_with_costs(nearby: Any) -> None:
    X, y = load_iris(return_X_y=True)
    cost = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    compare(nearby, LinearSVM(C=0.1, cost=cost, tol=1e-9, random_state=0), X, y, 60)
    cost = np.array([[0.0, 2.0], [1.0, 0.0]])
    compare(nearby, LinearSVM(C=0.1, cost=cost, tol=1e-9, random_state=0), X, y > 0, 60)


def test_workers_do_not_change_a_bit(client: Any, nearby: Any, two: Any) -> None:
    X, y = two
    lazy = da.from_array(X, chunks=(23, 10))
    model = LogisticRegression(tol=1e-6, solver="lbfgs")
    many = fit(clone(model), lazy, y, client=client)
    one = fit(clone(model), lazy, y, client=nearby)
    assert (many.coef_ == one.coef_).all()
    assert many.solution_.n_passes == one.solution_.n_passes


@pytest.mark.parametrize(
    "reduction",
    [
        OneVsAll(LogisticRegression(tol=1e-9, C=0.1)),
        OutputCode(LinearSVM("squared_hinge", C=0.1, tol=1e-9), code="exhaustive"),
    ],
)
def test_columns(nearby: Any, reduction: Any) -> None:
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    here = clone(reduction).fit(X, y)
    there = fit(clone(reduction), da.from_array(X, chunks=(60, 4)), y, client=nearby)
    assert (there.code_.values == here.code_.values).all()
    np.testing.assert_allclose(there.report_.objective, here.report_.objective, rtol=1e-8)
    np.testing.assert_allclose(there.column_weights_, here.column_weights_)
    assert (there.predict(X) == here.predict(X)).mean() > 0.99


@pytest.mark.slow
def test_columns_of_the_hinge(nearby: Any) -> None:
    X, y = load_iris(return_X_y=True)
    base = LinearSVM(C=0.01, tol=1e-9)
    X = X - X.mean(axis=0)
    there = fit(OneVsAll(base), da.from_array(X, chunks=(80, 4)), y, client=nearby)
    here = OneVsAll(base, shared=False).fit(X, y)
    for mine, own in zip(there.estimators_, here.estimators_, strict=True):
        wanted = own.solution_.objective
        assert abs(mine.solution_.objective - wanted) <= 1e-8 * wanted


@pytest.mark.parametrize("options", [{}, {"structure": Chain(order=2, transitions="observed")}])
def test_chains(client: Any, options: dict[str, Any]) -> None:
    X, y = sentences(60)
    here = CRF(tol=1e-9, solver="lbfgs", **options).fit(X, y)
    there = fit(CRF(tol=1e-9, **options), *sequence_bags(X, y, 4), client=client)
    wanted = here.solution_.objective
    assert abs(there.solution_.objective - wanted) <= 1e-8 * wanted
    assert there.attributes_ == here.attributes_
    assert there.coef_.shape == here.coef_.shape
    pairs = zip(there.predict(X), here.predict(X), strict=True)
    assert np.mean([mine == own for mine, own in pairs]) >= 0.95  # ties but for rounding


def test_chains_labelled_in_part_have_no_certificate(client: Any) -> None:
    X, y = sentences(60)
    y = [[None if i % 3 == 1 else label for i, label in enumerate(row)] for row in y]
    there = fit(CRF(partial=True, tol=1e-3), *sequence_bags(X, y, 4), client=client)
    assert there.solution_.stopped is StopReason.STATIONARY
    assert (there.solution_.gap, there.solution_.certificate) == (np.inf, "none")


def test_online_learners_mix_what_partitions_learn(client: Any, ten: Any) -> None:
    X, y = ten
    lazy = da.from_array(X, chunks=(90, 64))
    for model in (Perceptron(random_state=0), MIRA(random_state=0, averaging="none")):
        there = fit(clone(model), lazy, y, client=client)
        assert there.mistakes_[0] > 0
        assert there.score(X, y) > 0.97
        again = fit(clone(model), lazy, y, client=client)
        assert (again.coef_ == there.coef_).all()
    # One partition is one learner: the first pass is the same in any case.
    alone = fit(
        Perceptron(shuffle=False, max_iter=1), da.from_array(X, chunks=(250, 64)), y, client=client
    )
    np.testing.assert_allclose(
        alone.coef_, Perceptron(shuffle=False, max_iter=1).fit(X, y).coef_, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("loss", ["perceptron", "mira"])
def test_structured_perceptron_mixes(client: Any, loss: str) -> None:
    X, y = sentences(60)
    there = fit(
        StructuredPerceptron(loss=loss, random_state=0), *sequence_bags(X, y, 3), client=client
    )
    assert there.score(X, y) > 0.8
    assert len(there.mistakes_) <= 10
    alone = fit(
        StructuredPerceptron(loss=loss, shuffle=False, max_iter=1),
        *sequence_bags(X, y, 1),
        client=client,
    )
    here = StructuredPerceptron(loss=loss, shuffle=False, max_iter=1).fit(X, y)
    np.testing.assert_allclose(alone.coef_, here.coef_, rtol=1e-9, atol=1e-9)


def test_solvers_that_need_rows_are_refused(client: Any, two: Any) -> None:
    X, y = two
    lazy = da.from_array(X, chunks=(150, 10))
    with pytest.raises(ParameterError, match="on Dask use 'auto'"):
        fit(LogisticRegression(solver="dual"), lazy, y, client=client)
    with pytest.raises(ParameterError, match="method of multipliers"):
        fit(LinearSVM(solver="dual"), lazy, y, client=client)
    with pytest.raises(SolverError, match="smooth"):
        fit(LinearClassifier("perceptron"), lazy, y, client=client)
