"""Seconds that a solver should take, from the shape of the data: what `choose` compares.

Work is counted in the operations that dominate and turned into seconds by rates of one class of
machines (x86-64 with AVX2 at about 3 GHz, one thread; `python -m benchmarks choose` prints
predictions beside measurements). Only ratios matter, so that slower machines choose alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix._core import Csr
from separatrix.objective import Objective

__all__ = ["Shape", "seconds_of"]

#: Seconds of a fit whatever the data: Python, checks, a proof.
_FIXED = 3e-4
#: Seconds of an iteration of solvers that are written in Python: arrays made, kernels called.
_STEP = 1.5e-4
#: Seconds of one multiply-add of matrix products in blocks (BLAS, Gram matrices, factors).
_BLOCKED = 7e-11
#: Seconds of reading one dense value, and one sparse value with its column, and per row visited.
_DENSE, _SPARSE, _ROW = 2.5e-10, 1.2e-9, 1.5e-8
#: The same for rows in random order, read and written to the weights; per score of many, the values
#: of a row are read together.
_VISIT_DENSE, _VISIT_SPARSE, _VISIT_ROW = 1.2e-9, 5e-9, 1e-7
_VISIT_DENSE_SCORE, _VISIT_SPARSE_SCORE, _VISIT_SCORE = 5e-10, 1.3e-9, 2e-8
#: Seconds of a loss and its slope at one score.
_SCORE = 1e-8
#: Seconds of one pair of values of a sparse Hessian.
_PAIR = 9e-10
#: Rows of dense data beyond which Newton's method begins with a sample (see `newton.rs`).
_MANY = 20_000.0
#: Passes of Newton steps: smooth losses on few rows and on many, the hinge on few and on many.
#: The hinge needs more where there are more features, up to those of few rows.
_SMOOTH_FEW, _SMOOTH_MANY, _HINGE_FEW, _HINGE_MANY, _HINGE_FEATURE = 7.0, 4.0, 45.0, 6.0, 0.15
#: Share of the rows that curve the smoothed hinge, over a run.
_CURVED = 0.25
#: Passes of dual coordinate descent: at least, per unit of C c |x|^2, and at most; how many times
#: as many there are for hinges of many classes.
_DUAL_LEAST, _DUAL_STRENGTH, _DUAL_MOST, _DUAL_CLASSES = 12.0, 6.0, 1000.0, 2.0
#: Passes of L-BFGS with one score and with many, and of its preconditioned form.
_LBFGS, _LBFGS_MANY, _PRECONDITIONED = 45.0, 200.0, 30.0
#: Share of the rows that are near the margin of a label, and seconds of the state of one label of
#: a row in a step of the interior point.
_NEAR, _ROW_STATE = 0.05, 8e-8
#: Seconds that the last steps of L-BFGS take, per weight and step.
_PAIRS_OF_STEPS = 1e-8
#: Steps of the interior point.
_INTERIOR = 15.0


@dataclass(frozen=True)
class Shape:
    """What the cost of a solver depends on.

    Attributes
    ----------
    n, d, k : float
        Rows, weights per score, scores.
    stored : float
        Stored values, an intercept's ones included.
    pairs : float
        Sum over rows of half the squared number of stored values.
    strength : float
        C c |x|^2 on the average: how hard rows pull at the weights.
    dense, smooth : bool
        Whether the data are dense, and the loss smooth.
    """

    n: float
    d: float
    k: float
    stored: float
    pairs: float
    strength: float
    dense: bool
    smooth: bool
    threads: int = field(default=1)

    @classmethod
    def of(cls, objective: Objective) -> Shape:
        """Measure an objective on flat data; a sample of dense rows is looked at."""
        scores: Any = objective.score_map
        design = objective.design
        n, d = float(objective.n_rows), float(objective.weight_shape[0])
        one = float(scores.intercept)
        if isinstance(design, Csr):
            count, squares, lengths = design.extent
            pairs = (squares + 2 * one * count + one * n) / 2
            stored, dense = count + one * n, False
            square = lengths / max(n, 1) if math.isfinite(lengths) else 1.0
        else:
            stored, pairs, dense = n * d, n * d * d / 2, True
            sample = design.values[:: max(1, int(n) // 64)]
            with np.errstate(over="ignore"):
                square = float(np.einsum("ij,ij->", sample, sample, dtype=np.float64))
            square /= max(1, len(sample))
        weight = objective.C
        if objective.sample_weight is not None:
            weight *= float(objective.sample_weight.mean())
        return cls(
            n, d, float(objective.weight_shape[1]), float(stored), pairs, weight * (square + one),
            dense, bool(objective.loss.smooth), scores.n_threads,
        )  # fmt: skip

    @property
    def read(self) -> float:
        """Seconds of a product with the data."""
        return self.stored * (_DENSE if self.dense else _SPARSE) * max(1.0, self.k / 4)

    @property
    def of_rows(self) -> Shape:
        """The same rows in the space that they span."""
        n = min(self.n, self.d)
        return Shape(
            self.n, n + 1, self.k, self.n * (n + 1), self.n * n * n / 2, self.strength,
            True, self.smooth, self.threads,
        )  # fmt: skip


def exact_newton(shape: Shape) -> float:
    """Newton steps of the kernel."""
    if shape.k > 1:
        size = shape.d * shape.k
        once = shape.n * size * size / 4 * (2 * _BLOCKED) + size**3 / 3 * (2 * _BLOCKED)
        return _SMOOTH_FEW * (once + 3 * shape.read + 2 * shape.n * shape.k * _SCORE)
    many = shape.dense and shape.n > _MANY
    if shape.smooth:
        passes, curved = _SMOOTH_MANY if many else _SMOOTH_FEW, 1.0
    else:
        passes, curved = _HINGE_FEW, _CURVED
        if many:
            passes = min(passes, _HINGE_MANY + _HINGE_FEATURE * shape.d)
    hessian = curved * shape.pairs * (2 * _BLOCKED if shape.dense else _PAIR)
    once = hessian + 3 * shape.read + shape.n * 0.5 * _ROW + shape.d**3 / 3 * (2 * _BLOCKED)
    return passes * (once + shape.d**2 * _DENSE) + 2 * shape.read


def dual(shape: Shape) -> float:
    """Dual coordinate descent."""
    # Rows in more columns than there are rows pull at weights of their own.
    strength = shape.strength * min(1.0, shape.n / shape.d)
    passes = _DUAL_LEAST + _DUAL_STRENGTH * strength
    if shape.k > 1:
        passes *= _DUAL_CLASSES
        per_value = _VISIT_DENSE_SCORE if shape.dense else _VISIT_SPARSE_SCORE
        work = shape.n * (_VISIT_ROW + shape.k * _VISIT_SCORE) + shape.stored * shape.k * per_value
    else:
        per_value = _VISIT_DENSE if shape.dense else _VISIT_SPARSE
        work = shape.n * _VISIT_ROW + shape.stored * per_value
    return min(_DUAL_MOST, passes) * (work + 2e-5)


def newton(shape: Shape) -> float:
    """Newton's method in Python with a formed Hessian."""
    size = shape.d * shape.k
    gram = shape.n * size * size / 2 * (2 * _BLOCKED) + size**3 / 3 * _BLOCKED
    return _SMOOTH_FEW * (gram + 4 * shape.read + 2 * shape.n * shape.k * _SCORE + 3 * _STEP)


def preconditioned(shape: Shape) -> float:
    """L-BFGS from Gram matrices."""
    rows = min(shape.n, max(20 * shape.d, shape.n / 3))
    matrices = 1 + shape.k if shape.k > 1 else 1.5
    gram = matrices * (rows * shape.d**2 / 2 + shape.d**3) * _BLOCKED
    once = 2 * shape.read + shape.d**2 * shape.k * _DENSE + shape.n * shape.k * _SCORE + _STEP
    return gram + _PRECONDITIONED * once


def lbfgs(shape: Shape) -> float:
    """L-BFGS as it is."""
    passes = _LBFGS if shape.k == 1 else _LBFGS_MANY
    pairs = shape.d * shape.k * _PAIRS_OF_STEPS
    return passes * (2 * shape.read + pairs + shape.n * shape.k * _SCORE + _STEP)


def interior_point(shape: Shape) -> float:
    """The interior point of hinges of many classes."""
    size = shape.d * max(shape.k, 1.0)
    rows = max(_NEAR * shape.n, min(shape.n, 200.0))
    once = (rows * size**2 / 2 + size**3 / 3) * _BLOCKED + shape.n * shape.k * _ROW_STATE
    return _INTERIOR * (once + 2 * shape.read + 2 * _STEP)


def gram_of_rows(shape: Shape) -> float:
    """X X' and its factor."""
    n = shape.n
    return (n * n * shape.d / 2 + n**3 / 3) * _BLOCKED + 3 * shape.read


def seconds_of(name: str, shape: Shape) -> float:
    """Predicted seconds of a solver by the name of its cost."""
    return _FIXED + float(_COSTS[name](shape))


_COSTS: dict[str, Any] = {
    "exact_newton": exact_newton,
    "dual": dual,
    "newton": newton,
    "preconditioned": preconditioned,
    "lbfgs": lbfgs,
    "interior_point": interior_point,
    "gram_of_rows": gram_of_rows,
}
