"""
The posterior of a line
=======================

Bayesian regression of a line: the prior, then the posterior after 1, 2 and 20 observations.

The world makes y = -0.3 + 0.5 x with noise of standard deviation 0.2; the prior of both weights is
N(0, 1/2). On the left where the weights lie (the white cross is the truth), on the right lines
drawn from there.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BayesianLinearRegression
from separatrix.plots import LinePosteriorDisplay

generator = np.random.default_rng(3)
truth = (-0.3, 0.5)
X = generator.uniform(-1, 1, (20, 1))
y = truth[0] + truth[1] * X[:, 0] + 0.2 * generator.standard_normal(20)

figure, axes = plt.subplots(4, 2, figsize=(7, 12), layout="constrained")
model = BayesianLinearRegression(
    prior_covariance=0.5, intercept_prior=(0.0, 0.5), noise="known", noise_variance=0.2**2
)
seen = 0
for n, pair in zip((0, 1, 2, 20), axes, strict=True):
    if n:
        model.partial_fit(X[seen:n], y[seen:n])
    seen = n
    LinePosteriorDisplay.from_estimator(
        model,
        X[:n],
        y[:n],
        true_weights=truth,
        random_state=1,
        limits=(-1.5, 1.5),
        axes=tuple(pair),
    )
    plural = "" if n == 1 else "s"
    pair[0].set_title(f"after {n} observation{plural}" if n else "prior")
    pair[1].set_ylim(-2, 2)
print(f"After 20 observations: {model.intercept_:.2f} + {model.coef_[0]:.2f} x")
plt.show()
