"""Models of quantities: told from classifiers, and their predictive distributions."""

from __future__ import annotations

from typing import Any

__all__ = ["is_regression", "predictive"]


def is_regression(estimator: Any) -> bool:
    """Whether a model predicts a quantity."""
    from sklearn.base import is_regressor

    return bool(is_regressor(estimator))


def predictive(estimator: Any, X: Any) -> Any:
    """Predictive distributions (scipy, frozen) for the rows of X; None where a model has none."""
    from separatrix.explanation import see_through

    steps, learner = see_through(estimator)
    if not hasattr(learner, "predictive"):
        return None
    for step in steps:
        X = step.transform(X)
    return learner.predictive(X)
