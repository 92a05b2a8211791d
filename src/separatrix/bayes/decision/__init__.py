"""Decisions: losses, posterior risk, Bayes actions, and classifiers that know what errors cost."""

from separatrix.bayes.decision.action import (
    BayesAction,
    PosteriorRisk,
    bayes_action,
    posterior_risk,
)
from separatrix.bayes.decision.classifier import BayesDecision
from separatrix.bayes.decision.losses import (
    AbsoluteLoss,
    CostMatrix,
    QuantileLoss,
    SquaredLoss,
    ZeroOneLoss,
)

__all__ = [
    "AbsoluteLoss",
    "BayesAction",
    "BayesDecision",
    "CostMatrix",
    "PosteriorRisk",
    "QuantileLoss",
    "SquaredLoss",
    "ZeroOneLoss",
    "bayes_action",
    "posterior_risk",
]
