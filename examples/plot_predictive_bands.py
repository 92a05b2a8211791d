"""
Predictions with error bands
============================

The noise and the strength of the prior chosen by evidence.

Where there are no data the band of the function widens; the noise is the same everywhere, so the
predictive variance is the sum of both parts.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import BayesianLinearRegression
from separatrix.plots import PredictiveBandDisplay


def bumps(x):
    """Radial features around eleven centers."""
    return np.exp(-((x - np.linspace(0, 1, 11)) ** 2) / 0.02)


generator = np.random.default_rng(0)
x = np.sort(np.concatenate([generator.uniform(0, 0.35, 18), generator.uniform(0.7, 1, 14)]))
y = np.sin(2 * np.pi * x) + 0.2 * generator.standard_normal(len(x))

model = BayesianLinearRegression().fit(bumps(x[:, None]), y)
display = PredictiveBandDisplay.from_estimator(
    model, x[:, None], y, transform=bumps, x_limits=(0, 1)
)
display.ax_.plot(display.x, np.sin(2 * np.pi * display.x), "k--", linewidth=1, label="truth")
display.ax_.legend(frameon=False)
display.ax_.set_title("Evidence chose the noise and the prior")
print(f"noise {model.noise_variance_**0.5:.2f} (true 0.2), ridge {model.ridge_:.3g}")
plt.show()
