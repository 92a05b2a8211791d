"""Bayesian methods: conjugate families, decisions, regression, Laplace posteriors, comparison."""

from separatrix.bayes.laplace import LaplaceLogisticRegression
from separatrix.bayes.laplace_results import EvidencePath, OddsRatios
from separatrix.bayes.regression import BayesianLinearRegression
from separatrix.bayes.regression_results import LeaveOneOut, RidgePath, WeightIntervals

__all__ = [
    "BayesianLinearRegression",
    "EvidencePath",
    "LaplaceLogisticRegression",
    "LeaveOneOut",
    "OddsRatios",
    "RidgePath",
    "WeightIntervals",
]
