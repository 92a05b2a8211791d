"""Stochastic gradient runs: in a kernel for built-in losses, composed in Python for others.

Both minimize F(w) = P(w) / (C n) = R(w) / (C n) + 1/n sum_i c_i loss_i, in mini-batches that each
carry their share of the penalty, with the same step rules, schedules and average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from separatrix._core import (
    StepRule,
    Stochastic,
    curvature_rate,
    newest_share,
    scheduled_rate,
)
from separatrix.errors import SolverError
from separatrix.losses import kernel_of
from separatrix.objective import Objective
from separatrix.penalties import strengths
from separatrix.protocols import Array

__all__ = [
    "Recipe",
    "StochasticRun",
    "find_rate",
    "l2_share",
    "rate_by_curvature",
    "start_run",
]

#: Rows that a trial of a rate uses.
TRIAL_ROWS = 2000
#: Ratio of two rates tried one after the other.
TRIAL_FACTOR = 4.0


@dataclass(frozen=True)
class Recipe:
    """How to step, apart from the rate.

    Attributes
    ----------
    rule : tuple of (str, float, float, float)
        Name, decay of the mean, decay of the mean square, epsilon.
    schedule : str
        "constant", "inverse", "inverse_sqrt" or "bottou".
    batch_size : int
        Rows per step.
    averaging : bool
        Whether the result is the average of the weights.
    seed : int or None
        Seed of the shuffles; None keeps the rows in their order.
    intercept_share : float
        Factor of the rate for intercepts; runs in the kernel and the plain rule alone heed it.
    """

    rule: tuple[str, float, float, float]
    schedule: str
    batch_size: int
    averaging: bool
    seed: int | None
    intercept_share: float = 1.0


class StochasticRun(Protocol):
    """A run in progress."""

    @property
    def steps(self) -> int:
        """Steps made so far, by each of the learners that share a pass."""
        ...

    def run(self, n_rows: int) -> float:
        """Use the next rows, at most to the end of the pass; the sum of their losses before use."""
        ...

    def mean(self) -> Array:
        """The average of the weights, or the weights where none is kept."""
        ...

    def finish(self) -> Array:
        """The same, given away at the end of the run."""
        ...


def penalty_strengths(objective: Objective) -> tuple[float, float] | None:
    """(l1, l2) of a built-in penalty divided by C n, None for a user's own."""
    found = strengths(objective.penalty)
    scale = 1.0 / (objective.C * objective.score_map.n_rows)
    return None if found is None else (found[0] * scale, found[1] * scale)


def l2_share(objective: Objective) -> float:
    """Strength of the L2 part of the penalty divided by C n."""
    found = penalty_strengths(objective)
    if found is not None:
        return found[1]
    curvature = float(getattr(objective.penalty, "curvature", 0.0))
    return curvature / (objective.C * objective.score_map.n_rows)


def _kernel(objective: Objective) -> str | None:
    """The name of the loss in the kernel, where that knows loss, penalty and data."""
    kernel = kernel_of(objective.loss)
    if kernel is None or not kernel.stochastic or penalty_strengths(objective) is None:
        return None
    return kernel.name if hasattr(objective.score_map, "design") else None


def start_run(
    objective: Objective, recipe: Recipe, w0: Array, rate: float, *, from_zero: bool = False
) -> StochasticRun:
    """Start from `w0` (d, K): in the kernel where it knows loss and penalty.

    With `from_zero`, all of `w0` is zero, and need not be read.
    """
    penalty, kernel = penalty_strengths(objective), _kernel(objective)
    if penalty is None or kernel is None:
        return ComposedRun(objective, recipe, w0, rate)
    cost = getattr(getattr(objective.loss, "max_op", None), "cost", None)
    return Stochastic(
        objective.score_map.design,  # type: ignore[attr-defined]
        objective.targets.astype(np.int64),
        objective.sample_weight,
        kernel,
        None if cost is None else np.ascontiguousarray(cost, dtype=np.float64),
        w0.shape if from_zero else np.ascontiguousarray(w0, dtype=objective.score_map.dtype),  # type: ignore[attr-defined]
        recipe.rule,
        recipe.schedule,
        rate,
        recipe.intercept_share,
        recipe.batch_size,
        recipe.averaging,
        *penalty,
        objective.penalized(w0).size,
        recipe.seed,
        objective.score_map.n_threads,  # type: ignore[attr-defined]
    )


class ComposedRun:
    """The same run through score map, loss and penalty: for all that keep the contracts.

    Parameters
    ----------
    objective : Objective
        Its score map must offer `subset`.
    recipe : Recipe
        How to step.
    w0 : ndarray of shape (d, K)
        Start.
    rate : float
        First rate.
    """

    def __init__(self, objective: Objective, recipe: Recipe, w0: Array, rate: float) -> None:
        if not hasattr(objective.score_map, "subset"):
            raise SolverError(
                "a stochastic solver needs a score map with a method `subset(rows)`; "
                f"{type(objective.score_map).__name__} has none"
            )
        self._strengths = penalty_strengths(objective)
        self._smooth = objective.penalty.smooth
        if self._strengths is None and not self._smooth and recipe.rule[0] != "plain":
            raise SolverError(
                "with a penalty of your own that has no gradient, use StochasticGradient: "
                "adaptive rules have a step size per weight, its prox takes one for all"
            )
        self._objective = objective
        self._recipe = recipe
        self._rate = rate
        self._w = np.array(w0, dtype=np.float64, order="C")
        self._mean = self._w.copy()
        self._rule = StepRule(*recipe.rule, self._w.size)
        self._steps = 0
        self._random = None if recipe.seed is None else np.random.default_rng(recipe.seed)
        self._order: npt.NDArray[np.int64] = np.arange(objective.score_map.n_rows)
        self._position = len(self._order)

    @property
    def steps(self) -> int:
        """Steps made so far."""
        return self._steps

    def run(self, n_rows: int) -> float:
        """Use the next rows, at most to the end of the pass; the sum of their losses before use."""
        if self._position >= len(self._order):
            self._position = 0
            if self._random is not None:
                self._random.shuffle(self._order)
        end = min(self._position + n_rows, len(self._order))
        total = 0.0
        while self._position < end:
            stop = min(self._position + self._recipe.batch_size, end)
            total += self._step(self._order[self._position : stop])
            self._position = stop
        return total

    def mean(self) -> Array:
        """The average of the weights, or the weights where none is kept."""
        return self._mean if self._recipe.averaging else self._w

    def finish(self) -> Array:
        """The same, given away at the end of the run."""
        return self.mean()

    def _step(self, rows: npt.NDArray[np.int64]) -> float:
        objective = self._objective
        score_map = objective.score_map.subset(rows)  # type: ignore[attr-defined]
        losses, ds = objective.loss.value_and_grad(score_map(self._w), objective.targets[rows])
        if objective.sample_weight is not None:
            weights = objective.sample_weight[rows]
            losses, ds = losses * weights, (ds.T * weights).T
        grad = np.ascontiguousarray(score_map.adjoint(ds / len(rows)))
        self._move(grad)
        self._steps += 1
        if self._recipe.averaging:
            self._mean += newest_share(self._steps) * (self._w - self._mean)
        return float(losses.sum(dtype=np.float64))

    def _move(self, grad: Array) -> None:
        """One step of the rule, with the share of the penalty."""
        objective, recipe = self._objective, self._recipe
        inner = objective.penalized(self._w)
        scale = 1.0 / (objective.C * objective.score_map.n_rows)
        pass_steps = max(1, -(-len(self._order) // recipe.batch_size))
        rate = scheduled_rate(
            recipe.schedule, self._rate, self._steps, pass_steps, l2_share(objective)
        )
        if recipe.schedule == "bottou" and recipe.rule[0] == "plain" and objective.exempt:
            # Intercepts free of the penalty must not fall asleep with its 1/t: as in the kernel.
            free = self._rate / (1 + self._steps / pass_steps) ** 0.75
            grad[-1] *= max(free, rate) / rate
        if self._strengths is not None:
            self._rule.step(self._w, grad, rate, *self._strengths, inner.size)
            return
        if self._smooth:
            grad[: len(inner)] += scale * objective.penalty.grad(inner)
        self._rule.step(self._w, grad, rate, 0.0, 0.0, 0)
        if not self._smooth:
            inner[:] = objective.penalty.prox(inner, rate * scale)


def rate_by_curvature(objective: Objective, recipe: Recipe) -> float | None:
    """The rate 1 / (b R^2), b the curvature of the loss and R the norm of large rows.

    None where it says little: adaptive rules, losses of users, data without many zeros.
    """
    kernel = _kernel(objective)
    if recipe.rule[0] != "plain" or kernel is None:
        return None
    design = objective.score_map.design  # type: ignore[attr-defined]
    rate = curvature_rate(design, kernel, objective.weight_shape[1])
    if rate is None or objective.sample_weight is None:
        return rate
    # A weight multiplies the curvature of its row.
    return rate / max(float(objective.sample_weight.max()), 1e-300)


def find_rate(objective: Objective, recipe: Recipe, w0: Array) -> float:
    """The rate, among powers of four, whose run over some rows predicts the later ones best.

    After Bottou (2012, section 4.3), with the progressive loss of the second half of the trial plus
    the penalty's share as the measure; it is finite for a usable rate whatever the loss.
    """
    n_rows = objective.score_map.n_rows
    scale = 1.0 / (objective.C * n_rows)
    # Enough rows for a hundred steps, in several passes where there are few.
    needed = max(min(n_rows, TRIAL_ROWS), 100 * recipe.batch_size)

    def trial(rate: float) -> float:
        run = start_run(objective, recipe, w0, rate)
        used, later, loss = 0, 0, 0.0
        with np.errstate(all="ignore"):
            while used < needed:
                rows = min(max(needed // 2, 1), n_rows - used % n_rows)
                part = run.run(rows)
                if used >= needed // 2:
                    loss, later = loss + part, later + rows
                used += rows
            penalty = scale * objective.penalty.value(objective.penalized(run.mean()))
        value = loss / max(later, 1) + penalty
        return value if np.isfinite(value) else float("inf")

    rate, value = 1.0, trial(1.0)
    while np.isinf(value) and rate > 1e-30:
        rate /= TRIAL_FACTOR
        value = trial(rate)
    for factor in (TRIAL_FACTOR, 1 / TRIAL_FACTOR):
        moved = False
        for _ in range(24):
            candidate = trial(rate * factor)
            if candidate > (1 - 1e-3) * value:
                break
            rate, value, moved = rate * factor, candidate, True
        if moved:
            break
    # Where two rates do equally well so early, the smaller one is less noisy later.
    if trial(rate / TRIAL_FACTOR) <= 1.02 * value:
        rate /= TRIAL_FACTOR
    return rate
