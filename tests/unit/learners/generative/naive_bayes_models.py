"""Models and counts for the tests of naive Bayes."""

from __future__ import annotations

import numpy as np

from separatrix.learners.generative import Interpolation, NaiveBayes

KINDS = ["multinomial", "bernoulli", "gaussian", "categorical"]
MIXED = {0: "gaussian", 1: "gaussian", 2: "categorical", 3: "bernoulli", 4: "multinomial"}


def counts(n=200, d=6, k=3, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(k, size=n)
    rates = random.gamma(1.0, size=(k, d))
    return random.poisson(rates[y]).astype(float).clip(max=5), y


def with_gaps(X, share=0.15, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


def models():
    yield from (NaiveBayes(kind, n_categories=6) for kind in KINDS)
    yield NaiveBayes(MIXED | {5: "multinomial"}, n_categories=6)
    yield NaiveBayes("multinomial", smoothing=Interpolation(0.6))


MODELS = list(models())
IDS = [*KINDS, "mixed", "interpolation"]


def logs(model, X):
    return model.predict_log_proba(X)
