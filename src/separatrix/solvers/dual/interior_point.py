"""Interior-point method for the hinge losses on small dense data: few steps, high accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason
from separatrix.solvers.base import check_needs
from separatrix.solvers.blas import blas_threads
from separatrix.solvers.certificate import Certified, Certifier
from separatrix.solvers.dual.interior_state import InteriorState

__all__ = ["InteriorPoint"]

#: Steps without a smaller gap after which rounding is all that is left.
_STALLED = 15


@dataclass(frozen=True)
class InteriorPoint:
    r"""Primal-dual interior-point method for the hinge, two classes or many, any cost matrix.

    The generalized hinge is a linear program in every row,

    .. math:: \min_{w, \xi} \tfrac12 |w|^2 + \sum_i U_i (\xi_i - s_{i y_i})
              \quad\text{with}\quad \mu_{ik} = \xi_i - s_{ik} - \Delta_{ik} \ge 0,

    with duals :math:`\alpha_{ik} \ge 0` that sum to :math:`U_i = C c_i` over k. Newton's method on
    the optimality conditions with :math:`\alpha_{ik} \mu_{ik} = \tau`, predictor and corrector as
    in Mehrotra (1992) with more correctors as in Gondzio (1996), needs one symmetric system in w
    a step: I + sum_i x_i x_i' (x) M_i with :math:`M_i = \mathrm{diag}(D_i) - D_i D_i' / \sum D_i`,
    :math:`D = \alpha / \mu`. Two classes are the case in which the first class keeps the score
    zero.

    Most labels of most rows never come near the margin, and their duals are zero. They are left
    out until the weights bring them close; the duality gap is that of the whole problem. Larger
    problems begin at a rough solution with the logistic loss.

    Examples
    --------
    >>> from separatrix.losses import Hinge
    >>> from separatrix.penalties import L2
    >>> from separatrix.structures.labels import FlatScores, make_design
    >>> X = np.array([[2.0], [1.0], [-1.0], [-3.0]])
    >>> scores = FlatScores(make_design(X, 1), 1, intercept=False, dtype=X.dtype)
    >>> objective = Objective(scores, Hinge(), L2(), np.array([1, 1, -1, -1]), C=10.0)
    >>> solution = InteriorPoint().minimize(objective, None, Monitor(tol=1e-9, max_passes=100))
    >>> solution.w.round(6)
    array([[1.]])
    """

    needs: ClassVar[frozenset[str]] = frozenset({"dual", "dense", "hinge"})

    def minimize(self, objective: Objective, w0: Array | None, monitor: Monitor) -> Solution:
        """Minimize from the middle of the feasible set near `w0` until `monitor` says stop."""
        check_needs(self, objective)
        state, certifier = InteriorState(objective), Certifier(objective)
        proven: Certified | None = None
        best = _Best(state.w, np.inf, np.inf, state.alpha, state.mu)
        n_passes, stopped, stalled, again = 0.0, None, 0, False
        try:
            with blas_threads(1):
                n_passes = state.begin(w0, monitor.max_passes)
                while stopped is None:
                    value, gap = state.certificate()
                    n_passes += 1
                    stalled = 0 if gap < 0.9 * best.gap else stalled + 1
                    if gap < best.gap:
                        best = _Best(state.w, value, gap, state.alpha, state.mu)
                    near = monitor.converged(value, gap)
                    if near:
                        n_passes += 1
                        proven = self._prove(certifier, state, best, monitor)
                        value, gap = proven.value, proven.gap
                    stopped = monitor.record(n_passes, value, gap, lambda: state.w, proven=near)
                    if stopped is None and (stalled > _STALLED or not state.step()):
                        if again or best.gap <= 0.1 * abs(best.value):
                            stopped = StopReason.PRECISION
                        else:
                            again, stalled = True, 0
                            state.begin_again()
            if proven is None or stopped is not StopReason.CONVERGED:
                proven = self._prove(certifier, state, best, monitor)
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
            proven = Certified(best.w, best.value, np.inf)
        return Solution(
            w=proven.w,
            n_passes=n_passes,
            gap=proven.gap,
            stopped=stopped,
            trace=monitor.trace,
            objective=proven.value,
            certificate="duality gap",
            solver="interior point",
            dual=state.duals(best.alpha, best.mu),
        )

    @staticmethod
    def _prove(
        certifier: Certifier, state: InteriorState, best: _Best, monitor: Monitor
    ) -> Certified:
        """The best weights with the bound that their duals give."""
        duals = state.all_duals(best.alpha)
        return certifier.at(best.w, monitor.wanted(best.value), duals=duals)


@dataclass(frozen=True, eq=False)
class _Best:
    """The iterate of the smallest gap."""

    w: Array
    value: float
    gap: float
    alpha: Array
    mu: Array
