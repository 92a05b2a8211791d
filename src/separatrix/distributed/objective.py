"""An objective whose rows lie in partitions on a cluster; solvers do not notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from separatrix.distributed.certificate import RemoteCertifier, partial_proof
from separatrix.distributed.session import Session
from separatrix.losses import is_softmax
from separatrix.objective import Objective
from separatrix.protocols import Array, Loss, Penalty

__all__ = ["DistributedObjective", "RemoteScores", "added", "partial_gradient"]


class RemoteScores:
    """Shape and precision of scores that stay on the workers.

    Parameters
    ----------
    n_rows : int
        Rows of all partitions.
    weight_shape : (int, int)
        Shape (d, K) of the weights.
    dtype : dtype
        Precision of the data.
    """

    def __init__(self, n_rows: int, weight_shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.n_rows = n_rows
        self.weight_shape = weight_shape
        self.dtype = dtype

    def __call__(self, w: Array) -> Array:
        """Not here: a partition has its own."""
        raise NotImplementedError("scores stay on the workers")

    def adjoint(self, ds: Array) -> Array:
        """Not here: a partition has its own."""
        raise NotImplementedError("scores stay on the workers")


class DistributedObjective(Objective):
    """P(w) = R(w) + C sum over partitions of their losses.

    A partition answers three questions (the narrow contract): value and gradient at w, the product
    of its Hessian at w with v, each as a sum over its rows with C = 1. The answers are added in a
    fixed tree in double precision.

    Parameters
    ----------
    session : Session
        The cluster.
    parts : list of tuples of futures
        For every partition the problem, which has ``value_and_grad(w, *state)`` and
        ``hessian_product(w, v, *state)``, and what else belongs to these.
    score_map : RemoteScores
        Shapes.
    loss, penalty, C, exempt
        As for `Objective`.
    dense : bool
        Whether all partitions are dense.

    Attributes
    ----------
    forms_hessian : bool
        Whether `loss_hessian` can form the Hessian as a matrix.
    """

    #: Points of a run cannot keep scores, so that every step of a line search is a pass.
    keeps_scores: ClassVar[bool] = False

    def __init__(
        self,
        session: Session,
        parts: Sequence[tuple[Any, ...]],
        score_map: RemoteScores,
        loss: Loss,
        penalty: Penalty,
        *,
        C: float,
        exempt: bool,
        dense: bool = False,
    ) -> None:
        super().__init__(score_map, loss, penalty, np.empty(0), C=C, exempt=exempt)
        self.session = session
        self.parts = list(parts)
        self.dense = dense
        known = loss.n_scores == 1 or is_softmax(loss)
        self.forms_hessian = dense and known and "hvp" in self.can

    @property
    def has_fused_pass(self) -> bool:
        """Value and gradient come from one pass."""
        return True

    @cached_property
    def class_weights(self) -> npt.NDArray[np.float64]:
        """Sum of C c_i over the rows of each class."""
        (sums,) = self.session.reduce(partial_class_weights, added, self.parts)
        return self.C * np.asarray(sums, dtype=np.float64)

    @cached_property
    def longest_row(self) -> float:
        """The largest |x_i|."""
        (longest,) = self.session.reduce(partial_longest_row, largest, self.parts)
        return float(longest)

    def value(self, w: Array) -> float:
        """P(w)."""
        return self.value_and_grad(w)[0]

    def loss_value_and_grad(self, w: Array) -> tuple[float, Array]:
        """The loss part C sum_i c_i loss_i alone, and its gradient."""
        value, grad = self.session.reduce(partial_gradient, added, self.parts, w)
        return self.C * value, self.C * grad

    def certifier(self) -> RemoteCertifier | None:
        """What proves gaps in double precision, whatever the rows are in."""
        return RemoteCertifier(self) if RemoteCertifier.fits(self) else None

    def proof_sums(self, stored: Array, off: float) -> tuple[Any, ...]:
        """The sums of `Certifier.sums` over all partitions, for C c_i."""
        sums = self.session.reduce(partial_proof, added, self.parts, stored, off)
        return tuple(self.C * member for member in sums)

    def hessian(self, w: Array, scores: Array | None = None) -> Callable[[Array], Array]:
        """The map v -> H v at w; w is sent once, v with every product."""
        at = self.session.send(w)
        curvature = float(getattr(self.penalty, "curvature", 0.0))

        def apply(v: Array) -> Array:
            (product,) = self.session.reduce(partial_product, added, self.parts, at, v)
            result: Array = self.C * product
            result[: len(self.penalized(v))] += curvature * self.penalized(v)
            return result

        return apply

    def loss_hessian(self, w: Array) -> npt.NDArray[np.float64]:
        """Hessian of the loss part in the order of w.ravel(): a sum of matrices."""
        (matrix,) = self.session.reduce(partial_hessian, added, self.parts, w)
        result: npt.NDArray[np.float64] = self.C * matrix
        return result


def partial_gradient(problem: Any, *arguments: Any) -> tuple[float, npt.NDArray[np.float64]]:
    """Value and gradient of one partition at w, the last argument, in double precision."""
    *state, w = arguments
    value, grad = problem.value_and_grad(w, *state)
    return float(value), np.asarray(grad, dtype=np.float64)


def partial_product(problem: Any, *arguments: Any) -> tuple[npt.NDArray[np.float64]]:
    """Hessian of one partition at w times v, the last two arguments."""
    *state, w, v = arguments
    return (np.asarray(problem.hessian_product(w, v, *state), dtype=np.float64),)


def partial_hessian(problem: Any, *arguments: Any) -> tuple[npt.NDArray[np.float64]]:
    """Hessian of one partition at w, the last argument, as a matrix."""
    *state, w = arguments
    return (problem.hessian_matrix(w, *state),)


def partial_class_weights(problem: Any, *state: Any) -> tuple[npt.NDArray[np.float64]]:
    """Sums of the row weights of each class in one partition."""
    return (problem.class_weights(*state),)


def partial_longest_row(problem: Any, *state: Any) -> tuple[float]:
    """The largest |x_i| of one partition."""
    return (problem.longest_row(),)


def largest(*terms: tuple[float]) -> tuple[float]:
    """The largest of some numbers.

    Examples
    --------
    >>> largest((1.0,), (3.0,), (2.0,))
    (3.0,)
    """
    return (max(term[0] for term in terms),)


def added(*terms: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sums of the members of tuples, one after the other from the left.

    Examples
    --------
    >>> added((1.0, 2.0), (3.0, 4.0))
    (4.0, 6.0)
    """
    sums = list(terms[0])
    if len(terms) > 1:
        sums = [member.copy() if isinstance(member, np.ndarray) else member for member in sums]
        for term in terms[1:]:
            for place, member in enumerate(term):
                sums[place] += member
    return tuple(sums)
