"""
Maximum likelihood against MAP
==============================

With few observations the prior holds the MAP estimate back while maximum likelihood jumps about; as
data grow both come to the truth, and so to each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BayesianLinearRegression
from separatrix.plots import EstimateGrowthDisplay

generator = np.random.default_rng(4)
truth = np.array([1.0, -0.5])
X = generator.standard_normal((300, 2))
X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]  # features that are alike are hard to tell apart
y = X @ truth + generator.standard_normal(300)

model = BayesianLinearRegression(
    prior_covariance=0.5, noise="known", noise_variance=1.0, fit_intercept=False
)
display = EstimateGrowthDisplay.from_estimator(model, X, y, true_weights=truth)
display.ax_.set_title("The prior matters while data are few")
gap = np.abs(display.likelihood - display.posterior).max(axis=1)
print(f"distance of the two: {gap[0]:.2f} at {display.sizes[0]} rows, {gap[-1]:.3f} at 300")
plt.show()
