"""Laws of all deterministic solvers of smooth objectives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from separatrix.errors import SolverError
from separatrix.losses import MARGIN_LOSSES, multiclass_logistic
from separatrix.objective import Objective
from separatrix.penalties import L1, L2, Unpenalized
from separatrix.results import Monitor, StopReason
from separatrix.solvers import Certifier, GradientDescent, Lbfgs, NewtonCG, ProximalGradient
from separatrix.structures.labels import FlatScores, make_design
from tests.unit.solvers.problems import SMOOTH, make, monitor, reference

SOLVERS = [
    GradientDescent(),
    Lbfgs(),
    Lbfgs(precondition=True, switch=3),
    NewtonCG(),
    NewtonCG(exact_limit=0),
    ProximalGradient(),
]
NAMES = ["gradient", "lbfgs", "preconditioned", "exact", "truncated", "proximal"]


def applies(solver, sparse):
    return not (sparse and isinstance(solver, Lbfgs) and solver.precondition)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_reach_the_reference_optimum(loss, dtype):
    layouts = [(True, True), (True, False), (False, False)]
    for (intercept, exempt), sparse, weighted in itertools.product(
        layouts, [False, True], [False, True]
    ):
        options = {"intercept": intercept, "exempt": exempt, "weighted": weighted}
        exact = make(loss, dtype=np.float64, **options)
        # The data in single precision are other data: the reference sees the same values.
        best = reference(
            exact if dtype == np.float64 else _widened(make(loss, dtype=dtype, **options), exact)
        )
        objective = make(loss, dtype=dtype, sparse=sparse, **options)
        for solver, name in zip(SOLVERS, NAMES, strict=True):
            if not applies(solver, sparse):
                continue
            tol = 1e-8 if dtype == np.float64 else 1e-7
            solution = solver.minimize(objective, None, monitor(tol=tol))
            value = exact.value(solution.w) if dtype == np.float64 else solution.objective
            assert value <= best + 1e-6 * max(1, best), (name, options, sparse)
            assert value >= best - 2e-6 * max(1, best), (name, options, sparse)


def _widened(single, double):
    X = single.score_map.design.values.astype(np.float64)
    score_map = FlatScores(
        make_design(X, 1),
        single.score_map.n_scores,
        intercept=single.score_map.intercept,
        dtype=np.float64,
    )
    return Objective(
        score_map,
        single.loss,
        single.penalty,
        single.targets,
        C=single.C,
        sample_weight=single.sample_weight,
        exempt=single.exempt,
    )


@pytest.mark.parametrize(("solver", "name"), list(zip(SOLVERS, NAMES, strict=True)), ids=NAMES)
class TestEachSolver:
    def test_the_gap_covers_the_distance_to_the_optimum(self, solver, name):
        for loss in SMOOTH:
            objective = make(loss)
            best = reference(objective)
            solution = solver.minimize(objective, None, monitor(tol=1e-4))
            assert solution.stopped is StopReason.CONVERGED
            assert solution.objective - best <= solution.gap + 1e-9 * best
            assert solution.gap <= 1e-4 * solution.objective
            assert solution.certificate == "duality gap"

    def test_w0_is_not_changed_and_a_warm_start_is_quick(self, solver, name):
        objective = make("multiclass_logistic")
        first = solver.minimize(objective, None, monitor(tol=1e-8))
        start = first.w.astype(np.float32) if name == "exact" else first.w.copy()
        kept = start.copy()
        again = solver.minimize(objective, start, monitor(tol=1e-6))
        np.testing.assert_array_equal(start, kept)
        assert again.w is not start
        assert again.n_passes < first.n_passes

    def test_an_interrupt_keeps_the_best_weights(self, solver, name):
        objective = make("multiclass_logistic")

        def report(row):
            if len(seen.trace) == 3:
                raise KeyboardInterrupt

        seen = Monitor(tol=0.0, max_passes=1e9, report=report)
        solution = solver.minimize(objective, None, seen)
        assert solution.stopped is StopReason.INTERRUPTED
        assert solution.objective == pytest.approx(objective.value(solution.w), rel=1e-9)
        assert solution.objective < objective.value(np.zeros_like(solution.w))

    def test_an_interrupt_before_the_first_point(self, solver, name, monkeypatch):
        objective = make("logistic")

        def stop(scores):
            raise KeyboardInterrupt

        monkeypatch.setattr(objective, "loss_at", stop)
        monkeypatch.setattr(objective, "value_and_grad", stop)
        solution = solver.minimize(objective, None, monitor())
        assert solution.stopped is StopReason.INTERRUPTED
        assert not solution.w.any()

    def test_the_budget_ends_a_run(self, solver, name):
        solution = solver.minimize(make("logistic"), None, Monitor(tol=0.0, max_passes=3))
        assert solution.stopped is StopReason.BUDGET
        assert solution.n_passes >= 3
        assert solution.trace.n_passes[-1] <= solution.n_passes

    def test_separable_data_without_a_penalty_leave_finite_weights(self, solver, name):
        for loss in ["logistic", "exponential", "squared_hinge", "multiclass_logistic"]:
            objective = make(loss, Unpenalized(), n=8, d=30)
            solution = solver.minimize(objective, None, monitor(tol=1e-12, max_passes=200))
            assert np.isfinite(solution.w).all()
            assert np.isfinite(solution.objective)
            zero = objective.value(np.zeros_like(solution.w))
            assert solution.objective < 0.5 * zero

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_overflow_of_the_exponential_loss_is_stepped_back_from(self, solver, name, dtype):
        objective = make("exponential", C=1e3, dtype=dtype)
        for size in [1.0, 10.0, 1000.0]:
            start = np.full(objective.score_map.weight_shape, size)
            solution = solver.minimize(objective, start, monitor(tol=1e-3, max_passes=300))
            assert np.isfinite(solution.w).all()
            assert solution.objective <= 0.5 * objective.value(start)

    def test_passes_are_the_products_with_the_data(self, solver, name, monkeypatch):
        monkeypatch.setattr(Objective, "has_fused_pass", False)
        objective = make("multiclass_logistic")
        counted = Counting(objective.score_map)
        objective.score_map = counted
        proofs = []
        at = Certifier.at
        monkeypatch.setattr(Certifier, "at", lambda *a, **k: proofs.append(1) or at(*a, **k))
        solution = solver.minimize(objective, None, monitor(tol=1e-6))
        # Forming Hessians or their blocks reads the data once, before every step.
        formed = len(solution.trace) - 1 if name in {"exact", "truncated"} else 0
        assert solution.n_passes == counted.products / 2 + formed + len(proofs)

    def test_a_loss_with_a_kink_is_refused_in_words(self, solver, name):
        with pytest.raises(SolverError, match=r"smooth loss|second derivative"):
            solver.minimize(make("hinge"), None, monitor())


class Counting:
    """A score map that counts its products and hides the data from fused passes."""

    def __init__(self, inner):
        self.inner = inner
        self.products = 0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __call__(self, w):
        self.products += 1
        return self.inner(w)

    def adjoint(self, ds):
        self.products += 1
        return self.inner.adjoint(ds)


@pytest.mark.parametrize("solver", SOLVERS[:-1], ids=NAMES[:-1])
def test_a_kink_in_the_penalty_is_refused_in_words(solver):
    with pytest.raises(SolverError, match="differentiable penalty"):
        solver.minimize(make("logistic", L1()), None, monitor())


def test_small_problems_are_solved_to_machine_precision_by_newton():
    objective = make("multiclass_logistic")
    solution = NewtonCG().minimize(objective, None, monitor(tol=1e-14))
    _, grad = objective.value_and_grad(solution.w)
    assert np.abs(grad).max() < 1e-12


def test_preconditioning_saves_passes_on_correlated_features():
    rng = np.random.default_rng(0)
    objective = make("logistic", n=400, d=20)
    X = objective.score_map.design.values @ rng.normal(size=(20, 20)) * 5
    score_map = FlatScores(make_design(X, 1), 1, intercept=True, dtype=X.dtype)
    objective = Objective(
        score_map, MARGIN_LOSSES["logistic"], L2(), objective.targets, exempt=True
    )
    plain = Lbfgs().minimize(objective, None, monitor(tol=1e-8))
    better = Lbfgs(precondition=True).minimize(objective, None, monitor(tol=1e-8))
    assert better.objective == pytest.approx(plain.objective, rel=1e-6)
    assert better.n_passes < plain.n_passes


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_trend_of_promises_tells_the_distance_from_the_optimum(tol, seed):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(60, 60)) * np.logspace(0, -3, 60)
    X = rng.normal(size=(1500, 60)) @ mixing
    y = (X @ rng.normal(size=(60, 4)) + rng.gumbel(size=(1500, 4))).argmax(axis=1)
    scores = FlatScores(make_design(X, 1), 4, intercept=True, dtype=X.dtype)
    objective = Objective(scores, multiclass_logistic(), L2(), y, C=10.0, exempt=True)
    best = NewtonCG().minimize(objective, None, monitor(tol=1e-10)).objective
    found = Lbfgs(precondition=True, memory=20, switch=3).minimize(
        objective, None, monitor(tol=tol)
    )
    assert found.stopped is StopReason.CONVERGED
    assert found.objective - best <= 2 * tol * best
