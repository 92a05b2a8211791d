"""Small data sets on which the laws are tried, and an independent objective."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


def wine():
    X, y = load_wine(return_X_y=True)
    return scale(X), y


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


SETS = {"breast_cancer": breast_cancer, "iris": iris, "wine": wine, "digits": digits}


@pytest.fixture(params=list(SETS))
def dataset(request):
    return SETS[request.param]()


def binary(y):
    """Two classes out of many: the first against the rest."""
    return (y != np.unique(y)[0]).astype(int)


def objective(model, X, y, C=1.0, *, loss=None, weights=None, cost=None):
    """P(w) of a fitted model, computed without the library; L2 on coef_ only."""
    W, b = model.coef_.astype(float), model.intercept_.astype(float)
    s = X @ W.T + b
    codes = np.searchsorted(model.classes_, y)
    if W.shape[0] == 1:
        m = np.where(codes == 1, 1, -1) * s[:, 0]
        losses = {
            "logistic": np.logaddexp(0, -m),
            "hinge": np.maximum(0, 1 - m),
            "squared_hinge": np.maximum(0, 1 - m) ** 2,
            "squared": (1 - m) ** 2,
            "exponential": np.exp(-m),
            "perceptron": np.maximum(0, -m),
        }[loss]
    else:
        own = s[np.arange(len(s)), codes]
        if loss == "logistic":
            losses = logsumexp(s, axis=1) - own
        else:
            if cost is None:
                cost = 1 - np.eye(W.shape[0])
            losses = (s + cost[codes]).max(axis=1) - own
    weights = np.ones(len(s)) if weights is None else weights
    penalized = np.hstack([W, b[:, None]]) if getattr(model, "penalize_intercept", False) else W
    return 0.5 * (penalized**2).sum() + C * (weights * losses).sum()
