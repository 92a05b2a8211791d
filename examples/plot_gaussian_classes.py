"""
Gaussian classes against softmax
================================

A shared covariance (LDA) makes the posterior a softmax of linear scores, so that its boundaries are
lines, as those of softmax regression, but found through the densities of the classes. Own
covariances (GDA, QDA) bend them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from separatrix import GaussianDiscriminant, LogisticRegression
from separatrix.plots import DecisionRegionDisplay

X, y = load_iris(return_X_y=True)
X = X[:, 1:3]  # sepal width and petal length
models = {
    "shared covariance (LDA)": GaussianDiscriminant(),
    "own covariances (GDA)": GaussianDiscriminant(shared_covariance=False),
    "softmax regression": LogisticRegression(C=10),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    DecisionRegionDisplay.from_estimator(model, X, y, eps=0.5, ax=ax)
    ax.set(title=f"{name}: {model.score(X, y):.1%} right", xlabel="sepal width", ylabel="")
    print(f"{name}: {model.score(X, y):.1%} right")
axes[0].set_ylabel("petal length")
plt.show()
