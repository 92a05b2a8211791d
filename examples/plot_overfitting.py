"""
Overfitting, and how a prior tames it
=====================================

Ten noisy points of a curve. A line is too stiff; a polynomial of degree 15 goes through every point
and means nothing in between. With a prior on its weights, its strength chosen by the evidence, the
same polynomial behaves.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BayesianLinearRegression, Polynomial

generator = np.random.default_rng(1)
x = np.sort(generator.uniform(-1, 1, 10))
grid = np.linspace(-1, 1, 300)


def truth(x):
    return np.sin(3 * x)


y = truth(x) + generator.normal(0, 0.15, len(x))

tiny, noise = 1e-9, 0.15**2
cases = [
    ("degree 1", 1, {"ridge": tiny, "noise": "known", "noise_variance": noise}),
    ("degree 3", 3, {"ridge": tiny, "noise": "known", "noise_variance": noise}),
    ("degree 15", 15, {"ridge": tiny, "noise": "known", "noise_variance": noise}),
    ("degree 15 with a prior", 15, {}),
]
figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), sharey=True, layout="constrained")
for ax, (name, degree, settings) in zip(axes.flat, cases, strict=True):
    powers = Polynomial(degree).fit(x[:, None])
    model = BayesianLinearRegression(**settings).fit(powers.transform(x[:, None]), y)
    train = np.sqrt(np.mean((model.predict(powers.transform(x[:, None])) - y) ** 2))
    curve = model.predict(powers.transform(grid[:, None]))
    new = np.sqrt(np.mean((curve - truth(grid)) ** 2))
    print(f"{name:24} error {train:.3f} on the points, {new:.3f} on the curve")
    ax.plot(grid, truth(grid), color="gray", linestyle="--", label="truth")
    ax.plot(grid, curve, color="#D55E00", label="fit")
    ax.scatter(x, y, color="black", zorder=3)
    ax.set(title=f"{name}\nerror {train:.2f} seen, {new:.2f} unseen", ylim=(-2, 2))
axes[0, 0].legend(frameon=False)
plt.show()
