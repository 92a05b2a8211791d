"""
The steps of the perceptron
===========================

The perceptron at work: the separating line after each mistake, on 2-D data.

Two iris species that a line can separate. Rows come one at a time in random order; each mistake
adds the row to the weights (or takes it away), and a pass without a mistake ends the run.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from separatrix import Perceptron

X, y = load_iris(return_X_y=True)
X, y = X[:100, :2], y[:100]  # sepal length and width of setosa and versicolor
X = X - X.mean(axis=0)

model = Perceptron(averaging="none")
generator = np.random.default_rng(4)
steps = []  # (weights, intercept, the row that was wrong)
weights = np.zeros(3)
n_passes = 0
while n_passes < 100:
    n_passes += 1
    n_before = len(steps)
    for row in generator.permutation(len(y)):
        model.partial_fit(X[[row]], y[[row]], classes=[0, 1])
        new = np.append(model.coef_[0], model.intercept_)
        if not np.array_equal(new, weights):
            steps.append((model.coef_[0].copy(), model.intercept_[0], row))
            weights = new
    if len(steps) == n_before:
        break
print(f"{len(steps)} mistakes in {n_passes} passes, accuracy {model.score(X, y):.2f}")

figure, ax = plt.subplots(layout="constrained")
ax.scatter(*X[y == 0].T, marker="o", color="#0072B2", label="setosa")
ax.scatter(*X[y == 1].T, marker="^", color="#D55E00", label="versicolor")
x = np.linspace(X[:, 0].min(), X[:, 0].max(), 2)
for number, (w, b, _) in enumerate(steps, start=1):
    last = number == len(steps)
    ax.plot(
        x,
        -(w[0] * x + b) / w[1],
        color="black" if last else "gray",
        alpha=1.0 if last else 0.2 + 0.6 * number / len(steps),
        linewidth=2.2 if last else 1.0,
        label={1: "after the first mistakes", len(steps): "after the last"}.get(number),
    )
wrong = [row for _, _, row in steps]
ax.scatter(*X[wrong].T, s=110, facecolors="none", edgecolors="black", label="mistakes")
ax.set(
    ylim=(X[:, 1].min() - 0.3, X[:, 1].max() + 0.3),
    xlabel="sepal length, centered",
    ylabel="sepal width, centered",
    title=f"Perceptron: {len(steps)} mistakes in {n_passes} passes",
)
ax.legend(frameon=False)
plt.show()
