# ---
# jupyter:
#   jupytext:
#     text_representation: {extension: .py, format_name: percent}
# ---

# %% [markdown]
# # Note 000: many classes from two, compared
#
# *Reduction to Binary Classification.* With least squares as the two-class learner (a black box):
#
# 1. Build one-vs-all, all pairs and an output code for the ten digits.
# 2. Which is best, and why is one regression on the class number hopeless?
# 3. What does the code of the note decode 011011 to, and how many errors does it correct?
#
# ## Solution

# %%
from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
X = np.column_stack([X / 16, np.ones(len(X))])
train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0


def learn(rows, targets):
    """Weights of ridge regression: the score of a two-class problem with targets -1 and +1."""
    A = X[rows]
    return np.linalg.solve(A.T @ A + 0.1 * np.eye(A.shape[1]), A.T @ targets)


def accuracy(predicted):
    """Share of the test rows that are right."""
    return (predicted == y[test]).mean().round(3)


one = np.column_stack([learn(train, 2.0 * (y[train] == k) - 1) for k in range(10)])
print("one-vs-all", accuracy((X[test] @ one).argmax(axis=1)))

votes = np.zeros((test.sum(), 10))
for i, j in combinations(range(10), 2):
    rows = train & np.isin(y, (i, j))
    wins = X[test] @ learn(rows, 2.0 * (y[rows] == i) - 1) > 0
    votes[:, i] += wins
    votes[:, j] += ~wins
print("all pairs", accuracy(votes.argmax(axis=1)))

code = np.sign(np.random.default_rng(0).normal(size=(10, 40)))
bits = X[test] @ np.column_stack([learn(train, code[y[train], b]) for b in range(40)])
print("random code of 40 bits", accuracy((np.sign(bits) @ code.T).argmax(axis=1)))

number = X[test] @ learn(train, y[train].astype(float))
print("one regression", accuracy(number.round().clip(0, 9)))

# %% [markdown]
# All pairs has the easiest problems and wins here; one-vs-all must part a digit from all others
# together. The single regression believes that 2 lies between 1 and 3.
#
# Decoding is the nearest row in Hamming distance. Rows 4 and 5 of the code differ in one bit, so
# that its minimum distance is 1 and $\lfloor (1 - 1) / 2 \rfloor = 0$ errors are corrected.

# %%
words = ["000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"]
table = np.array([[int(bit) for bit in word] for word in words])
distances = (table != [0, 1, 1, 0, 1, 1]).sum(axis=1)
print("class", distances.argmin() + 1, "at distance", distances.min())
apart = min((a != b).sum() for a, b in combinations(table, 2))
assert apart == 1

# %% [markdown]
# ## In one line each

# %%
from separatrix import AllPairs, LinearSVM, OneVsAll, OutputCode

base = LinearSVM("squared_hinge", random_state=0)
for model in (OneVsAll(base), AllPairs(base), OutputCode(base, code="bch", random_state=0)):
    name = type(model).__name__
    print(name, round(model.fit(X[train], y[train]).score(X[test], y[test]), 3))
