# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 001: a digit system by softmax and gradient descent
#
# *Multiclass classification, Softmax Regression, Comparison to Logistic Regression.*
#
# 1. Derive $\partial g / \partial w_{yj} = \sum_i (\sigma_y(x_i) - [y_i = y]) x_{ij}$ by the chain
#    rule, and check it by differences.
# 2. Learn the digits by $w^{(t+1)} = w^{(t)} - \gamma^{(t)} \nabla g$.
# 3. Show for $K = 2$ that only $w_1 - w_0$ matters.
#
# ## Solution
#
# Of all scores $u_{iq} = x_i \cdot w_q$ only $u_{iy}$ depends on $w_{yj}$, with slope $x_{ij}$;
# $\ln \sum_q e^{u_{iq}}$ has the slope $e^{u_{iy}} / \sum_q e^{u_{iq}} = \sigma_y$ in it, and
# $-u_{i y_i}$ the slope $-[y_i = y]$.

# %%
import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
X, T = np.column_stack([X / 16, np.ones(len(X))]), np.eye(10)[y]
train, test = slice(0, 1200), slice(1200, None)


def loss(W, rows=train):
    """The average cross-entropy."""
    return -(T[rows] * log_softmax(X[rows] @ W, axis=1)).sum(axis=1).mean()


def gradient(W, rows=train):
    """X' (S - T) / n."""
    return X[rows].T @ (softmax(X[rows] @ W, axis=1) - T[rows]) / len(X[rows])


W = np.random.default_rng(0).normal(size=(65, 10))
step = np.zeros_like(W)
step[20, 3] = 1e-5
difference = (loss(W + step) - loss(W - step)) / 2e-5
assert np.isclose(difference, gradient(W)[20, 3], atol=1e-8)

# %% [markdown]
# The loss is convex, so that any step that is short enough leads down. A fixed step, and one that
# falls as $\gamma^{(t)} = \gamma_0 / \sqrt{1 + t / 50}$:

# %%
for name, rate in (("fixed", lambda t: 0.5), ("scheduled", lambda t: 2 / np.sqrt(1 + t / 50))):
    W = np.zeros((65, 10))
    for t in range(300):
        W -= rate(t) * gradient(W)
    right = ((X[test] @ W).argmax(axis=1) == y[test]).mean()
    print(f"{name}: loss {loss(W):.3f}, accuracy {right:.3f}")

# %% [markdown]
# With two classes $\sigma_1(z_0, z_1) = e^{z_1} / (e^{z_0} + e^{z_1})$, which is
# $1 / (1 + e^{z_0 - z_1})$: add any vector to both columns and nothing changes.

# %%
moved = W + np.random.default_rng(1).normal(size=(65, 1))
assert np.allclose(softmax(X @ W, axis=1), softmax(X @ moved, axis=1))

# %% [markdown]
# ## In one line

# %%
from separatrix import LogisticRegression

model = LogisticRegression(C=1.0).fit(X[train, :64], y[train])
print("separatrix", round(model.score(X[test, :64], y[test]), 3), model.solution_.stopped.value)
