"""How iterations over a batch of graphs ended, and the one warning where some did not converge."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.errors import ConvergenceWarning

__all__ = ["Convergence"]


class Convergence(NamedTuple):
    """How the iterations on every graph ended.

    Attributes
    ----------
    converged : bool array of shape (n_graphs,)
        Whether the last change was at most `tol`.
    iterations : int64 array of shape (n_graphs,)
        Sweeps over the graph.
    residual : array of shape (n_graphs,)
        The last change.
    """

    converged: npt.NDArray[np.bool_]
    iterations: npt.NDArray[np.int64]
    residual: npt.NDArray[np.float64]

    def warn(self, method: str, advice: str) -> None:
        """Warn once, with what to change, where a graph has not converged."""
        open_ = ~self.converged
        if open_.any():
            worst = int(np.argmax(np.where(open_, self.residual, -np.inf)))
            warnings.warn(
                f"{method} did not converge on {int(open_.sum())} of {len(open_)} graphs (graph "
                f"{worst}: change {self.residual[worst]:.3g} after {self.iterations[worst]} "
                f"iterations); {advice}",
                ConvergenceWarning,
                stacklevel=3,
            )
