"""Solvers on one contract: minimize an objective, return a `Solution`."""

from separatrix.solvers.base import check_needs
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.newton import NewtonCG
from separatrix.solvers.proximal import ProximalGradient

__all__ = ["GradientDescent", "Lbfgs", "NewtonCG", "ProximalGradient", "check_needs"]
