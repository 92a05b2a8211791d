"""The contracts on one screen. Start here.

Data walk: features -> `ScoreMap` -> `Loss` (inference inside) -> objective -> `Solver` -> weights.
Weights `w` have shape (d, K): one column per score, the last row the intercepts where there are
any. Scores `s` have shape (n, K). Two-class learners with a margin loss have K = 1.

One objective everywhere:  P(w) = R(w) + C sum_i c_i loss_i(s_i),  R(w) = 1/2 |w|^2 for L2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from separatrix.results import Monitor, Solution

__all__ = ["Array", "Labels", "Loss", "MaxOperator", "Regularizer", "ScoreMap", "Solver"]

Array = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.intp]


class ScoreMap(Protocol):
    """Linear map from weights to scores, s = Psi w, with its adjoint Psi'."""

    @property
    def n_rows(self) -> int:
        """Number of examples."""
        ...

    @property
    def weight_shape(self) -> tuple[int, int]:
        """Shape (d, K) of the weights."""
        ...

    def __call__(self, w: Array) -> Array:
        """Scores of shape (n, K)."""
        ...

    def adjoint(self, ds: Array) -> Array:
        """Psi' ds, of the shape of the weights."""
        ...


class MaxOperator(Protocol):
    """Soft or hard maximum over the outputs, with its gradient (an argmax or the marginals)."""

    def __call__(self, scores: Array, targets: Labels) -> tuple[Array, Array]:
        """Values of shape (n,) and gradients of shape (n, K)."""
        ...


class Loss(Protocol):
    """A loss of the scores; it never sees X or w.

    `targets` are +1 / -1 of shape (n,) for margin losses, class numbers of shape (n,) otherwise.
    """

    @property
    def n_scores(self) -> int | None:
        """1 for a margin loss, None for one score per class."""
        ...

    @property
    def smooth(self) -> bool:
        """Whether the loss has a Lipschitz gradient everywhere."""
        ...

    def value_and_grad(self, scores: Array, targets: npt.NDArray[Any]) -> tuple[Array, Array]:
        """Losses of shape (n,) and their (sub)gradients, of the shape of the scores."""
        ...


class Regularizer(Protocol):
    """A penalty on the weights; `exempt` rows (the intercepts) are left out by the objective."""

    @property
    def smooth(self) -> bool:
        """Whether `grad` exists everywhere."""
        ...

    def value(self, w: Array) -> float:
        """R(w)."""
        ...

    def grad(self, w: Array) -> Array:
        """Gradient of R at w."""
        ...

    def prox(self, w: Array, step: float) -> Array:
        """Argmin over v of R(v) + |v - w|^2 / (2 step)."""
        ...


@runtime_checkable
class Solver(Protocol):
    """Minimizes an objective, states what it needs of it, never prints or changes its inputs."""

    @property
    def needs(self) -> frozenset[str]:
        """What the objective must declare: "value_grad", "smooth", "hvp", "prox", "dual" ..."""
        ...

    def minimize(self, objective: Any, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from `w0` (None: from zero) until `monitor` says stop."""
        ...
