# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 004: multinomial regression, its champion and radial features
#
# *Training MNR models; Regularization; MNR w/ non-linear transformation of features.* Two rings
# of points, one inside the other:

# %%
import numpy as np
from scipy.special import log_softmax, softmax

generator = np.random.default_rng(0)
radius = np.repeat([1.0, 2.0], 150) + generator.normal(0, 0.35, 300)
angle = generator.uniform(0, 2 * np.pi, 300)
X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
y = np.repeat([0, 1], 150)
order = generator.permutation(300)
train, held_out, test = order[:100], order[100:200], order[200:]

# %% [markdown]
# 1. Write the gradient of $\frac1N \bigl(\mathrm{CE} + \frac\gamma2 \|W\|^2\bigr)$ with the
#    intercepts left out of the penalty, and descend with backtracking.
# 2. Show that the cross-entropy in bits bounds the 0-1 loss.
# 3. Map the rows by $\Phi_i(x) = e^{-|x - x_i|^2 / \xi}$ to the train rows, try
#    $\gamma = 10^{-4} \dots 10^3$, and pick the champion on held-out rows.
#
# ## Solution


# %%
def race(W, Z, T, gamma):
    """The regularized average cross-entropy and its gradient, (X' (S - T) + gamma W) / N."""
    penalized = np.vstack([W[:-1], np.zeros((1, W.shape[1]))])
    scores = Z @ W
    value = -(T * log_softmax(scores, axis=1)).sum() + gamma / 2 * (penalized**2).sum()
    return value / len(Z), (Z.T @ (softmax(scores, axis=1) - T) + gamma * penalized) / len(Z)


def train_mnr(Z, T, gamma, steps=300):
    """Gradient descent: halve the step until the value falls by half of what the slope says."""
    W, rate = np.zeros((Z.shape[1], T.shape[1])), 1.0
    value, slope = race(W, Z, T, gamma)
    for _ in range(steps):
        rate *= 2
        while True:
            tried, next_slope = race(W - rate * slope, Z, T, gamma)
            if tried <= value - rate / 2 * (slope**2).sum() or rate < 1e-12:
                break
            rate /= 2
        W, value, slope = W - rate * slope, tried, next_slope
    return W


def with_bias(Z):
    """A column of ones at the end."""
    return np.column_stack([Z, np.ones(len(Z))])


def radial(rows, xi=1.0):
    """One bump around every train row."""
    return np.exp(-((rows[:, None] - X[train]) ** 2).sum(axis=2) / xi)


T = np.eye(2)[y]
W = train_mnr(with_bias(X[train]), T[train], 1.0)
scores = with_bias(X[train]) @ W
bits = -(T[train] * log_softmax(scores, axis=1)).sum(axis=1) / np.log(2)
wrong = scores.argmax(axis=1) != y[train]
assert (bits >= wrong).all()
print("linear: error", wrong.mean(), "below the cross-entropy in bits", bits.mean().round(3))

# %%
results = {}
for gamma in 10.0 ** np.arange(-4, 4):
    W = train_mnr(with_bias(radial(X[train])), T[train], gamma)
    results[gamma] = ((with_bias(radial(X[held_out])) @ W).argmax(axis=1) == y[held_out]).mean()
champion = max(results, key=results.get)
W = train_mnr(with_bias(radial(X[train])), T[train], champion)
right = ((with_bias(radial(X[test])) @ W).argmax(axis=1) == y[test]).mean()
print(f"radial: champion gamma {champion:g}, held out {results[champion]}, test {right}")
assert right > 0.8

# %% [markdown]
# ## In one line
#
# `gamma` of the bumps is $1 / \xi$, and $C = 1 / \gamma$:

# %%
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, RadialBasis

model = make_pipeline(RadialBasis(gamma=1.0), LogisticRegression(C=1 / champion))
print("separatrix", model.fit(X[train], y[train]).score(X[test], y[test]))
