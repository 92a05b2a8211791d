"""
A loss of your own
==================

A Huberized hinge, smooth at the corner, in a dozen lines.

A loss sees scores and targets, never X or w; any solver that needs no more than its gradient can
minimize it.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from separatrix import LinearClassifier
from separatrix.losses import MarginLoss


@dataclass(frozen=True)
class HuberHinge(MarginLoss):
    """0 for m >= 1, (1 - m)^2 / 2 for 0 < m < 1, 1/2 - m for m <= 0."""

    name = "huber_hinge"
    smooth = True
    bounds_zero_one = False

    def value(self, margin):
        """phi(m)."""
        short = np.clip(1 - margin, 0, None)
        return np.where(short < 1, short**2 / 2, short - 0.5)

    def derivative(self, margin):
        """phi'(m)."""
        return -np.clip(1 - margin, 0, 1)


X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

for loss in (HuberHinge(), "squared_hinge", "exponential", "logistic"):
    model = LinearClassifier(loss=loss, solver="lbfgs", C=0.1).fit(X_train, y_train)
    name = getattr(loss, "name", loss)
    print(
        f"{name:14} objective {model.solution_.objective:8.3f}, "
        f"{model.solution_.n_passes:3.0f} passes, test accuracy {model.score(X_test, y_test):.3f}"
    )
