"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.baselines import MajorityClass, PriorSampling
    from separatrix.calibration import Calibrated
    from separatrix.generative import (
        GaussianDiscriminant,
        Interpolation,
        Laplace,
        MaximumLikelihood,
        NaiveBayes,
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
    "Calibrated",
    "GaussianDiscriminant",
    "Interpolation",
    "Laplace",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "MaximumLikelihood",
    "NaiveBayes",
    "Perceptron",
    "PriorSampling",
    "RegularizationPath",
    "regularization_path",
]

_HOMES = {
    "MIRA": "linear.mira",
    "Calibrated": "calibration",
    "GaussianDiscriminant": "generative.discriminant",
    "Interpolation": "generative.smoothing",
    "Laplace": "generative.smoothing",
    "LinearClassifier": "linear.classifier",
    "LinearSVM": "linear.svm",
    "LogisticRegression": "linear.logistic",
    "MajorityClass": "baselines",
    "MaximumLikelihood": "generative.smoothing",
    "NaiveBayes": "generative.naive_bayes",
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
