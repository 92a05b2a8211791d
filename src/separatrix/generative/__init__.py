"""Generative classifiers: model P(x, y), predict by Bayes' rule."""

from separatrix.generative.discriminant import GaussianDiscriminant
from separatrix.generative.naive_bayes import NaiveBayes
from separatrix.generative.odds import OddsRatios
from separatrix.generative.smoothing import Interpolation, Laplace, MaximumLikelihood

__all__ = [
    "GaussianDiscriminant",
    "Interpolation",
    "Laplace",
    "MaximumLikelihood",
    "NaiveBayes",
    "OddsRatios",
]
