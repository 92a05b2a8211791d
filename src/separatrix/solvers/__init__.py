"""Solvers on one contract: minimize an objective, return a `Solution`."""

from separatrix.solvers.auto import Auto
from separatrix.solvers.base import check_needs
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.dual import DualCoordinateDescent
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.lbfgs import Lbfgs
from separatrix.solvers.named import SOLVERS, make_solver, make_structured_solver
from separatrix.solvers.newton import NewtonCG
from separatrix.solvers.owlqn import OwlQn
from separatrix.solvers.proximal import ProximalGradient
from separatrix.solvers.proximal_newton import ProximalNewton
from separatrix.solvers.stochastic import AdaDelta, AdaGrad, Adam, RmsProp, StochasticGradient

__all__ = [
    "SOLVERS",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Auto",
    "Certifier",
    "DualCoordinateDescent",
    "GradientDescent",
    "InteriorPoint",
    "Lbfgs",
    "NewtonCG",
    "OwlQn",
    "ProximalGradient",
    "ProximalNewton",
    "RmsProp",
    "StochasticGradient",
    "check_needs",
    "make_solver",
    "make_structured_solver",
]
