"""Bayesian methods: conjugate families, decisions, regression, Laplace posteriors, comparison."""

from separatrix.bayes.regression import BayesianLinearRegression
from separatrix.bayes.regression_results import LeaveOneOut, RidgePath, WeightIntervals

__all__ = ["BayesianLinearRegression", "LeaveOneOut", "RidgePath", "WeightIntervals"]
