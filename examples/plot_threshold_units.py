"""
What a line can separate
========================

AND, OR and majority are linear threshold functions; XOR is not. A change of representation makes it
one: with the conjunction of both inputs as a third feature a plane separates it, and an interval on
a line is separated once every point x is drawn at (x, x^2).
"""

import matplotlib.pyplot as plt
import numpy as np

from separatrix import Conjunctions, LinearSVM, Perceptron, Polynomial

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
functions = {"AND": X.all(axis=1), "OR": X.any(axis=1), "XOR": X[:, 0] != X[:, 1]}

figure, panels = plt.subplots(2, 3, figsize=(9, 5.8), layout="constrained")
axes = panels.ravel()
for ax, (name, y) in zip(axes, functions.items(), strict=False):
    model = Perceptron("none", max_iter=50, random_state=0).fit(X, y)
    right = model.score(X, y)
    print(f"{name}: {right:.0%} right after {model.n_iter_} passes")
    ax.scatter(*X[y].T, s=90, marker="^", color="#D55E00")
    ax.scatter(*X[~y].T, s=90, marker="o", color="#0072B2")
    if right == 1:
        x = np.array([-0.5, 1.5])
        w, b = model.coef_[0], model.intercept_[0]
        ax.plot(x, -(w[0] * x + b) / w[1], color="black")
    ax.set(title=f"{name}, x0 and x1", xlim=(-0.5, 1.5), ylim=(-0.5, 1.5))

# The conjunction x0 & x1 is a third feature: XOR is x0 + x1 - 2 (x0 & x1).
y = functions["XOR"]
Z = Conjunctions().fit_transform(X).toarray()
model = LinearSVM(C=100).fit(Z, y)
print(f"XOR with conjunctions: {model.score(Z, y):.0%} right, weights {model.coef_[0].round(1)}")
scores = model.decision_function(Z)
ax = axes[3]
ax.scatter(np.flatnonzero(y), scores[y], s=90, marker="^", color="#D55E00")
ax.scatter(np.flatnonzero(~y), scores[~y], s=90, marker="o", color="#0072B2")
ax.axhline(0, color="black")
ax.set_xticks(range(4), [f"{a}{b}" for a, b in X])
ax.set(title="XOR, with x0 & x1", ylabel="score")

# An interval of a line: not separable by a point, separable by a line over (x, x^2).
x = np.linspace(-2, 2, 17)
inside = np.abs(x) < 1.1
squares = Polynomial(2).fit_transform(x[:, None])
model = LinearSVM(C=100).fit(squares, inside)
print(f"interval with squares: {model.score(squares, inside):.0%} right")
ax = axes[4]
ax.scatter(*squares[inside].T, marker="^", color="#D55E00")
ax.scatter(*squares[~inside].T, marker="o", color="#0072B2")
w, b = model.coef_[0], model.intercept_[0]
ax.plot(x, -(w[0] * x + b) / w[1], color="black")
ax.set(title="an interval, at (x, x²)", xlabel="x", ylabel="x²")

# What makes a label of a score: a step, or a sigmoid; the bias moves the threshold.
s = np.linspace(-6, 6, 601)
ax = axes[5]
ax.plot(s, s >= 0, color="black", label="step")
for bias, style in ((0, "-"), (2, "--")):
    p = 1 / (1 + np.exp(-(s + bias)))
    ax.plot(s, p, color="#0072B2", linestyle=style, label=f"sigmoid, bias {bias}")
ax.set(title="activation", xlabel="w · x")
ax.legend(frameon=False, fontsize="small", loc="lower right")
plt.show()
