"""Generative classifiers: model P(x, y), predict by Bayes' rule."""

from separatrix.learners.generative.discriminant import GaussianDiscriminant
from separatrix.learners.generative.naive_bayes import NaiveBayes
from separatrix.learners.generative.odds import OddsRatios
from separatrix.learners.generative.smoothing import (
    Interpolation,
    LaplaceSmoothing,
    MaximumLikelihood,
)

__all__ = [
    "GaussianDiscriminant",
    "Interpolation",
    "LaplaceSmoothing",
    "MaximumLikelihood",
    "NaiveBayes",
    "OddsRatios",
]
