# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 002: the perceptron, and learning as loss minimization
#
# *The Perceptron algorithm; Stochastic gradient descent; The loss function zoo.*
#
# 1. Write the perceptron with rate $r$, and its averaged variant.
# 2. Write stochastic gradient descent for any loss of the zoo with an L2 penalty. With which loss
#    is it the perceptron?
# 3. Which of the losses bound the 0-1 loss from above?
#
# ## Solution

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

X, y = load_breast_cancer(return_X_y=True)
X, y = np.column_stack([scale(X), np.ones(len(X))]), 2.0 * y - 1
train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1


def accuracy(w):
    """Share of the test rows on the right side; a score of 0 counts as +1, as in the note."""
    return (np.where(X[test] @ w >= 0, 1, -1) == y[test]).mean().round(3)


def perceptron(passes=10, rate=1.0):
    """The last weights and their average."""
    generator, w, total = np.random.default_rng(0), np.zeros(31), np.zeros(31)
    for _ in range(passes):
        for i in generator.permutation(np.flatnonzero(train)):
            if y[i] * (w @ X[i]) <= 0:
                w = w + rate * y[i] * X[i]
            total += w
    return w, total / (passes * train.sum())


for name, w in zip(("last", "averaged"), perceptron(), strict=True):
    print(name, accuracy(w))

# %% [markdown]
# The slope of a loss in the margin $m = y\, w \cdot x$, and a step against it with the example's
# share of the penalty, $w / (n C)$. With the loss $\max(0, -m)$, no penalty and rate 1 it
# is the perceptron (but for the slope at $m = 0$, where any number from -1 to 0 is one). Steps are
# short, as one mistake under the exponential loss would throw the weights far away.

# %%
ZOO = {
    "perceptron": (lambda m: np.maximum(0, -m), lambda m: -1.0 * (m <= 0)),
    "hinge": (lambda m: np.maximum(0, 1 - m), lambda m: -1.0 * (m < 1)),
    "exponential": (lambda m: np.exp(-m), lambda m: -np.exp(-m)),
    "logistic": (lambda m: np.log1p(np.exp(-m)), lambda m: -1 / (1 + np.exp(m))),
}


def descend(slope, C=1.0, passes=20):
    """Weights after stochastic gradient descent with falling steps."""
    generator, w, n, t = np.random.default_rng(0), np.zeros(31), train.sum(), 0
    for _ in range(passes):
        for i in generator.permutation(np.flatnonzero(train)):
            t += 1
            downhill = slope(y[i] * (w @ X[i])) * y[i] * X[i]
            w = w - 0.01 / np.sqrt(1 + t / n) * (w / (n * C) + downhill)
    return w


margins = np.linspace(-3, 3, 601)
for name, (value, slope) in ZOO.items():
    bounds = (value(margins) >= (margins <= 0)).all()
    in_bits = (value(margins) / np.log(2) >= (margins <= 0)).all()
    reached = accuracy(descend(slope))
    print(f"{name:11} accuracy {reached}, bounds 0-1: {bounds}, in bits: {in_bits}")

# %% [markdown]
# ## In one line each

# %%
from separatrix import LinearClassifier, Perceptron

model = Perceptron(random_state=0, max_iter=10).fit(X[train, :30], y[train])
print("Perceptron", round(model.score(X[test, :30], y[test]), 3))
for loss in ("hinge", "exponential", "logistic"):
    model = LinearClassifier(loss, C=1.0, random_state=0).fit(X[train, :30], y[train])
    print(loss, round(model.score(X[test, :30], y[test]), 3), model.solution_.stopped.value)
