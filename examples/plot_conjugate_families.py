"""
Five conjugate families
=======================

The belief before the data, after a few, and after many.

Every update returns a new value: update as data come in, or update parts on several machines from
the same prior and merge.
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix.bayes import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseGamma,
    NormalNormal,
)

generator = np.random.default_rng(1)
cases = {
    "Beta-Bernoulli: probability 0.7": (BetaBernoulli(2, 2), generator.random(200) < 0.7, 0.7),
    "Dirichlet-categorical: first of 0.5, 0.3, 0.2": (
        DirichletCategorical([1, 1, 1]),
        generator.choice(3, 200, p=[0.5, 0.3, 0.2]),
        0.5,
    ),
    "Gamma-Poisson: intensity 4": (GammaPoisson(2, 1), generator.poisson(4, 200), 4.0),
    "Normal-Normal: mean 1": (NormalNormal(0, 4, 4), generator.normal(1, 2, 200), 1.0),
    "Normal-inverse-gamma: mean 1": (NormalInverseGamma(), generator.normal(1, 2, 200), 1.0),
    "Normal-inverse-gamma: variance 4": (NormalInverseGamma(), generator.normal(1, 2, 200), 4.0),
}
figure, panels = plt.subplots(2, 3, figsize=(10, 5.8), layout="constrained")
for ax, (title, (prior, data, truth)) in zip(panels.flat, cases.items(), strict=True):
    which = 1 if "variance" in title else 0
    for n, color in zip((0, 5, 200), ("0.6", "#56B4E9", "#0072B2"), strict=True):
        posterior = prior.update(data[:n])
        marginal = posterior.marginals[which]
        grid = np.linspace(*marginal.ppf([0.02, 0.92] if n < 10 else [1e-3, 1 - 1e-3]), 400)
        ax.plot(grid, marginal.pdf(grid), color=color, label=f"after {n}")
        if n == 200:
            low, high = np.reshape(posterior.credible_interval(0.95, "highest"), (-1, 2))[which]
            inside = (grid >= low) & (grid <= high)
            ax.fill_between(grid[inside], marginal.pdf(grid[inside]), color=color, alpha=0.25)
            print(f"{title}: 95 % highest-density interval {low:.3f} to {high:.3f}")
    ax.axvline(truth, color="#D55E00", linestyle=":", label="truth")
    ax.set(title=title, yticks=[])
    ax.legend(frameon=False)

# Two halves from the same prior, merged, are one update with everything.
prior, data, _ = cases["Gamma-Poisson: intensity 4"]
merged = prior.update(data[:120]).merge(prior.update(data[120:]))
print(f"merged {merged}, at once {prior.update(data)}")
print(f"P(next count >= 8) = {merged.predictive().sf(7):.3f}")
plt.show()
