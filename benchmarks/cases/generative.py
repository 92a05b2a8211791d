"""G1, G3: generative classifiers, fit and predict; they count, so that only time is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks import ours, peers
from benchmarks.spec import Bound, Case, Contender

_LDA = "sklearn.discriminant_analysis:LinearDiscriminantAnalysis"


def _fit_predict(
    name: str,
    cls: str,
    prepare: Callable[..., Any] = peers.prepare_float32,
    **params: Any,
) -> Contender:
    run = partial(peers.fit_predict, cls=cls, **params)
    mine = cls.startswith("separatrix")
    return Contender(name, prepare, run, peers.read_fit_predict, ours=mine)


G1 = Case(
    name="g1",
    title="multinomial naive Bayes, fit + predict, imdb counts",
    data="imdb_counts",
    contenders=(
        _fit_predict("separatrix", "separatrix:NaiveBayes", features="multinomial"),
        _fit_predict("sklearn MultinomialNB", "sklearn.naive_bayes:MultinomialNB"),
        _fit_predict(
            "sklearn MultinomialNB float64",
            "sklearn.naive_bayes:MultinomialNB",
            peers.prepare_float64,
        ),
    ),
    bounds=(Bound("time", must=2, goal=5),),
    note="Counts of 1-2-grams, smoothing 1; 25,000 rows to fit and as many to predict. "
    "scikit-learn counts in float64, so that it is the faster where the data is float64 already.",
)

G3 = Case(
    name="g3",
    title="Gaussian discriminant, shared covariance, fit + predict, fashion_mnist",
    data="fashion_mnist",
    contenders=(
        Contender(
            "separatrix",
            peers.prepare_float32,
            ours.fit_discriminant,
            peers.read_fit_predict,
            ours=True,
        ),
        _fit_predict("sklearn LDA lsqr", _LDA, solver="lsqr"),
        _fit_predict("sklearn LDA svd", _LDA, solver="svd"),
    ),
    bounds=(Bound("time", must=1.5, goal=3),),
    note="No shrinkage; 60,000 rows of 784 pixels to fit, 10,000 to predict.",
)

CASES = [G1, G3]
