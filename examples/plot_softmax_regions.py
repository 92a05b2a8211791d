"""
Regions of softmax regression
=============================

The scenarios of the notes on multinomial regression. Above, three classes: without a bias all
boundaries pass through the origin, with one they need not. Below, a ring around a disk: no line
separates them; on radial features of the training rows the same learner does, and more or less
smoothly, as gamma says.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, RadialBasis
from separatrix.plots import DecisionRegionDisplay

generator = np.random.default_rng(2)
centers = np.array([[1.0, 3.5], [3.0, 1.0], [4.0, 4.5]])
y3 = np.repeat([0, 1, 2], 50)
X3 = centers[y3] + generator.normal(0, 0.55, (150, 2))
X2, y2 = make_circles(200, factor=0.45, noise=0.1, random_state=0)

cases = [
    ("without a bias", LogisticRegression(C=10, fit_intercept=False), X3, y3),
    ("with a bias", LogisticRegression(C=10), X3, y3),
    ("without a bias, data centered", LogisticRegression(C=10, fit_intercept=False), X3 - 2.8, y3),
    ("linear", LogisticRegression(C=10), X2, y2),
    (
        "radial, gamma = 50",
        make_pipeline(RadialBasis(gamma=50.0), LogisticRegression(C=10)),
        X2,
        y2,
    ),
    ("radial, gamma = 2", make_pipeline(RadialBasis(gamma=2.0), LogisticRegression(C=10)), X2, y2),
]
figure, axes = plt.subplots(2, 3, figsize=(10, 7), layout="constrained")
for ax, (title, model, X, y) in zip(axes.flat, cases, strict=True):
    model.fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X, y, eps=0.6, ax=ax)
    ax.axhline(0, color="gray", linewidth=0.6)
    ax.axvline(0, color="gray", linewidth=0.6)
    if ax.get_legend():
        ax.get_legend().remove()
    ax.set(title=f"{title}\n{model.score(X, y):.0%} right", xlabel="", ylabel="")
    print(f"{title}: {model.score(X, y):.1%} right")
plt.show()
