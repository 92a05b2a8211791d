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
from separatrix.solvers.stochastic.runs import Recipe, find_rate
from separatrix.solvers.stochastic.search import Search

__all__ = ["AdaDelta", "AdaGrad", "Adam", "RmsProp", "StochasticGradient"]

_SCHEDULES = ("constant", "inverse", "inverse_sqrt", "bottou")
#: Budgets below so many passes are spent on steps alone: no trials, no average, no evaluation.
_FEW = 3


@dataclass(frozen=True, kw_only=True)
class _Stochastic:
    """What all stochastic solvers share.

    Parameters
    ----------
    learning_rate : float or None
        First step size, for F = P / (C n); None tries powers of four on some rows, or takes it from
        the norms of the rows where fewer than three passes are to be made over sparse data.
    schedule : {"bottou", "inverse", "inverse_sqrt", "constant"}
        With t steps done, m a pass and l the L2 share 1 / (C n), the rate r is divided by
        1 + r l t, by 1 + t/m, by sqrt(1 + t/m), or by nothing. With "bottou", that of intercepts
        that are not penalized is divided by (1 + t/m)^(3/4).
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

    learning_rate: float | None = None
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
        rate = self.learning_rate
        if rate is not None and not 0 < rate < math.inf:
            raise ParameterError(f"learning_rate must be positive and finite, got {rate!r}")
        seed = self.seed if self.shuffle else None
        averaging = not few if self.averaging is None else self.averaging
        return Recipe(self._rule(), self.schedule, int(batch_size), averaging, seed)

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Run passes from `w0` until the budget ends or the objective settles.

        Where the objective has not fallen by ``tol * P`` for a while, a constant rate is
        cut to a third; after the fourth time in a row the run has settled. The objective is
        evaluated after every pass (not counted as a pass), and the best weights are returned.

        A budget below three passes is spent on steps alone: the last weights are returned, and the
        objective is estimated from the losses that the rows had when their turn came.
        """
        few = monitor.max_passes - monitor.offset < _FEW
        recipe = self._recipe(objective.score_map.n_rows, few)
        search = Search(objective, monitor, recipe, w0)
        try:
            if few:
                stopped = search.run_few(self.learning_rate)
            else:
                rate = self.learning_rate
                if rate is None:
                    rate = find_rate(objective, recipe, search.best)
                stopped = search.run(rate)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        stopped, gap, certificate = search.certificate(stopped)
        return Solution(
            w=search.best,
            n_passes=search.passes,
            gap=gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=search.best_value,
            certificate=certificate,
            solver=f"{self.title}, learning rate {search.rate:.3g} ({self.schedule})",
        )


@dataclass(frozen=True, kw_only=True)
class StochasticGradient(_Stochastic):
    """Stochastic gradient descent: w <- w - rate_t (share of the penalty + c_i loss_i').

    For an L2 penalty a step costs O(stored values of its rows), the average included. An L1 part is
    handled by a proximal step on all weights per batch: raise `batch_size` for wide data.
    Where there are two threads, shuffled passes over more than two million stored values without an
    L1 part are shared by two learners, each counting its own steps, whose weights are averaged
    after each pass (local SGD, Stich 2019).
    Parameters as listed by `schedule`, `learning_rate`, `averaging`, `batch_size`, `shuffle` and
    `seed` of this module's base.

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
