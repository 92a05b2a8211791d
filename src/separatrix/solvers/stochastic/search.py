"""The passes of a stochastic run: its rates, its evaluations, its best weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from separatrix._core import scheduled_rate
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, StopReason
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.stochastic.runs import (
    Recipe,
    find_rate,
    l2_share,
    rate_by_curvature,
    start_run,
)

__all__ = ["Search"]

#: Passes without a fall of the objective after which the rate is cut: so many, or this share.
_PATIENCE = 10
_PATIENCE_SHARE = 0.25
#: By which a rate that proved too large is divided, and how often in vain before the run ends.
_FACTOR = 3.0
_CUTS = 4
#: With few passes over data with many zeros: the rate of intercepts, against that of weights. They
#: move at every row, weights at the rows that have their feature (so does Bottou's sgd).
_INTERCEPT_SHARE = 0.01


class _Run:
    """A run that knows its present rate."""

    def __init__(
        self, objective: Objective, recipe: Recipe, w0: Array, rate: float, from_zero: bool
    ) -> None:
        self._run = start_run(objective, recipe, w0, rate, from_zero=from_zero)
        self._n_rows = objective.score_map.n_rows
        self._steps_per_pass = max(1, -(-self._n_rows // recipe.batch_size))
        self._first = rate
        self._schedule = recipe.schedule
        self._l2 = l2_share(objective)

    def one_pass(self) -> float:
        """Use every row once; sum_i c_i loss_i, each loss taken before its row was used."""
        return self._run.run(self._n_rows)

    def weights(self, *, last: bool = False) -> Array:
        """The weights, or their average where one is kept; no copy for the `last` time."""
        return self._run.finish() if last else self._run.mean()

    @property
    def rate(self) -> float:
        """The rate of the next step."""
        return scheduled_rate(
            self._schedule, self._first, self._run.steps, self._steps_per_pass, self._l2
        )


class Search:
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
        """A pass or two without an evaluation of the objective.

        The rate comes from the norms of the rows. Where that turns out too large, the run counts as
        a trial, and another one follows at a rate found by trials.
        """
        start = self.best
        if rate is None:
            guess = rate_by_curvature(self._objective, self._recipe)
            if guess is not None:
                trials = self._recipe
                self._recipe = replace(trials, intercept_share=_INTERCEPT_SHARE)
                stopped, lost = self._few_passes(guess)
                if not lost:
                    return stopped
                self.best, self.passes, self._recipe = start, 0.0, trials
            rate = find_rate(self._objective, self._recipe, self.best)
        stopped, lost = self._few_passes(rate)
        if lost:
            self._settle(start, self.best)
        return stopped

    def _few_passes(self, rate: float) -> tuple[StopReason, bool]:
        """Why the passes ended, and whether their losses were above those of zero scores."""
        run = self._start(rate)
        stopped, spent = None, False
        try:
            while stopped is None:
                loss = self._objective.C * run.one_pass()
                self.passes += 1
                spent = self.passes + self._monitor.offset >= self._monitor.max_passes
                self.best = run.weights(last=spent)
                penalized = self._objective.penalized(self.best)
                self.best_value = loss + self._objective.penalty.value(penalized)
                self._estimated = True
                stopped = self._monitor.record(
                    self.passes, self.best_value, math.inf, lambda: self.best
                )
        except KeyboardInterrupt:
            if not spent:
                self._settle(run.weights(), self.best)
            raise
        return stopped, not loss <= self._loss_at_zero()

    def _settle(self, *candidates: Array) -> None:
        """Evaluate some weights and keep the best."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = [self._objective.value(w) for w in candidates]
        order = np.argsort(values)  # NaN comes last
        self.best, self.best_value = candidates[order[0]], values[order[0]]
        self._estimated = False

    def _loss_at_zero(self) -> float:
        """C sum_i c_i loss_i where all scores are zero."""
        objective = self._objective
        n_rows = objective.score_map.n_rows
        if objective.loss.n_scores == 1:
            # One row of each of the two labels tells it all.
            zeros = np.zeros((2, 1), dtype=self._dtype)
            losses = objective.loss.value_and_grad(zeros, np.array([1.0, -1.0]))[0].ravel()
            second, weights = objective.targets > 0, objective.sample_weight
            total = float(n_rows if weights is None else weights.sum())
            mass = float(np.count_nonzero(second) if weights is None else weights[second].sum())
            return objective.C * float(losses @ (mass, total - mass))
        zeros = np.zeros((n_rows, self.best.shape[1]), dtype=self._dtype)
        return objective.loss_at(zeros)[0]

    def run(self, rate: float) -> StopReason:
        """Pass after pass, until the budget ends or the objective settles.

        A run that is far above its start goes on from the best weights at a third of its rate; so
        does one at a constant rate whose objective has not fallen for a while. When it has not
        fallen for a while four times in a row, it has settled.
        """
        if self._from_zero:
            penalty = self._objective.penalty.value(self._objective.penalized(self.best))
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
                    return StopReason.STATIONARY
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
        reason = self._monitor.record(self.passes, value, math.inf, lambda: self.best, proven=False)
        return reason, value

    def certificate(self, stopped: StopReason) -> tuple[StopReason, float, str]:
        """Why the run ended, a bound of P(w) - min P at the best weights, and what it is."""
        if self._estimated:
            return stopped, math.inf, "none; objective estimated from the losses on the way"
        if math.isnan(self.best_value):  # interrupted before the first pass
            self._settle(self.best)
        if stopped is StopReason.INTERRUPTED or not Certifier.fits(self._objective):
            return stopped, math.inf, "none"
        wanted = self._monitor.wanted(self.best_value)
        found = Certifier(self._objective).at(self.best, wanted)
        self.best, self.best_value = found.w, found.value
        if self._monitor.converged(found.value, found.gap):
            stopped = StopReason.CONVERGED
        return stopped, found.gap, "duality gap" if math.isfinite(found.gap) else "none"
