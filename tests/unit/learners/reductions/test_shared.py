"""One pass over X for all columns gives what separate fits give."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from separatrix import (
    AllPairs,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
)
from separatrix.errors import ConvergenceWarning, ParameterError
from separatrix.learners.reductions import shared as shared_module
from separatrix.learners.reductions.columns import LinearColumns, SupportColumns
from tests.unit.learners.reductions.problems import (
    BASES,
    CODES,
    IRIS,
    IRIS_LABELS,
    NAMES,
    REDUCTIONS,
    SPARSE,
    K,
    N,
    both_ways,
)


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
@pytest.mark.parametrize("base", BASES, ids=repr)
def test_one_pass_predicts_what_separate_fits_predict(reduction, base):
    together, apart = both_ways(reduction, base, SPARSE, CODES)
    assert "dual coordinate descent" in together.report_.solver
    np.testing.assert_array_equal(together.predict(SPARSE), apart.predict(SPARSE))
    np.testing.assert_allclose(
        together.column_scores(SPARSE), apart.column_scores(SPARSE), atol=2e-3
    )
    objectives = [model.solution_.objective for model in apart.estimators_]
    np.testing.assert_allclose(together.report_.objective, objectives, rtol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS[:4], ids=repr)
@pytest.mark.parametrize(
    "base",
    [
        LinearSVM("squared_hinge"),
        LinearSVM("hinge"),
        LinearSVM("squared_hinge", solver="dual", tol=1e-6, max_iter=20_000, C=0.01),
        LogisticRegression(penalty="l1"),
        LinearClassifier("exponential", C=0.1),
        LinearClassifier("squared"),
    ],
    ids=repr,
)
def test_dense_rows_too(reduction, base):
    y = NAMES
    together, apart = both_ways(reduction, base, IRIS, y)
    assert together.predict(IRIS).dtype == NAMES.dtype
    assert (together.predict(IRIS) == apart.predict(IRIS)).mean() >= 0.993
    np.testing.assert_allclose(
        together.report_.objective,
        [model.solution_.objective for model in apart.estimators_],
        rtol=2e-4,
    )


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_weights_of_rows_pass_through(reduction):
    weights = np.random.default_rng(5).integers(0, 3, N).astype(float)
    base = LogisticRegression(tol=1e-9)
    together, apart = both_ways(reduction, base, SPARSE, CODES, sample_weight=weights)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    again = clone(together).fit(SPARSE[repeated], CODES[repeated])
    for other in (apart, again):
        np.testing.assert_allclose(
            together.column_scores(SPARSE), other.column_scores(SPARSE), atol=1e-3
        )


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
def test_threads_change_nothing(reduction):
    models = [clone(reduction).set_params(n_jobs=n).fit(SPARSE, CODES) for n in (1, 3)]
    first, second = (model.columns_ for model in models)
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.intercept, second.intercept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept_and_sparse_equals_dense(dtype):
    base = LinearSVM("squared_hinge", tol=1e-6, solver="dual")
    X = SPARSE.astype(dtype)
    for reduction in (OneVsAll(base), AllPairs(base)):
        sparse = clone(reduction).fit(X, CODES)
        dense = clone(reduction).fit(X.toarray(), CODES)
        assert sparse.columns_.coef.dtype == dtype
        np.testing.assert_allclose(
            sparse.column_scores(X), dense.column_scores(X.toarray()), atol=2e-2
        )
        np.testing.assert_allclose(
            sparse.column_scores(X), sparse.column_scores(X.toarray()), atol=1e-5
        )


def test_columns_kept_as_rows_and_duals_score_the_same(monkeypatch):
    base = LinearSVM("squared_hinge", solver="dual", random_state=0)
    weights = AllPairs(base).fit(SPARSE, CODES)
    # Stands for more columns than rows: with these few the weights take less room.
    monkeypatch.setattr(shared_module._Fit, "_wants_duals", lambda self: True)
    duals = AllPairs(base).fit(SPARSE, CODES)
    assert isinstance(weights.columns_, LinearColumns)
    assert isinstance(duals.columns_, SupportColumns)
    np.testing.assert_allclose(
        duals.column_scores(SPARSE), weights.column_scores(SPARSE), atol=1e-10
    )
    np.testing.assert_allclose(duals.columns_.coef.toarray(), weights.columns_.coef, atol=1e-10)
    np.testing.assert_array_equal(
        duals.estimators_[4].predict(SPARSE), np.sign(weights.column_scores(SPARSE)[:, 4])
    )


def test_a_column_that_stalls_goes_on_as_it_would_alone():
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.uniform(-2, 2, 300)
    X = sp.csr_matrix(
        np.where(rng.random((200, 300)) < 0.2, scales * rng.normal(size=(200, 300)), 0)
    )
    y = rng.integers(0, 3, 200)
    base = LogisticRegression(C=1e3, tol=1e-7, max_iter=5000, random_state=0)
    together, apart = both_ways(OneVsAll(), base, X, y)
    np.testing.assert_allclose(
        together.report_.objective,
        [model.solution_.objective for model in apart.estimators_],
        rtol=1e-5,
    )


def test_c_sets_the_strength_of_the_estimator():
    model = OneVsAll(LinearSVM("squared_hinge", random_state=0), C=0.03).fit(SPARSE, CODES)
    given = OneVsAll(LinearSVM("squared_hinge", C=0.03, random_state=0)).fit(SPARSE, CODES)
    np.testing.assert_array_equal(model.columns_.coef, given.columns_.coef)
    assert model.estimators_[0].C == 0.03
    with pytest.raises(ParameterError, match="GaussianNB has no C"):
        OneVsAll(GaussianNB(), C=1.0).fit(IRIS, NAMES)


def test_the_solution_sums_over_the_columns():
    model = OneVsAll(C=0.1).fit(SPARSE, CODES)
    W, b = model.columns_.coef, model.columns_.intercept
    targets = np.where(CODES[:, None] == np.arange(K), 1, -1)
    losses = np.maximum(0, 1 - targets * (SPARSE @ W.T + b)) ** 2
    objective = 0.5 * np.square(W).sum() + 0.1 * losses.sum()
    assert model.solution_.objective == pytest.approx(objective, rel=1e-9)
    assert 0 <= model.solution_.gap <= 1e-3 * objective
    assert model.solution_.stopped.name == "CONVERGED"
    assert not hasattr(OneVsAll(shared=False).fit(IRIS, NAMES), "solution_")


def test_a_used_up_budget_is_told():
    with pytest.warns(ConvergenceWarning, match="columns of OneVsAll used up max_iter=2"):
        OneVsAll(LinearSVM("hinge", max_iter=2, tol=1e-9)).fit(SPARSE, CODES)


@pytest.mark.parametrize("intercept", [{}, {"penalize_intercept": True}, {"fit_intercept": False}])
def test_least_squares_factors_one_matrix(intercept):
    weights = np.random.default_rng(1).uniform(0.5, 2, len(IRIS))
    base = LinearClassifier("squared", C=0.7, tol=1e-10, **intercept)
    fast = OneVsAll(base).fit(IRIS, IRIS_LABELS, sample_weight=weights)
    slow = OneVsAll(clone(base).set_params(solver="newton"))
    slow.fit(IRIS, IRIS_LABELS, sample_weight=weights)
    assert "Cholesky" in fast.report_.solver
    assert "Cholesky" not in slow.report_.solver
    np.testing.assert_allclose(fast.columns_.coef, slow.columns_.coef, atol=1e-5)
    np.testing.assert_allclose(fast.columns_.intercept, slow.columns_.intercept, atol=1e-4)
    np.testing.assert_allclose(fast.report_.objective, slow.report_.objective, rtol=1e-8)


@pytest.mark.parametrize("intercept", [{}, {"penalize_intercept": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("n_rows", [40, 400])  # fewer and more than there are columns
def test_least_squares_of_pairs_and_of_few_rows(intercept, n_rows):
    X = SPARSE.toarray()[:n_rows, :60]
    base = LinearClassifier("squared", C=0.7, tol=1e-10, class_weight="balanced", **intercept)
    for reduction in (AllPairs(), OneVsAll()):
        together, apart = both_ways(reduction, base, X, CODES[:n_rows])
        assert "Cholesky" in together.report_.solver
        np.testing.assert_allclose(
            together.column_scores(X), apart.column_scores(X), rtol=1e-4, atol=1e-5
        )
