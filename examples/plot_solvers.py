"""
Ten ways down to the same optimum
=================================

Gradient descent with backtracking, L-BFGS, Newton, dual coordinate descent and the stochastic
family on one objective: L2-regularized logistic regression. Deterministic solvers reach it to many
digits, stochastic ones come close early and very close only slowly. Passes over the data are the
common clock.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from separatrix import LinearClassifier
from separatrix.errors import ConvergenceWarning

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
solvers = ["gradient_descent", "lbfgs", "newton", "dual", "proximal"]
stochastic = ["sgd", "adagrad", "adadelta", "rmsprop", "adam"]

solutions = {}
for name in solvers + stochastic:
    budget = 60 if name in stochastic else 400
    model = LinearClassifier(
        "logistic", solver=name, C=0.1, tol=1e-12, max_iter=budget, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the budget is small on purpose
        solutions[name] = model.fit(X, y).solution_

best = min(solution.objective for solution in solutions.values())
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for name, solution in solutions.items():
    trace = solution.trace
    if name in stochastic:
        right.loglog(trace.n_passes, np.maximum(trace.objective - best, 1e-10), label=name)
    else:
        left.loglog(trace.n_passes, np.maximum(trace.gap, 1e-12), label=name)
    print(f"{name:17} {solution.objective - best:.1e} above after {solution.n_passes:.0f} passes")
left.set(
    xlabel="passes over the data",
    ylabel="gap that the solver certifies",
    title="deterministic",
)
right.set(
    xlabel="passes over the data",
    ylabel="objective above the optimum",
    title="stochastic",
)
left.legend(frameon=False)
right.legend(frameon=False)
plt.show()
