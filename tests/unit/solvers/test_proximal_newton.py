"""Proximal Newton: the optimum of others, exact zeros, few passes, kernels against references."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as Peer

from separatrix._core import Dense, column_descent, column_gram, quadratic_descent
from separatrix.errors import DataError, SolverError
from separatrix.learners.linear import LogisticRegression
from separatrix.losses import Logistic, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, ElasticNet, Unpenalized
from separatrix.results import Monitor, StopReason
from separatrix.solvers import ProximalGradient, ProximalNewton
from separatrix.solvers.choose import choose
from separatrix.solvers.points import Points
from separatrix.solvers.primal.hessian import loss_hessian
from separatrix.solvers.proximal.quadratic_model import minimize_quadratic
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import SMOOTH, make, monitor, reference

PENALTIES = {"l1": L1(), "elasticnet": ElasticNet(0.6)}
LAYOUTS = [(True, True), (True, False), (False, False)]


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_same_optimum_as_proximal_gradient(loss, penalty):
    for (intercept, exempt), sparse, weighted, C in itertools.product(
        LAYOUTS, [False, True], [False, True], [0.1, 2.0]
    ):
        if sparse and loss == "multiclass_logistic":
            continue
        options = {"intercept": intercept, "exempt": exempt, "weighted": weighted, "C": C}
        objective = make(loss, PENALTIES[penalty], sparse=sparse, **options)
        expected = ProximalGradient().minimize(objective, None, monitor(tol=1e-7, max_passes=1e5))
        for solver in [ProximalNewton(), ProximalNewton(exact_limit=3)]:
            if not solver.fits(objective):
                continue
            found = solver.minimize(objective, None, monitor(tol=1e-9))
            assert found.stopped is StopReason.CONVERGED, options
            assert found.certificate == "duality gap"
            assert found.objective == pytest.approx(expected.objective, rel=1e-6)
            assert found.objective <= expected.objective * (1 + 1e-9)
            assert found.objective == pytest.approx(objective.value(found.w), rel=1e-12)


@pytest.mark.parametrize("loss", SMOOTH)
def test_single_precision(loss):
    for sparse, C in itertools.product([False, True], [0.3, 10.0]):
        if sparse and loss == "multiclass_logistic":
            continue
        best = ProximalNewton().minimize(make(loss, L1(), C=C), None, monitor(tol=1e-10))
        objective = make(loss, L1(), C=C, sparse=sparse, dtype=np.float32)
        for limit in [2000, 3]:
            solver = ProximalNewton(exact_limit=limit)
            if not solver.fits(objective):
                continue
            found = solver.minimize(objective, None, monitor(tol=1e-5))
            assert found.stopped is StopReason.CONVERGED
            assert found.objective == pytest.approx(best.objective, rel=2e-5)


@pytest.mark.filterwarnings("ignore:.*penalty.*")
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_optimum_as_scikit_learn(penalty, n_classes):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    keep = y < n_classes
    X, y = X[keep] + (0.1 if n_classes == 2 else 0.0), y[keep]
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    for intercept in [False, True]:
        ratio = 1.0 if penalty == "l1" else 0.4
        peer = Peer(
            penalty="elasticnet",
            l1_ratio=ratio,
            C=0.5,
            solver="saga",
            tol=1e-10,
            max_iter=100000,
            fit_intercept=intercept,
        ).fit(X, y, weights)
        model = LogisticRegression(
            penalty,
            C=0.5,
            l1_ratio=ratio if penalty == "elasticnet" else None,
            tol=1e-10,
            fit_intercept=intercept,
        ).fit(X, y, sample_weight=weights)
        assert model.solution_.solver == "proximal Newton"
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)
        if n_classes == 2:
            np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*penalty.*")
def test_same_optimum_as_liblinear_on_sparse_data():
    rng = np.random.default_rng(1)
    X = sp.random_array((300, 800), density=0.03, rng=rng, format="csr")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    y = (X @ rng.normal(size=800) > 0).astype(int)
    peer = Peer(
        penalty="l1", C=3.0, solver="liblinear", tol=1e-8, fit_intercept=False, max_iter=10000
    ).fit(X, y)
    for limit in [2000, 0]:
        model = LogisticRegression(
            "l1", C=3.0, tol=1e-9, fit_intercept=False, solver=ProximalNewton(exact_limit=limit)
        ).fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
        assert ((model.coef_ == 0) == (peer.coef_ == 0)).mean() > 0.99


def test_weights_are_exactly_zero_and_the_intercept_is_free():
    for loss, sparse in [("logistic", False), ("logistic", True), ("multiclass_logistic", False)]:
        objective = make(loss, L1(), C=0.05, sparse=sparse)
        found = ProximalNewton().minimize(objective, None, monitor())
        assert (found.w[:-1] == 0).any()
        assert (found.w[-1] != 0).all()
    nothing = ProximalNewton().minimize(make("logistic", L1(), C=1e-4), None, monitor())
    assert not nothing.w[:-1].any()


@pytest.mark.parametrize("C", [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3])
def test_unscaled_iris_takes_few_passes(C):
    X, y = load_iris(return_X_y=True)
    for penalty in ["l1", "elasticnet"]:
        model = LogisticRegression(penalty, C=C, tol=1e-8).fit(X, y)
        assert model.solution_.stopped is StopReason.CONVERGED
        assert model.solution_.n_passes < 100
        assert len(model.solution_.trace) < 40


def test_smooth_penalties_and_none_work_too():
    for penalty in [L2(), ElasticNet(0.0), Unpenalized()]:
        for loss in SMOOTH:
            objective = make(loss, penalty)
            found = ProximalNewton().minimize(objective, None, monitor(tol=1e-7))
            bounded = not isinstance(penalty, Unpenalized)
            assert found.stopped is (StopReason.CONVERGED if bounded else StopReason.STATIONARY)
            assert found.objective == pytest.approx(reference(objective), rel=1e-6)


def test_separable_data_and_bad_starts_leave_finite_weights():
    for loss in SMOOTH:
        for penalty in [L1(), Unpenalized()]:
            objective = make(loss, penalty, n=8, d=30, C=100.0)
            start = np.full(objective.weight_shape, 1e3)
            for w0 in [None, start]:
                found = ProximalNewton().minimize(objective, w0, monitor(tol=1e-12, max_passes=300))
                assert np.isfinite(found.w).all()
                assert found.objective < 0.5 * objective.value(np.zeros_like(found.w))
    assert (start == 1e3).all()


def test_an_interrupt_and_the_budget_end_a_run():
    objective = make("multiclass_logistic", L1(), C=10.0)

    def report(row):
        if len(seen.trace) == 3:
            raise KeyboardInterrupt

    seen = Monitor(tol=0.0, max_passes=1e9, report=report)
    found = ProximalNewton().minimize(objective, None, seen)
    assert found.stopped is StopReason.INTERRUPTED
    assert found.objective == pytest.approx(objective.value(found.w), rel=1e-9)
    assert found.objective < objective.value(np.zeros_like(found.w))
    short = ProximalNewton().minimize(objective, None, Monitor(tol=0.0, max_passes=3))
    assert short.stopped is StopReason.BUDGET


def test_tolerance_zero_ends_by_itself():
    for loss in ["logistic", "multiclass_logistic"]:
        for dtype in [np.float32, np.float64]:
            objective = make(loss, L1(), dtype=dtype)
            found = ProximalNewton().minimize(objective, None, monitor(tol=0.0, max_passes=1e5))
            assert found.n_passes < 500


def test_an_interrupt_inside_a_model_keeps_the_best_weights(monkeypatch):
    import separatrix.solvers.proximal.newton as module

    calls = []

    def model(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return minimize_quadratic(*arguments)

    monkeypatch.setattr(module, "minimize_quadratic", model)
    objective = make("logistic", L1(), C=10.0)
    found = ProximalNewton().minimize(objective, None, monitor(tol=0.0))
    assert found.stopped is StopReason.INTERRUPTED
    assert found.objective == pytest.approx(objective.value(found.w), rel=1e-9)


def test_what_it_needs_is_said():
    with pytest.raises(SolverError, match="second derivative"):
        ProximalNewton().minimize(make("hinge", L1()), None, monitor())
    wide = make("multiclass_logistic", L1(), sparse=True)
    assert isinstance(choose(wide), ProximalGradient)
    with pytest.raises(SolverError, match="one score per row"):
        ProximalNewton().minimize(wide, None, monitor())

    class Own:
        name, smooth, curvature = "l1", False, 0.0
        value, grad, prox = L1().value, L1().grad, L1().prox

    twin = make("logistic", L1())
    own = Objective(twin.score_map, Logistic(), Own(), twin.targets, exempt=True)
    assert isinstance(choose(own), ProximalGradient)
    with pytest.raises(SolverError, match="penalty"):
        ProximalNewton().minimize(own, None, monitor())
    assert isinstance(choose(twin), ProximalNewton)


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_hessian_of_some_weights_is_part_of_the_whole(loss):
    for dtype, intercept in itertools.product([np.float32, np.float64], [False, True]):
        objective = make(loss, L2(), dtype=dtype, intercept=intercept, weighted=True)
        rows, n_scores = objective.weight_shape
        w = np.random.default_rng(0).normal(size=(rows, n_scores))
        scores = objective.score_map(w)
        product = objective.hessian(w)
        whole = np.stack(
            [product(unit.reshape(w.shape)).ravel() for unit in np.eye(w.size)], axis=1
        )
        whole -= np.diag(
            [1.0] * (w.size - n_scores * objective.exempt) + [0.0] * n_scores * objective.exempt
        )
        close = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"atol": 1e-9}
        points = Points(objective)
        np.testing.assert_allclose(loss_hessian(points, scores), whole, **close)
        for step in [1, 2, 3]:
            active = np.arange(w.size)[step - 1 :: step]
            part = loss_hessian(points, scores, active)
            np.testing.assert_allclose(part, whole[np.ix_(active, active)], **close)
            if n_scores == 1:
                thin = make(
                    loss, L2(), dtype=dtype, intercept=intercept, weighted=True, sparse=True
                )
                part = loss_hessian(Points(thin), scores, active)
                np.testing.assert_allclose(part, whole[np.ix_(active, active)], **close)


def quadratic(m, rank, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rank, m)) * np.logspace(0, 2, m)
    start = rng.normal(size=m) * (rng.random(m) < 0.5)
    l1 = np.where(np.arange(m) < m - 1, 3.0, 0.0)
    l2 = np.where(np.arange(m) < m - 1, 0.1 * (seed % 2), 0.0)
    return A, A.T @ rng.normal(size=rank), start, l1, l2


def least_subgradient(H, q, s, l1, l2, u):
    slope = q + H @ (u - s) + l2 * u
    inside = np.maximum(np.abs(slope) - l1, 0)
    return np.where(u == 0, inside, np.abs(slope + l1 * np.sign(u))).max()


@pytest.mark.parametrize("seed", range(6))
def test_models_are_minimized(seed):
    m, rank = 12, [20, 8][seed % 2]
    A, q, s, l1, l2 = quadratic(m, rank, seed)
    H = A.T @ A
    u = minimize_quadratic(H, q, s, l1, l2, 1e-8)
    assert least_subgradient(H, q, s, l1, l2, u) <= 1e-6

    def value(v):
        move = v - s
        return q @ move + move @ H @ move / 2 + l1 @ np.abs(v) + l2 @ v**2 / 2

    rng = np.random.default_rng(seed)
    for _ in range(200):
        other = u + rng.normal(size=m) * rng.choice([1e-4, 1e-2, 1]) * (rng.random(m) < 0.3)
        assert value(u) <= value(other) + 1e-9 * abs(value(other))
    by_sweeps, gradient, _, residual = quadratic_descent(H, q, s, l1, l2, 1e-8, 10**6)
    assert value(by_sweeps) == pytest.approx(value(u), rel=1e-9)
    np.testing.assert_allclose(gradient, q + H @ (by_sweeps - s), atol=1e-6)
    assert residual <= 1e-6
    columns = np.arange(m)
    design = Dense(np.ascontiguousarray(A))
    found, _, _ = column_descent(design, columns, np.ones(rank), q, s, l1, l2, 1e-8, 10**6, 0)
    assert value(found) == pytest.approx(value(u), rel=1e-9)


def test_kernels_refuse_bad_input():
    one, eye = np.ones(2), np.eye(2)
    zero = np.zeros(2)
    with pytest.raises(ValueError, match="gradient has length"):
        quadratic_descent(eye, np.ones(3), zero, one, zero, 0.0, 1)
    with pytest.raises(ValueError, match="not negative"):
        quadratic_descent(eye, one, zero, -one, zero, 0.0, 1)
    design = make_design(sp.csr_array(eye), 1)
    for columns in [[0, 3], [-1, 0]]:
        with pytest.raises(DataError, match="columns must lie"):
            column_descent(design, np.array(columns), one, one, zero, one, zero, 0.0, 1, 0)
        with pytest.raises(DataError, match="columns must lie"):
            column_gram(design, np.array(columns), one)
    with pytest.raises(DataError, match="dtype"):
        column_descent(
            design, np.arange(2), one.astype(np.float32), one, zero, one, zero, 0.0, 1, 0
        )


def test_a_softmax_too_wide_is_left_to_proximal_gradient():
    X = np.zeros((4, 300))
    scores = FlatScores(make_design(X, 1), 10, intercept=True, dtype=X.dtype)
    targets = np.zeros(4, dtype=np.intp)
    objective = Objective(scores, multiclass_logistic(), L1(), targets, exempt=True)
    assert isinstance(choose(objective), ProximalGradient)
