# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 000: the posterior of a line
#
# *Gaussian Regression Example.* The world makes $y = w_0 + w_1 x + \varepsilon$ with noise
# $N(0, 0.2^2)$, and before any data we believe $w \sim N(0, \frac12 I)$.
#
# 1. Compute mean and covariance of the posterior after 1, 2 and 20 observations.
# 2. Show that the mean is ridge regression.
# 3. Predict at a new point, and say which part of the variance is left with ever more data.
#
# ## Solution
#
# $\Sigma_P = (\sigma^{-2} X^\top X + \Sigma_0^{-1})^{-1}$ and
# $\mu_P = \sigma^{-2} \Sigma_P X^\top y$, which is the formula of the note with $\sigma^2$ moved.

# %%
import numpy as np

generator = np.random.default_rng(0)
x = generator.uniform(-1, 1, 20)
y = -0.3 + 0.5 * x + generator.normal(0, 0.2, 20)
X = np.column_stack([np.ones(20), x])
noise, prior = 0.2**2, 0.5 * np.eye(2)


def posterior(X, y):
    """Mean and covariance of the weights."""
    covariance = np.linalg.inv(X.T @ X / noise + np.linalg.inv(prior))
    return covariance @ X.T @ y / noise, covariance


for n in (1, 2, 20):
    mean, covariance = posterior(X[:n], y[:n])
    print(n, "observations:", mean.round(2), "+-", np.sqrt(np.diag(covariance)).round(2))

# %% [markdown]
# Ridge regression minimizes $\sum_i (y_i - w \cdot x_i)^2 + \lambda |w|^2$; with
# $\Sigma_0 = (\sigma^2 / \lambda) I$ its solution is the mean. Here $\lambda = 0.04 / 0.5$.

# %%
ridge = np.linalg.solve(X.T @ X + noise / 0.5 * np.eye(2), X.T @ y)
assert np.allclose(ridge, mean)

# %% [markdown]
# The predictive variance is $x^\top \Sigma_P x + \sigma^2$: the first part goes to zero with the
# number of observations, the noise stays.

# %%
new = np.array([1.0, 0.8])
print("from the weights", (new @ covariance @ new).round(4), "from the noise", round(noise, 4))

# %% [markdown]
# ## In one line

# %%
from separatrix import BayesianLinearRegression

model = BayesianLinearRegression(
    prior_covariance=0.5, noise="known", noise_variance=noise, fit_intercept=False
).fit(X, y)
assert np.allclose(model.coef_, mean)
assert np.allclose(model.posterior().cov, covariance)
assert np.isclose(model.predict(new[None], return_std=True)[1] ** 2, new @ covariance @ new + noise)
