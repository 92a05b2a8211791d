"""What changes a problem but not its minimum changes the fit by no more than `tol` allows.

Sample weights times a with C / a, columns shifted under a free intercept, rows repeated instead of
weighted, classes renamed, features permuted: P at both fits, in extended precision, differs by at
most 2 tol |P|, and both say that they converged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix import LinearClassifier
from separatrix.results import StopReason
from tests.laws.nasty_problems import BINARY, MULTICLASS, PENALTIES, Data, Setting, fitting_solvers
from tests.laws.reference import LONG, Exact

TOL = 1e-5
#: Losses and penalties whose minimum "auto" can prove.
PROVEN = [
    (n_classes, loss, penalty)
    for n_classes, losses in ((2, BINARY), (3, MULTICLASS))
    for loss in losses
    for penalty in PENALTIES
    if loss != "perceptron" and (loss != "hinge" or penalty == "l2")
]


@dataclass(frozen=True)
class Case:
    """Rows, labels, weights and C, as arrays that a law may change."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    C: float
    setting: Setting
    solver: str

    def fit(self) -> LinearClassifier:
        return LinearClassifier(
            self.setting.loss,
            self.setting.penalty,
            solver=self.solver,
            C=self.C,
            fit_intercept=self.setting.intercept != "none",
            penalize_intercept=self.setting.intercept == "penalized",
            tol=TOL,
            max_iter=10_000,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, self.y, sample_weight=self.weights)

    def value(self, model: LinearClassifier) -> Any:
        """P at the stored weights, in extended precision."""
        classes, codes = np.unique(self.y, return_inverse=True)
        data = Data(n_classes=len(classes))
        shape = self.setting.exact(data)
        exact = Exact(
            X=self.X,
            codes=codes,
            n_classes=len(classes),
            loss=shape.loss,
            U=LONG(self.C) * self.weights.astype(LONG),
            l1=shape.l1,
            l2=shape.l2,
            intercept=self.setting.intercept,
        )
        return exact.value(model.coef_, model.intercept_)[0]


@st.composite
def cases(draw: st.DrawFn, intercepts: tuple[str, ...] = ("free", "penalized", "none")) -> Case:
    """A problem without a nasty side, and a deterministic solver."""
    n_classes, loss, penalty = draw(st.sampled_from(PROVEN))
    setting = Setting(loss, penalty, draw(st.sampled_from(intercepts)))
    kind = "binary" if n_classes == 2 else "multiclass"
    fitting = fitting_solvers(loss, penalty, kind, False)
    steady = [s for s in ("auto", "newton", "lbfgs", "dual", "proximal_newton") if s in fitting]
    random = np.random.default_rng(draw(st.integers(0, 2**16)))
    n, d = draw(st.integers(8, 40)), draw(st.integers(1, 5))
    y = random.permutation(np.arange(n) % n_classes)
    X = random.normal(size=(n, d)) + random.normal(size=(n_classes, d))[y]
    weights = random.integers(1, 4, size=n).astype(np.float64)
    C = 10.0 ** draw(st.integers(-3, 2))
    return Case(X, y, weights, C, setting, draw(st.sampled_from(steady)))


def same_minimum(one: Case, other: Case, *, must_converge: bool = True) -> None:
    """Fit both; both converge, to values of P that are equal up to the tolerance."""
    fits = [case.fit() for case in (one, other)]
    if not must_converge and any(m.solution_.stopped is not StopReason.CONVERGED for m in fits):
        return
    assert [model.solution_.stopped for model in fits] == [StopReason.CONVERGED] * 2
    first, second = one.value(fits[0]), other.value(fits[1])
    assert abs(first - second) <= 2 * TOL * abs(first)


LIMITS = settings(max_examples=60, suppress_health_check=[*HealthCheck])


@LIMITS
@given(case=cases(), exponent=st.integers(-8, 8))
def test_weights_times_a_with_C_over_a(case, exponent):
    a = 10.0**exponent
    same_minimum(case, replace(case, weights=case.weights * a, C=case.C / a))


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
@LIMITS
@given(case=cases(intercepts=("free",)), exponent=st.integers(0, 6), seed=st.integers(0, 99))
def test_columns_shifted_under_a_free_intercept(case, exponent, seed):
    signs = np.random.default_rng(seed).choice([-1, 1], size=case.X.shape[1])
    moved = replace(case, X=case.X + signs * 10.0**exponent)
    # Methods of first order may run out of passes on columns that are far from zero.
    same_minimum(case, moved, must_converge=case.solver == "auto")


@LIMITS
@given(case=cases(), seed=st.integers(0, 99))
def test_rows_repeated_are_rows_weighted(case, seed):
    rows = np.repeat(np.arange(len(case.y)), case.weights.astype(int))
    rows = np.random.default_rng(seed).permutation(rows)
    same_minimum(case, replace(case, X=case.X[rows], y=case.y[rows], weights=np.ones(len(rows))))


@LIMITS
@given(case=cases(), seed=st.integers(0, 99))
def test_classes_renamed(case, seed):
    names = np.random.default_rng(seed).permutation(["zebra", "ant", "Cow"])
    same_minimum(case, replace(case, y=names[case.y]))


@LIMITS
@given(case=cases(), seed=st.integers(0, 99))
def test_features_permuted(case, seed):
    order = np.random.default_rng(seed).permutation(case.X.shape[1])
    same_minimum(case, replace(case, X=case.X[:, order]))


def test_the_laws_can_fail():
    """A minimum that does move is seen."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 2))
    case = Case(X, X[:, 0] > 0, np.ones(20), 1.0, Setting("logistic", "l2", "none"), "auto")
    with pytest.raises(AssertionError):
        same_minimum(case, replace(case, X=X + 1.0))
