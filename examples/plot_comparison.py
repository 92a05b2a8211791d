"""
Two models on one test set
==========================

The accuracy of each model is a Beta belief; the difference of both, on the same rows, is known
better than the overlap of the two suggests, since only rows where exactly one is right count.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from separatrix import (
    BetaBernoulli,
    DirichletCategorical,
    LogisticRegression,
    NaiveBayes,
    Perceptron,
)
from separatrix.bayes import compare_predictions

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
models = {
    "softmax": LogisticRegression(),
    "perceptron": Perceptron(max_iter=2, random_state=0),
    "naive Bayes": NaiveBayes(),
}
right = {name: m.fit(X_train, y_train).predict(X_test) == y_test for name, m in models.items()}

figure, (left, other) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
grid = np.linspace(0.75, 1, 500)
for name, correct in right.items():
    belief = BetaBernoulli(1, 1).update(correct)
    left.plot(grid, belief.distribution.pdf(grid), label=f"{name}: {correct.mean():.3f}")
left.set(xlabel="accuracy", ylabel="density", title="How sure is each accuracy?")
left.legend(frameon=False)

for name in ("perceptron", "naive Bayes"):
    a, b = right["softmax"], right[name]
    outcomes = DirichletCategorical([1, 1, 1]).update(np.where(a & ~b, 0, np.where(b & ~a, 1, 2)))
    draws = outcomes.sample(20_000, random_state=0)
    other.hist(
        draws[:, 0] - draws[:, 1], bins=80, density=True, alpha=0.6, label=f"softmax - {name}"
    )
    found = compare_predictions(np.ones_like(a), a, b)
    print(f"softmax against {name}:\n{found}")
other.axvline(0, color="black", linewidth=0.8)
other.set(xlabel="difference of accuracies", title="And their difference, on the same rows?")
other.legend(frameon=False)
plt.show()
