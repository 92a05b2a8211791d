"""Solvers on one contract: minimize an objective, return a `Solution`."""

from separatrix.solvers.base import check_needs
from separatrix.solvers.certificate import Certifier
from separatrix.solvers.choose import SOLVERS, Auto, make_solver, make_structured_solver
from separatrix.solvers.dual.coordinate_descent import DualCoordinateDescent
from separatrix.solvers.dual.interior_point import InteriorPoint
from separatrix.solvers.primal.exact_newton import ExactNewton
from separatrix.solvers.primal.gradient_descent import GradientDescent
from separatrix.solvers.primal.lbfgs import Lbfgs
from separatrix.solvers.primal.newton import NewtonCG
from separatrix.solvers.proximal.gradient import ProximalGradient
from separatrix.solvers.proximal.newton import ProximalNewton
from separatrix.solvers.proximal.owlqn import OwlQn
from separatrix.solvers.row_space import RowSpace
from separatrix.solvers.stochastic.steps import AdaDelta, AdaGrad, Adam, RmsProp, StochasticGradient

__all__ = [
    "SOLVERS",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Auto",
    "Certifier",
    "DualCoordinateDescent",
    "ExactNewton",
    "GradientDescent",
    "InteriorPoint",
    "Lbfgs",
    "NewtonCG",
    "OwlQn",
    "ProximalGradient",
    "ProximalNewton",
    "RmsProp",
    "RowSpace",
    "StochasticGradient",
    "check_needs",
    "make_solver",
    "make_structured_solver",
]
