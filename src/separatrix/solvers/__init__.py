"""Solvers on one contract: minimize an objective, return a `Solution`."""

from separatrix.solvers.base import check_needs
from separatrix.solvers.dual import DualCoordinateDescent

__all__ = ["DualCoordinateDescent", "check_needs"]
