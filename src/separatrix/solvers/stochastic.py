"""Stochastic gradient methods: one example or a mini-batch per step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.errors import ParameterError
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.stochastic_runs import Recipe, StochasticRun, find_rate, start_run

__all__ = ["AdaDelta", "AdaGrad", "Adam", "RmsProp", "StochasticGradient"]

_SCHEDULES = ("constant", "inverse", "inverse_sqrt", "bottou")
#: Passes over which the objective must still fall by more than the tolerance.
_PATIENCE = 5
#: Ratio between a rate and its rivals.
_FACTOR = 4.0
#: Longest stage, in passes.
_LONGEST = 64


@dataclass(frozen=True, kw_only=True)
class _Stochastic:
    """What all stochastic solvers share.

    Parameters
    ----------
    rate : float or None
        First step size, for F = P / (C n); None tries powers of four on some rows.
    schedule : {"bottou", "inverse", "inverse_sqrt", "constant"}
        With t steps done, m a pass and l the L2 share 1 / (C n): rate / (1 + rate l t),
        rate / (1 + t/m), rate / sqrt(1 + t/m), or rate.
    averaging : bool
        Return the average of the weights, later ones weighing more (as t^3).
    batch_size : int
        Rows per step.
    shuffle : bool
        Visit the rows in a new order in every pass.
    seed : int
        Seed of the orders.
    """

    rate: float | None = None
    schedule: str = "inverse_sqrt"
    averaging: bool = True
    batch_size: int = 16
    shuffle: bool = True
    seed: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"prox"})
    title: ClassVar[str]

    def _rule(self) -> tuple[str, float, float, float]:
        raise NotImplementedError

    def _recipe(self) -> Recipe:
        if self.schedule not in _SCHEDULES:
            raise ParameterError(f"schedule must be one of {_SCHEDULES}, got {self.schedule!r}")
        if not isinstance(self.batch_size, int | np.integer) or self.batch_size < 1:
            raise ParameterError(f"batch_size must be a positive integer, got {self.batch_size!r}")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ParameterError(f"rate must be positive and finite, got {self.rate!r}")
        seed = self.seed if self.shuffle else None
        return Recipe(self._rule(), self.schedule, int(self.batch_size), self.averaging, seed)

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Run passes from `w0` until the budget ends or the objective settles.

        It has settled when its best value fell by at most ``tol * max(1, P)`` over five passes.
        The objective is evaluated after every pass (not counted as a pass), and the best weights
        are returned. A pass that ends above its start is undone and repeated at a quarter of the
        rate.
        """
        recipe = self._recipe()
        start = np.zeros(objective.weight_shape) if w0 is None else np.asarray(w0, dtype=np.float64)
        search = _Search(objective, monitor, recipe, start)
        try:
            if self.rate is None:
                stopped = search.tuned(find_rate(objective, recipe, start))
            else:
                stopped = search.fixed(self.rate)
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


class _Search:
    """Passes of one run, its rates and its best weights."""

    def __init__(
        self, objective: Objective, monitor: Monitor, recipe: Recipe, start: Array
    ) -> None:
        self._objective = objective
        self._monitor = monitor
        self._recipe = recipe
        self.best = start
        self.best_value = objective.value(start)
        self.passes = 0.0
        self.rate = math.nan

    def fixed(self, rate: float) -> StopReason:
        """The method of the textbook: one rate and its schedule, until the objective settles."""
        run = self._start(rate)
        previous = math.inf
        while True:
            reason, gain = self._advance(run, _PATIENCE)
            if reason is not None:
                return reason
            if self._settled(gain) and self._settled(previous):
                return StopReason.CONVERGED
            previous = gain

    def tuned(self, rate: float) -> StopReason:
        """Stages of passes; where progress slows, a quarter and four times the rate compete.

        Slow progress has two causes, noise that a smaller rate would cure and a rate that is too
        small; which one it is shows when both are tried from the best weights so far.
        """
        run = self._start(rate)
        length, previous, settled = 1, 0.0, 0
        while True:
            reason, gain = self._advance(run, length)
            if reason is not None:
                return reason
            if gain >= previous / 2 and not self._settled(gain):
                previous = gain
                continue
            best_gain, winner = gain, (run, self.rate)
            for factor in (1 / _FACTOR, _FACTOR):
                rival_rate = self.rate * factor
                rival = start_run(self._objective, self._recipe, self.best, rival_rate)
                reason, rival_gain = self._advance(rival, length)
                if reason is not None:
                    return reason
                if rival_gain > best_gain:
                    best_gain, winner = rival_gain, (rival, rival_rate)
            run, self.rate = winner
            previous = best_gain
            settled = settled + 1 if self._settled(best_gain) else 0
            if settled == 2:
                return StopReason.CONVERGED
            length = min(2 * length, _LONGEST)

    def _start(self, rate: float) -> StochasticRun:
        self.rate = rate
        return start_run(self._objective, self._recipe, self.best, rate)

    def _settled(self, gain: float) -> bool:
        return self._monitor.converged(self.best_value, gain)

    def _advance(self, run: StochasticRun, n_passes: int) -> tuple[StopReason | None, float]:
        """Some passes; why to stop, and by how much the best value fell."""
        before = self.best_value
        for _ in range(n_passes):
            run.run(self._objective.score_map.n_rows)
            self.passes += 1
            w = run.mean()
            with np.errstate(over="ignore", invalid="ignore"):
                value = self._objective.value(w)
            if value < self.best_value:
                self.best, self.best_value = np.array(w), value
            reason = self._monitor.record(self.passes, value, math.inf, lambda: self.best)
            if reason is not None:
                return reason, before - self.best_value
            if not math.isfinite(value):
                break
        return None, before - self.best_value

    def certificate(self, stopped: StopReason) -> tuple[float, str]:
        """Bound of P(w) - min P at the best weights, where strong convexity gives one."""
        if stopped is StopReason.INTERRUPTED or "value_grad" not in self._objective.can:
            return math.inf, "none"
        _, grad = self._objective.value_and_grad(np.asarray(self.best, dtype=np.float64))
        gap = self._objective.gap_bound(self.best, grad)
        return gap, "gradient norm" if math.isfinite(gap) else "none"


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
    batch_size: int = 1

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

    schedule: str = "constant"
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
