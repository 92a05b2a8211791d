"""Stochastic gradient methods: one example or a mini-batch per step."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from separatrix._core import scheduled_rate
from separatrix.errors import ParameterError
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.stochastic_runs import (
    Recipe,
    find_rate,
    l2_share,
    rate_by_curvature,
    start_run,
)

__all__ = ["AdaDelta", "AdaGrad", "Adam", "RmsProp", "StochasticGradient"]

_SCHEDULES = ("constant", "inverse", "inverse_sqrt", "bottou")
#: Passes without a fall of the objective after which the rate is cut: so many, or this share.
_PATIENCE = 10
_PATIENCE_SHARE = 0.25
#: By which a rate that proved too large is divided, and how often in vain before the run ends.
_FACTOR = 3.0
_CUTS = 4
#: Budgets below so many passes are spent on steps alone: no trials, no average, no evaluation.
_FEW = 3
#: With few passes over data with many zeros: the rate of intercepts, against that of weights. They
#: move at every row, weights at the rows that have their feature (so does Bottou's sgd).
_INTERCEPT_SHARE = 0.01


@dataclass(frozen=True, kw_only=True)
class _Stochastic:
    """What all stochastic solvers share.

    Parameters
    ----------
    rate : float or None
        First step size, for F = P / (C n); None tries powers of four on some rows, or takes it from
        the norms of the rows where fewer than three passes are to be made over sparse data.
    schedule : {"bottou", "inverse", "inverse_sqrt", "constant"}
        With t steps done, m a pass and l the L2 share 1 / (C n): rate / (1 + rate l t),
        rate / (1 + t/m), rate / sqrt(1 + t/m), or rate. With "bottou", intercepts that are not
        penalized take rate / (1 + t/m)^(3/4).
    averaging : bool or None
        Return the average of the weights, later ones weighing more (as t^4); None does so from a
        budget of three passes on.
    batch_size : int or None
        Rows per step; None stands for 16, fewer on fewer than 512 rows.
    shuffle : bool
        Visit the rows in a new order in every pass.
    seed : int
        Seed of the orders.
    """

    rate: float | None = None
    schedule: str = "constant"
    averaging: bool | None = None
    batch_size: int | None = None
    shuffle: bool = True
    seed: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"prox"})
    #: Whether sparse rows are read where they lie, which saves a copy.
    reads_in_place: ClassVar[bool] = True
    title: ClassVar[str]

    def _rule(self) -> tuple[str, float, float, float]:
        raise NotImplementedError

    def _recipe(self, n_rows: int, few: bool) -> Recipe:
        batch_size = self.batch_size
        if batch_size is None:
            batch_size = 16 if n_rows >= 512 else max(1, n_rows // 64)
        if self.schedule not in _SCHEDULES:
            raise ParameterError(f"schedule must be one of {_SCHEDULES}, got {self.schedule!r}")
        if not isinstance(batch_size, int | np.integer) or batch_size < 1:
            raise ParameterError(f"batch_size must be a positive integer, got {batch_size!r}")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ParameterError(f"rate must be positive and finite, got {self.rate!r}")
        seed = self.seed if self.shuffle else None
        averaging = not few if self.averaging is None else self.averaging
        return Recipe(self._rule(), self.schedule, int(batch_size), averaging, seed)

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Run passes from `w0` until the budget ends or the objective settles.

        Where the objective has not fallen by ``tol * max(1, P)`` for a while, a constant rate is
        cut to a third; after the fourth time in a row the run has settled. The objective is
        evaluated after every pass (not counted as a pass), and the best weights are returned.

        A budget below three passes is spent on steps alone: the last weights are returned, and the
        objective is estimated from the losses that the rows had when their turn came.
        """
        few = monitor.max_passes - monitor.offset < _FEW
        recipe = self._recipe(objective.score_map.n_rows, few)
        search = _Search(objective, monitor, recipe, w0)
        try:
            if few:
                stopped = search.run_few(self.rate)
            else:
                rate = find_rate(objective, recipe, search.best) if self.rate is None else self.rate
                stopped = search.run(rate)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        gap, certificate = search.certificate(stopped)
        return Solution(
            w=search.best,
            n_passes=search.passes,
            gap=gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=search.best_value,
            certificate=certificate,
            solver=f"{self.title}, rate {search.rate:.3g} ({self.schedule})",
        )


class _Run:
    """A run that knows its present rate."""

    def __init__(
        self, objective: Objective, recipe: Recipe, w0: Array, rate: float, from_zero: bool
    ) -> None:
        self._run = start_run(objective, recipe, w0, rate, from_zero=from_zero)
        self._n_rows = objective.score_map.n_rows
        self._steps_per_pass = max(1, -(-self._n_rows // recipe.batch_size))
        self._steps = 0
        self._first = rate
        self._schedule = recipe.schedule
        self._l2 = l2_share(objective)

    def one_pass(self) -> float:
        """Use every row once; sum_i c_i loss_i, each loss taken before its row was used."""
        loss = self._run.run(self._n_rows)
        self._steps += self._steps_per_pass
        return loss

    def weights(self, *, last: bool = False) -> Array:
        """The weights, or their average where one is kept; no copy for the `last` time."""
        return self._run.finish() if last else self._run.mean()

    @property
    def rate(self) -> float:
        """The rate of the next step."""
        return scheduled_rate(
            self._schedule, self._first, self._steps, self._steps_per_pass, self._l2
        )


class _Search:
    """Passes of one run, its rates and its best weights."""

    def __init__(
        self, objective: Objective, monitor: Monitor, recipe: Recipe, w0: Array | None
    ) -> None:
        self._objective = objective
        self._monitor = monitor
        self._recipe = recipe
        self._from_zero = w0 is None
        self._dtype = getattr(objective.score_map, "dtype", np.float64)
        zeros = np.zeros(objective.weight_shape, dtype=self._dtype)
        self.best = zeros if w0 is None else np.asarray(w0)
        self.best_value = math.nan
        self.passes = 0.0
        self.rate = math.nan
        self._estimated = False

    def run_few(self, rate: float | None) -> StopReason:
        """A pass or two without an evaluation of the objective, at a rate from the rows' norms."""
        if rate is None:
            rate = rate_by_curvature(self._objective, self._recipe)
            if rate is not None:
                self._recipe = replace(self._recipe, intercept_share=_INTERCEPT_SHARE)
            else:
                rate = find_rate(self._objective, self._recipe, self.best)
        start, run = self.best, self._start(rate)
        stopped, spent = None, False
        try:
            while stopped is None:
                loss = self._objective.C * run.one_pass()
                self.passes += 1
                spent = self.passes + self._monitor.offset >= self._monitor.max_passes
                self.best = run.weights(last=spent)
                penalized = self._objective.penalized(self.best)
                self.best_value = loss + self._objective.regularizer.value(penalized)
                self._estimated = True
                stopped = self._monitor.record(
                    self.passes, self.best_value, math.inf, lambda: self.best
                )
        except KeyboardInterrupt:
            if not spent:
                self._settle(run.weights(), self.best)
            raise
        if not loss <= self._loss_at_zero():
            # Worse than no weights at all: the rate was too large, unless it got well at the end.
            self._settle(start, self.best)
        return stopped

    def _settle(self, *candidates: Array) -> None:
        """Evaluate some weights and keep the best."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = [self._objective.value(w) for w in candidates]
        order = np.argsort(values)  # NaN comes last
        self.best, self.best_value = candidates[order[0]], values[order[0]]
        self._estimated = False

    def _loss_at_zero(self) -> float:
        """C sum_i c_i loss_i where all scores are zero."""
        shape = self._objective.score_map.n_rows, self.best.shape[1]
        return self._objective.loss_at(np.zeros(shape, dtype=self._dtype))[0]

    def run(self, rate: float) -> StopReason:
        """Pass after pass, until the budget ends or the objective settles.

        A run that is far above its start goes on from the best weights at a third of its rate; so
        does one at a constant rate whose objective has not fallen for a while. When it has not
        fallen for a while four times in a row, it has settled.
        """
        if self._from_zero:
            penalty = self._objective.regularizer.value(self._objective.penalized(self.best))
            self.best_value = self._loss_at_zero() + penalty
        else:
            self._settle(self.best)
        run = self._start(rate)
        ceiling = 2 * abs(self.best_value)
        mark, marked, cuts = self.best_value, self.passes, 0
        while True:
            reason, value = self._one_pass(run)
            if reason is not None:
                return reason
            if not self._monitor.converged(self.best_value, mark - self.best_value):
                mark, marked, cuts = self.best_value, self.passes, 0
            lost = not value <= ceiling
            if not lost and self.passes - marked < max(_PATIENCE, _PATIENCE_SHARE * marked):
                continue
            if not lost:
                cuts += 1
                if cuts == _CUTS:
                    return StopReason.CONVERGED
                marked = self.passes
            if lost or self._recipe.schedule == "constant":
                run = self._start(run.rate / _FACTOR)

    def _start(self, rate: float) -> _Run:
        self.rate = rate
        from_zero = self._from_zero and self.passes == 0
        return _Run(self._objective, self._recipe, self.best, rate, from_zero)

    def _one_pass(self, run: _Run) -> tuple[StopReason | None, float]:
        """One pass; why to stop, and the objective after it."""
        run.one_pass()
        w = run.weights()
        self.passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            value = self._objective.value(w)
        if value < self.best_value:
            self.best, self.best_value = np.array(w), value
        return self._monitor.record(self.passes, value, math.inf, lambda: self.best), value

    def certificate(self, stopped: StopReason) -> tuple[float, str]:
        """Bound of P(w) - min P at the best weights, where strong convexity gives one."""
        if self._estimated:
            return math.inf, "none; objective estimated from the losses on the way"
        if math.isnan(self.best_value):  # interrupted before the first pass
            self._settle(self.best)
        if stopped is StopReason.INTERRUPTED or "value_grad" not in self._objective.can:
            return math.inf, "none"
        grad = self._gradient(np.asarray(self.best, dtype=np.float64))
        gap = self._objective.gap_bound(self.best, grad)
        return gap, "gradient norm" if math.isfinite(gap) else "none"

    def _gradient(self, w: Array) -> Array:
        """Gradient of P; row by row where the score map can: no transpose of sparse data."""
        objective = self._objective
        if not hasattr(objective.score_map, "subset"):
            return objective.value_and_grad(w)[1]
        whole = objective.score_map.subset(np.arange(objective.score_map.n_rows))
        _, ds = objective.loss.value_and_grad(whole(w), objective.targets)
        grad: Array = whole.adjoint((ds.T * objective.row_weights).T)
        inner = objective.penalized(w)
        grad[: len(inner)] += objective.regularizer.grad(inner)
        return grad


@dataclass(frozen=True, kw_only=True)
class StochasticGradient(_Stochastic):
    """Stochastic gradient descent: w <- w - rate_t (share of the regularizer + c_i loss_i').

    For an L2 penalty a step costs O(stored values of its rows), the average included. An L1 part is
    handled by a proximal step on all weights per batch: raise `batch_size` for wide data.
    Parameters as listed by `schedule`, `rate`, `averaging`, `batch_size`, `shuffle` and `seed` of
    this module's base.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearClassifier(solver=StochasticGradient(), tol=1e-4).fit(X, y)
    >>> round(model.score(X, y), 1)
    1.0
    """

    schedule: str = "bottou"
    batch_size: int | None = 1

    title: ClassVar[str] = "stochastic gradient"

    def _rule(self) -> tuple[str, float, float, float]:
        return "plain", 0.0, 0.0, 0.0


@dataclass(frozen=True, kw_only=True)
class AdaGrad(_Stochastic):
    """Step sizes rate / sqrt(sum of squared gradients), per weight (Duchi et al. 2011).

    Parameters
    ----------
    epsilon : float
        Added to the root, keeps it positive.
    """

    epsilon: float = 1e-8

    title: ClassVar[str] = "AdaGrad"

    def _rule(self) -> tuple[str, float, float, float]:
        return "adagrad", 0.0, 0.0, self.epsilon


@dataclass(frozen=True, kw_only=True)
class AdaDelta(_Stochastic):
    """Step sizes RMS of past changes / RMS of gradients, per weight (Zeiler 2012).

    Parameters
    ----------
    decay : float
        Decay of both mean squares.
    epsilon : float
        Added under the roots; it sets the size of the first steps.
    """

    decay: float = 0.95
    epsilon: float = 1e-6

    title: ClassVar[str] = "AdaDelta"

    def _rule(self) -> tuple[str, float, float, float]:
        return "adadelta", 0.0, self.decay, self.epsilon


@dataclass(frozen=True, kw_only=True)
class RmsProp(_Stochastic):
    """Step sizes rate / RMS of recent gradients, per weight (Tieleman & Hinton 2012).

    Parameters
    ----------
    decay : float
        Decay of the mean square.
    epsilon : float
        Added to the root, keeps it positive.
    """

    decay: float = 0.9
    epsilon: float = 1e-8

    title: ClassVar[str] = "RMSProp"

    def _rule(self) -> tuple[str, float, float, float]:
        return "rmsprop", 0.0, self.decay, self.epsilon


@dataclass(frozen=True, kw_only=True)
class Adam(_Stochastic):
    """RMSProp along the mean of recent gradients, both freed of bias (Kingma & Ba 2015).

    Parameters
    ----------
    mean_decay : float
        Decay of the mean gradient, beta_1.
    decay : float
        Decay of the mean square, beta_2.
    epsilon : float
        Added to the root, keeps it positive.
    """

    mean_decay: float = 0.9
    decay: float = 0.999
    epsilon: float = 1e-8

    title: ClassVar[str] = "Adam"

    def _rule(self) -> tuple[str, float, float, float]:
        return "adam", self.mean_decay, self.decay, self.epsilon
