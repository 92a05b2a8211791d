"""
Logistic regression that knows what it does not know
====================================================

The plain model grows surer the farther a point lies from the boundary, whether there are data or
not; averaged over the posterior of the weights, probabilities far from the data stay moderate.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import LaplaceLogisticRegression, LogisticRegression

generator = np.random.default_rng(1)
x = np.sort(generator.uniform(-2, 2, 30))
y = (generator.random(30) < 1 / (1 + np.exp(-2 * x))).astype(int)
X = x[:, None]

model = LaplaceLogisticRegression(C="evidence").fit(X, y)
plain = LogisticRegression(C=model.C_).fit(X, y)
grid = np.linspace(-8, 8, 200)[:, None]
low, high = model.probability_interval(grid)[:, 1].T

figure, ax = plt.subplots(layout="constrained")
ax.fill_between(grid[:, 0], low, high, color="#0072B2", alpha=0.2, linewidth=0, label="95 %")
ax.plot(grid, model.predict_proba(grid)[:, 1], color="#0072B2", label="averaged over the posterior")
ax.plot(grid, plain.predict_proba(grid)[:, 1], "--", color="#D55E00", label="at the optimum")
ax.plot(x, y, "|", color="0.2", label="data")
ax.set(xlabel="x", ylabel="P(y = 1 | x)", title=f"C = {model.C_:.2g}, chosen by evidence")
ax.legend(frameon=False)
print(model.odds_ratios())
plt.show()
