"""Proofs of optimality for likelihoods: bounds of P(w) - min P from dual points, right of rounding.

For P(w) = R(w) + L(w) with L a sum of log-partition functions less linear terms, every distribution
over the labellings is a dual point. With u the weighted sum of observed less expected features and
h the weighted sum of entropies, ``min P >= h - R*(u)``; at the model's own marginals u = -grad L(w)
and h = L(w) + <w, u>. Mixing a distribution with the observed labels by the share t scales u to t u
and leaves an entropy of at least t h.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.penalties import strengths
from separatrix.protocols import Array
from separatrix.results import Solution, StopReason

__all__ = ["COARSE", "EPSILON", "ROUNDINGS", "fenchel_gap", "judged"]

Floats = npt.NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
#: Rounding of a sum, in units of the rounding of its largest term: what the kernels reach, with
#: room. The law of structured certificates compares with sums in extended precision.
ROUNDINGS = 32.0
#: Rounding of P in single precision: below it passes go on in double precision.
COARSE = 4 * float(np.finfo(np.float32).eps)


def judged(solution: Solution, objective: Any, tol: float) -> Solution:
    """The record with what is proven about its weights, and the word for how the run ended.

    Parameters
    ----------
    solution : Solution
    objective : object
        With ``convex`` and ``prove(w, lower)``: P(w) and a bound of P(w) - min P, given a lower
        bound of min P.
    tol : float
        The relative gap that was wanted.
    """
    stopped = solution.stopped
    ended = stopped in (StopReason.CONVERGED, StopReason.STATIONARY, StopReason.PRECISION)
    if not objective.convex:
        rows = solution.trace.rows[-1:]
        if ended and all(row.gap <= tol * abs(row.objective) for row in rows):
            stopped = StopReason.STATIONARY  # the last estimate is within the tolerance
        return solution._replace(gap=float("inf"), certificate="none", stopped=stopped)
    claimed = solution.certificate == "duality gap" and np.isfinite(solution.gap)
    # A run that was cut short stays in single precision.
    cut = stopped in (StopReason.BUDGET, StopReason.INTERRUPTED)
    if (cut and getattr(objective, "is_single", False)) or not np.isfinite(solution.w).all():
        words = "none" if solution.certificate == "duality gap" else solution.certificate
        return solution if claimed else solution._replace(certificate=words)
    lower = solution.objective - solution.gap if claimed else -np.inf
    value, gap = objective.prove(solution.w, lower)
    if not np.isfinite(gap):
        if stopped is StopReason.CONVERGED:
            stopped = StopReason.STATIONARY
        return solution._replace(objective=value, gap=gap, certificate="none", stopped=stopped)
    if ended:
        proven = gap <= tol * abs(value)
        stopped = StopReason.CONVERGED if proven else StopReason.PRECISION
    return solution._replace(objective=value, gap=gap, certificate="duality gap", stopped=stopped)


def fenchel_gap(
    loss: float, w: Array, u: Array, penalty: Any, *, missing: float = 0.0, off: float = 0.0
) -> float:
    """Bound of P(w) - min P by the dual point u, scaled towards zero where that is better.

    Written as a sum of terms that are not negative, so that nothing cancels:
    P(w) - (t h - R*(t u)) = (1 - t) L(w) + t missing + sum_j (R(w_j) + R*(t u_j) - t w_j u_j).

    Parameters
    ----------
    loss : float
        L(w), at least zero.
    w : array
        Penalized weights.
    u : array
        The dual point at the same weights; at all others it is zero.
    penalty : Penalty
        R: an L1, L2 or elastic-net penalty, perhaps with a weight of its own for every |w_j|.
    missing : float
        L(w) + <w, u> - h: zero at the model's own marginals.
    off : float
        By how much u may be off, in the Euclidean norm.

    Returns
    -------
    float
        Infinite where there is no penalty.

    Examples
    --------
    >>> from separatrix.penalties import L2
    >>> fenchel_gap(1.0, np.array([1.0]), np.array([1.5]), L2())  # 1/2 |w - u|^2
    0.125
    """
    found, l2 = strengths(penalty) or (0.0, 0.0)
    w, u = w.ravel(), u.ravel()
    l1 = found.ravel() if isinstance(found, np.ndarray) else found
    if l2 <= 0 and not (np.size(l1) and np.min(l1) > 0):
        return float("inf")
    size = np.abs(w)
    plain = loss + float((l1 * size).sum()) + 0.5 * l2 * float(w @ w)  # t = 0: P(w) itself
    if l2 > 0:
        scale = 1.0
        if np.ndim(l1) == 0 and l1 == 0:
            inner, terms = w - u / l2, 0.0
        else:
            over, sign = np.maximum(np.abs(u) - l1, 0.0), np.sign(u)
            inner = w - sign * over / l2
            terms = float((l1 * size - np.where(over > 0, sign * l1, u) * w).sum())
        square = float(inner @ inner)
        # The derivative by u is -inner, and that changes by 1 / l2 at most.
        terms += 0.5 * l2 * square + off * float(np.sqrt(square)) + off * off / (2 * l2)
    else:
        most = float(((np.abs(u) + off) / l1).max(initial=0.0))
        scale = min(1.0, 1.0 / most) if most > 0 else 1.0
        terms = float((l1 * size - scale * w * u).sum()) + off * float(np.linalg.norm(w))
    return min(plain, (1.0 - scale) * loss + scale * missing + terms)
