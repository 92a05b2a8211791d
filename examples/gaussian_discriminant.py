"""
Gaussian classes in pieces
==========================

Statistics of two halves add up to those of the whole.

With a shared covariance the model is a softmax of linear scores, and says so.
"""

import numpy as np
from sklearn.datasets import load_wine

from separatrix import GaussianDiscriminant

X, y = load_wine(return_X_y=True)
halves = [GaussianDiscriminant(shrinkage="auto").fit(X[i::2], y[i::2]) for i in (0, 1)]
merged = halves[0].merge(halves[1])
whole = GaussianDiscriminant(shrinkage="auto").fit(X, y)
print(f"merged and whole differ by {np.abs(merged.coef_ - whole.coef_).max():.1e}")

softmax = whole.to_softmax()
away = np.abs(softmax.predict_proba(X) - whole.predict_proba(X)).max()
print(f"{type(softmax).__name__} gives the same probabilities, to {away:.1e}")

own = GaussianDiscriminant(shared_covariance=False, shrinkage="auto").fit(X, y)
print(f"accuracy: shared covariance {whole.score(X, y):.3f}, own {own.score(X, y):.3f}")
