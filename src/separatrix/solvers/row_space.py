"""Fewer rows than columns: the same problem with as many columns as rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack, solve_triangular

from separatrix._core import Dense
from separatrix.objective import Objective
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.certificate import Certifier
from separatrix.structures.labels import FlatScores

__all__ = ["RowSpace"]

#: Share of the wanted gap that is asked of the smaller problem: the way back rounds.
_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Minimize in the span of the rows, where the minimum lies under an L2 penalty.

    With X X' = R R' the rows of R have the inner products of those of X. A minimizer v for R in
    place of X gives weights w in the span of the rows with the same scores and the same length, so
    that any solver for n columns solves the problem with d. One product X X' and one way back are
    all that is paid for the d columns (the kernel matrix of Boser, Guyon & Vapnik 1992, factored).

    Parameters
    ----------
    inner : Solver or None
        Solver of the smaller problem; None leaves that to `choose`.
    seed : int
        For solvers that shuffle.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> from separatrix.penalties import L2
    >>> from separatrix.structures.labels import make_design
    >>> X = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    >>> objective = Objective(scores, Hinge(), L2(), np.array([1, -1]), C=10.0)
    >>> solution = RowSpace().minimize(objective, None, Monitor(tol=1e-9, max_passes=100))
    >>> solution.w[:2].ravel().round(4), solution.stopped.value
    (array([ 0.5, -0.5]), 'converged')
    """

    inner: Solver | None = None
    seed: int = 0

    needs: ClassVar[frozenset[str]] = frozenset({"dense", "l2"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from zero until `monitor` says stop; `w0` is not used."""
        check_needs(self, objective)
        X = np.asarray(objective.design.values, dtype=np.float64)
        try:
            with blas_threads(1):
                span = _Span(X)
            inner = self._inner(objective, span.R)
            first = Monitor(tol=_SHARE * monitor.tol, max_passes=monitor.max_passes)
            first.scale = monitor.scale
            found = self._solver(inner).minimize(inner, None, first)
        except KeyboardInterrupt:
            return Solution(
                w=np.zeros(objective.weight_shape),
                n_passes=0.0,
                gap=np.inf,
                stopped=StopReason.INTERRUPTED,
                trace=monitor.trace,
                objective=np.nan,
                certificate="none",
                solver="the space of the rows",
            )
        with blas_threads(1):
            w = span.back(found.w)
        return self._proven(objective, found, w, monitor)

    def _solver(self, inner: Objective) -> Solver:
        from separatrix.solvers.choose import choose

        solver: Any = choose(inner) if self.inner is None else self.inner
        if any(field.name == "seed" for field in fields(solver)):
            solver = replace(solver, seed=self.seed)
        chosen: Solver = solver
        return chosen

    @staticmethod
    def _inner(objective: Objective, rows: npt.NDArray[np.float64]) -> Objective:
        scores: Any = objective.score_map
        return Objective(
            FlatScores(
                Dense(rows),
                scores.n_scores,
                intercept=scores.intercept,
                dtype=np.float64,
                n_threads=scores.n_threads,
            ),
            objective.loss,
            objective.penalty,
            objective.targets,
            C=objective.C,
            sample_weight=objective.sample_weight,
            exempt=objective.exempt,
        )

    @staticmethod
    def _proven(objective: Objective, found: Solution, w: Array, monitor: Monitor) -> Solution:
        """The solution with the gap that the data themselves prove."""
        n_passes, gap, value, certificate = found.n_passes + 2, np.inf, found.objective, "none"
        if Certifier.fits(objective):
            wanted = monitor.wanted(found.objective)
            proof = Certifier(objective).at(w, wanted, duals=found.dual)
            w, value, gap, certificate = proof.w, proof.value, proof.gap, "duality gap"
        stopped = monitor.record(n_passes, value, gap, lambda: w)
        if stopped is None or found.stopped is StopReason.INTERRUPTED:
            stopped = found.stopped
            if stopped is StopReason.CONVERGED and certificate != "none":
                stopped = StopReason.PRECISION
        return found._replace(
            w=w,
            n_passes=n_passes,
            gap=gap,
            objective=value,
            stopped=stopped,
            trace=monitor.trace,
            certificate=certificate,
            solver=f"{found.solver} in the space of the rows",
        )


class _Span:
    """Rows in coordinates of their own span: R of shape (n, rank) with R R' = X X'.

    Cholesky with pivots (Higham 1990) finds rows that span the others, so that rows which depend
    on each other do no harm.
    """

    def __init__(self, X: npt.NDArray[np.float64]) -> None:
        gram = blas.dsyrk(1.0, X.T, trans=1, lower=1)
        lower, pivots, rank, _ = lapack.dpstrf(gram, lower=1)
        pivots = pivots[: len(X)] - 1
        lower = np.tril(lower[:, :rank])
        self.R = np.empty((len(X), rank))
        self.R[pivots] = lower
        self._corner = lower[:rank]
        self._rows = X[pivots[:rank]]

    def back(self, v: Array) -> Array:
        """The weights of all columns, and the intercepts as they are."""
        rank = len(self._rows)
        shares = solve_triangular(self._corner, v[:rank], lower=True, trans="T")
        return np.vstack([self._rows.T @ shares, v[rank:]])
