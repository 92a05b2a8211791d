"""
Which separator is best?
========================

Two separable classes. The perceptron stops at the first line that separates, MIRA mends each
mistake by a margin of one, the support vector machine finds the widest street: its line is as far
from the nearest points as can be, and only those points (circled) hold it. As C falls the street
widens and points may stand in it.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import MIRA, LinearSVM, Perceptron

generator = np.random.default_rng(7)
X = np.vstack(
    [generator.normal((-1.1, -0.9), 0.6, (40, 2)), generator.normal((1.3, 0.9), 0.6, (40, 2))]
)
X += (2.5, 0.0)  # so that the origin is of no help
y = np.repeat([0, 1], 40)

models = {
    "perceptron": Perceptron("none", random_state=0),
    "MIRA": MIRA(C=10, averaging="none", random_state=0),
    "SVM, hard margin": LinearSVM(C=1e4),
    "SVM, C = 0.03": LinearSVM(C=0.03),
}
figure, axes = plt.subplots(2, 2, figsize=(9, 7), sharex=True, sharey=True, layout="constrained")
x = np.array([-2.0, 6.5])
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    model.fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    distance = np.min(np.where(y == 1, 1, -1) * (X @ w + b)) / np.linalg.norm(w)
    print(f"{name:17} nearest point at distance {distance:.3f}")
    ax.scatter(*X[y == 0].T, marker="o", color="#0072B2", s=18)
    ax.scatter(*X[y == 1].T, marker="^", color="#D55E00", s=18)
    ax.plot(x, -(w[0] * x + b) / w[1], color="black")
    if "SVM" in name:
        for side in (-1, 1):
            ax.plot(x, (side - w[0] * x - b) / w[1], color="black", linestyle="--", linewidth=0.8)
        ax.scatter(*X[model.support_].T, s=90, facecolors="none", edgecolors="black")
    ax.set(title=f"{name}\nnearest point at {distance:.2f}", xlim=(-0.6, 5.6), ylim=(-3.2, 3.2))
plt.show()
