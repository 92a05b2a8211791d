"""Bayesian methods: conjugate families, estimates, decisions, regression, Laplace, comparisons."""

from separatrix.bayes.comparison import (
    AccuracyInterval,
    ModelComparison,
    accuracy_interval,
    compare_predictions,
    correlated_t_test,
    sign_test,
)
from separatrix.bayes.conjugate import (
    BetaBernoulli,
    ConjugateFamily,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
)
from separatrix.bayes.decision import (
    AbsoluteLoss,
    BayesAction,
    BayesDecision,
    CostMatrix,
    PosteriorRisk,
    QuantileLoss,
    SquaredLoss,
    ZeroOneLoss,
    bayes_action,
    posterior_risk,
)
from separatrix.bayes.estimates import (
    credible_interval,
    highest_density_set,
    posterior_mean,
    posterior_median,
    posterior_mode,
    posterior_quantile,
)
from separatrix.bayes.laplace.classifier import LaplaceLogisticRegression
from separatrix.bayes.laplace.results import EvidencePath, OddsRatios
from separatrix.bayes.regression.estimator import BayesianLinearRegression
from separatrix.bayes.regression.results import LeaveOneOut, RidgePath, WeightIntervals

__all__ = [
    "AbsoluteLoss",
    "AccuracyInterval",
    "BayesAction",
    "BayesDecision",
    "BayesianLinearRegression",
    "BetaBernoulli",
    "ConjugateFamily",
    "CostMatrix",
    "DirichletCategorical",
    "EvidencePath",
    "GammaPoisson",
    "LaplaceLogisticRegression",
    "LeaveOneOut",
    "ModelComparison",
    "NormalInverseGamma",
    "NormalNormal",
    "OddsRatios",
    "PosteriorRisk",
    "QuantileLoss",
    "RidgePath",
    "SquaredLoss",
    "WeightIntervals",
    "ZeroOneLoss",
    "accuracy_interval",
    "bayes_action",
    "compare_predictions",
    "correlated_t_test",
    "credible_interval",
    "highest_density_set",
    "posterior_mean",
    "posterior_median",
    "posterior_mode",
    "posterior_quantile",
    "posterior_risk",
    "sign_test",
]
