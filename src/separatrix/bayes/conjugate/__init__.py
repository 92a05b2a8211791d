"""Conjugate families: beliefs that stay in their family when data come in."""

from separatrix.bayes.conjugate.base import ConjugateFamily
from separatrix.bayes.conjugate.bernoulli import BetaBernoulli
from separatrix.bayes.conjugate.categorical import DirichletCategorical
from separatrix.bayes.conjugate.normal import NormalNormal
from separatrix.bayes.conjugate.normal_inverse_gamma import NormalInverseGamma
from separatrix.bayes.conjugate.poisson import GammaPoisson

__all__ = [
    "BetaBernoulli",
    "ConjugateFamily",
    "DirichletCategorical",
    "GammaPoisson",
    "NormalInverseGamma",
    "NormalNormal",
]
