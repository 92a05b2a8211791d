"""A family of small flat problems on which certificates tend to be false.

A problem is drawn as a few flags and scalars, which hypothesis can shrink one by one; its numbers
come from a seed. `Data` holds rows and labels, `Problem` adds loss, penalty and how to fit.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from separatrix import LinearClassifier
from separatrix.errors import ConvergenceWarning, SolverError
from separatrix.losses import MARGIN_LOSSES, MULTICLASS_LOSSES, multiclass_hinge
from separatrix.penalties import PENALTIES
from separatrix.solvers import SOLVERS
from tests.laws.reference import LONG, Exact

#: Convex losses by name, as `LinearClassifier` takes them: for two classes, and for more.
BINARY = [name for name, loss in MARGIN_LOSSES.items() if loss.convex]
MULTICLASS = list(MULTICLASS_LOSSES)
PENALTIES = {name: make() for name, make in PENALTIES.items() if name is not None}
#: Sparse data of fewer columns is trained on as dense data; empty columns make it wide.
WIDE = 300


@dataclass(frozen=True)
class Data:
    """Rows and labels: what is nasty about them, and the seed of their numbers."""

    seed: int = 0
    n: int = 6
    d: int = 1
    n_classes: int = 2
    single: bool = False  # float32
    sparse: bool = False
    shift: int = -1  # columns plus 10^shift; -1 stands for none
    spread: int = 0  # columns times 10^-spread ... 10^spread
    rows: int = 0  # some rows times 10^rows, others times 10^-rows
    collinear: bool = False
    constant: bool = False
    separable: bool = False
    repeated: bool = False
    weights: int = -1  # row weights 10^-weights ... 10^weights; -1 stands for none
    log_C: int = 0

    def __repr__(self) -> str:
        """Only what differs from the defaults."""
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"Data({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    @cached_property
    def _made(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        random = np.random.default_rng(self.seed)
        n, d = self.n, self.d
        codes = random.integers(self.n_classes, size=n)
        codes[: self.n_classes] = np.arange(self.n_classes)
        X = random.normal(size=(n, d))
        means = random.normal(size=(self.n_classes, d))
        X += (6.0 if self.separable else 0.7) * means[codes]
        if self.repeated:
            again = random.integers(n, size=n)
            again[: self.n_classes] = np.arange(self.n_classes)
            X, codes = X[again], codes[again]
        if self.collinear and d > 1:
            X[:, -1] = X[:, 0] * 2
        if self.rows:
            X *= 10.0 ** (self.rows * random.choice([-1, 0, 0, 1], size=(n, 1)))
        if self.spread:
            X *= 10.0 ** random.integers(-self.spread, self.spread + 1, size=d)
        if self.shift >= 0:
            X += 10.0**self.shift * np.where(random.random(d) < 0.8, 1, -1)
        if self.constant:
            X[:, -1] = X[0, -1] or 1.0
        weights = None
        if self.weights >= 0:
            weights = 10.0 ** random.uniform(-self.weights, self.weights, size=n)
        return X.astype(np.float32 if self.single else np.float64), codes, weights

    @property
    def X(self) -> np.ndarray:
        return self._made[0]

    @property
    def codes(self) -> np.ndarray:
        return self._made[1]

    @property
    def sample_weight(self) -> np.ndarray | None:
        return self._made[2]

    @property
    def C(self) -> float:
        return 10.0**self.log_C

    @cached_property
    def columns(self) -> np.ndarray:
        """Where the columns stand among those of the sparse matrix."""
        return np.linspace(0, WIDE - 1, self.d).astype(int)

    @cached_property
    def rows_given(self) -> Any:
        """X as it is given to `fit`."""
        if not self.sparse:
            return self.X
        wide = np.zeros((self.n, WIDE), dtype=self.X.dtype)
        wide[:, self.columns] = self.X
        return sp.csr_array(wide)


@dataclass(frozen=True)
class Setting:
    """What is minimized on the data, and how."""

    loss: str = "logistic"
    penalty: str = "l2"
    intercept: str = "free"
    tol: float = 1e-4
    max_iter: int = 100
    costs: bool = False  # a cost matrix for the multiclass hinge
    paired: bool = False  # the loss for many classes on two of them
    warm: bool = False  # starts from the fit of another C

    def loss_for(self, data: Data) -> Any:
        """Name of the loss, or the object where a name does not say it all."""
        multiclass = data.n_classes > 2 or self.paired
        if multiclass and self.loss == "hinge" and self.costs:
            random = np.random.default_rng(data.seed)
            cost = random.integers(1, 9, size=(data.n_classes, data.n_classes)) / 2.0
            np.fill_diagonal(cost, 0)
            return multiclass_hinge(cost)
        if self.paired and data.n_classes == 2:
            return MULTICLASS_LOSSES[self.loss]()
        return self.loss

    def exact(self, data: Data) -> Exact:
        """The same problem for the reference."""
        loss = self.loss_for(data)
        if isinstance(loss, str):
            loss = MARGIN_LOSSES[loss] if data.n_classes == 2 else MULTICLASS_LOSSES[loss]()
        weights = np.ones(data.n) if data.sample_weight is None else data.sample_weight
        l1 = {"l1": 1.0, "l2": 0.0, "elasticnet": 0.5}[self.penalty]
        return Exact(
            X=data.X,
            codes=data.codes,
            n_classes=data.n_classes,
            loss=loss,
            U=LONG(data.C) * weights.astype(LONG),
            l1=l1,
            l2=1 - l1,
            intercept=self.intercept,
        )

    def fit(self, data: Data, solver: str) -> LinearClassifier | None:
        """The fitted model, or None where the solver does not fit the problem."""
        model = LinearClassifier(
            self.loss_for(data),
            self.penalty,
            solver=solver,
            C=data.C,
            fit_intercept=self.intercept != "none",
            penalize_intercept=self.intercept == "penalized",
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=0,
            n_jobs=1,
            warm_start=self.warm,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                if self.warm:
                    model.set_params(C=10 * data.C)
                    model.fit(data.rows_given, data.codes, sample_weight=data.sample_weight)
                    model.set_params(C=data.C)
                return model.fit(data.rows_given, data.codes, sample_weight=data.sample_weight)
            except (SolverError, FloatingPointError):
                return None  # another problem, or weights that its precision does not hold

    def weights_of(self, model: LinearClassifier, data: Data) -> tuple[np.ndarray, np.ndarray]:
        """coef_ and intercept_ on the columns that are not empty."""
        coef = model.coef_
        return (coef[:, data.columns] if data.sparse else coef), model.intercept_


@cache
def fitting_solvers(loss: str, penalty: str, kind: str, sparse: bool) -> list[str]:
    """Names of the registered solvers whose needs such a problem can offer."""
    data = Data(n_classes=2 if kind == "binary" else 3, sparse=sparse)
    model = LinearClassifier(loss, penalty)
    objective = model._objective(model._take(data.rows_given, data.codes, None), 1.0)
    return [name for name, solver in SOLVERS.items() if solver.needs <= objective.can]


@st.composite
def nasty_data(draw: st.DrawFn, n_classes: st.SearchStrategy[int]) -> Data:
    """Data with some of its nasty sides drawn."""
    K = draw(n_classes)
    nasty = st.sampled_from([False, False, True])
    return Data(
        seed=draw(st.integers(0, 2**16)),
        n=draw(st.integers(K + 1, 60 if K == 2 else 30)),
        d=draw(st.integers(1, 8 if K == 2 else 4)),
        n_classes=K,
        single=draw(st.booleans()),
        sparse=draw(st.booleans()),
        shift=draw(st.integers(0, 6)) if draw(nasty) else -1,
        spread=draw(st.integers(1, 6)) if draw(nasty) else 0,
        rows=draw(st.integers(1, 6)) if draw(nasty) else 0,
        collinear=draw(nasty),
        constant=draw(nasty),
        separable=draw(nasty),
        repeated=draw(nasty),
        weights=draw(st.integers(0, 8)) if draw(nasty) else -1,
        log_C=draw(st.integers(-8, 8)),
    )


@st.composite
def settings_of(draw: st.DrawFn, loss: str, *, paired: bool) -> Setting:
    """Penalty, intercept and rule to stop for a loss."""
    return Setting(
        loss=loss,
        penalty=draw(st.sampled_from([*PENALTIES])),
        intercept=draw(st.sampled_from(["free", "penalized", "none"])),
        tol=draw(st.sampled_from([1e-4, 1e-2, 1e-6, 1e-9, 1e-12])),
        max_iter=draw(st.sampled_from([100, 3, 20, 400])),
        costs=loss == "hinge" and draw(st.booleans()),
        paired=paired,
        warm=draw(st.sampled_from([False, False, False, True])),
    )
