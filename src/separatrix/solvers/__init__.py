"""Solvers on one contract: minimize an objective, return a `Solution`."""

from separatrix.solvers.base import check_needs

__all__ = ["check_needs"]
