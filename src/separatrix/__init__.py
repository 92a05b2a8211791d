"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.baselines import MajorityClass, PriorSampling
    from separatrix.bayes import (
        BayesDecision,
        BetaBernoulli,
        CostMatrix,
        DirichletCategorical,
        GammaPoisson,
        NormalInverseGamma,
        NormalNormal,
        bayes_action,
        posterior_risk,
    )
    from separatrix.linear import (
        MIRA,
        LinearClassifier,
        LinearSVM,
        LogisticRegression,
        Perceptron,
        RegularizationPath,
        regularization_path,
    )

__all__ = [
    "MIRA",
    "BayesDecision",
    "BetaBernoulli",
    "CostMatrix",
    "DirichletCategorical",
    "GammaPoisson",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "NormalInverseGamma",
    "NormalNormal",
    "Perceptron",
    "PriorSampling",
    "RegularizationPath",
    "bayes_action",
    "posterior_risk",
    "regularization_path",
]

_HOMES = {
    "MIRA": "linear.mira",
    "BayesDecision": "bayes",
    "BetaBernoulli": "bayes",
    "CostMatrix": "bayes",
    "DirichletCategorical": "bayes",
    "GammaPoisson": "bayes",
    "LinearClassifier": "linear.classifier",
    "LinearSVM": "linear.svm",
    "LogisticRegression": "linear.logistic",
    "MajorityClass": "baselines",
    "NormalInverseGamma": "bayes",
    "NormalNormal": "bayes",
    "Perceptron": "linear.perceptron",
    "PriorSampling": "baselines",
    "RegularizationPath": "linear.path",
    "bayes_action": "bayes",
    "posterior_risk": "bayes",
    "regularization_path": "linear.path",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("separatrix")
    if name in _HOMES:
        return getattr(importlib.import_module(f"separatrix.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'separatrix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
