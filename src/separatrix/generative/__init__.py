"""Generative classifiers: model P(x, y), predict by Bayes' rule."""

from separatrix.generative.discriminant import GaussianDiscriminant
from separatrix.generative.explanation import Explanation, OddsRatios
from separatrix.generative.naive_bayes import NaiveBayes
from separatrix.generative.smoothing import Interpolation, Laplace, MaximumLikelihood

__all__ = [
    "Explanation",
    "GaussianDiscriminant",
    "Interpolation",
    "Laplace",
    "MaximumLikelihood",
    "NaiveBayes",
    "OddsRatios",
]
