"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.baselines import MajorityClass, PriorSampling
    from separatrix.bayes import BayesianLinearRegression, LaplaceLogisticRegression
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
    "BayesianLinearRegression",
    "LaplaceLogisticRegression",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "Perceptron",
    "PriorSampling",
    "RegularizationPath",
    "regularization_path",
]

_HOMES = {
    "MIRA": "linear.mira",
    "BayesianLinearRegression": "bayes.regression",
    "LaplaceLogisticRegression": "bayes.laplace",
    "LinearClassifier": "linear.classifier",
    "LinearSVM": "linear.svm",
    "LogisticRegression": "linear.logistic",
    "MajorityClass": "baselines",
    "Perceptron": "linear.perceptron",
    "PriorSampling": "baselines",
    "RegularizationPath": "linear.path",
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
