"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.baselines import MajorityClass, PriorSampling
    from separatrix.features import (
        Conjunctions,
        Hasher,
        JointMap,
        MessageText,
        PixelGrid,
        Polynomial,
        RadialBasis,
        SpamFeatures,
        TableEncoder,
        TextVectorizer,
        message_text,
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
    "Conjunctions",
    "Hasher",
    "JointMap",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "MessageText",
    "Perceptron",
    "PixelGrid",
    "Polynomial",
    "PriorSampling",
    "RadialBasis",
    "RegularizationPath",
    "SpamFeatures",
    "TableEncoder",
    "TextVectorizer",
    "message_text",
    "regularization_path",
]

_HOMES = {
    "MIRA": "linear.mira",
    "Conjunctions": "features.conjunctions",
    "Hasher": "features.hasher",
    "JointMap": "features.joint",
    "LinearClassifier": "linear.classifier",
    "LinearSVM": "linear.svm",
    "LogisticRegression": "linear.logistic",
    "MajorityClass": "baselines",
    "MessageText": "features.spam",
    "Perceptron": "linear.perceptron",
    "PixelGrid": "features.pixels",
    "Polynomial": "features.polynomial",
    "PriorSampling": "baselines",
    "RadialBasis": "features.radial",
    "RegularizationPath": "linear.path",
    "SpamFeatures": "features.spam",
    "TableEncoder": "features.tables",
    "TextVectorizer": "features.text",
    "message_text": "features.messages",
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
