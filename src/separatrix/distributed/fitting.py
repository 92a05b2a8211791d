"""The one entrance: which way an estimator is fitted on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from separatrix.bayes import BayesianLinearRegression
from separatrix.bayes.conjugate import ConjugateFamily
from separatrix.distributed.chains import fit_crf, fit_structured_perceptron
from separatrix.distributed.flat import fit_flat
from separatrix.distributed.mixing import fit_online
from separatrix.distributed.partitions import Partitions, partitions_of
from separatrix.distributed.progress import watching
from separatrix.distributed.run import Run
from separatrix.distributed.session import Session, active_client
from separatrix.distributed.statistics import (
    fit_family,
    fit_gaussian,
    fit_naive_bayes,
    fit_regression,
    fit_text,
)
from separatrix.features import TextVectorizer
from separatrix.generative import GaussianDiscriminant, NaiveBayes
from separatrix.linear.minimizer import MinimizingClassifier
from separatrix.linear.online import OnlineClassifier
from separatrix.structured import CRF, StructuredPerceptron

__all__ = ["fit"]


def _by_counting(count: Callable[[Session, Any, Partitions], None]) -> Any:
    """A way of fitting that needs the session alone."""
    return lambda run, estimator, parts: count(run.session, estimator, parts)


#: How estimators are fitted, by their classes; the first that fits.
_WAYS: tuple[tuple[Any, Callable[[Run, Any, Partitions], None]], ...] = (
    (MinimizingClassifier, fit_flat),
    (OnlineClassifier, fit_online),
    (CRF, fit_crf),
    (StructuredPerceptron, fit_structured_perceptron),
    (NaiveBayes, _by_counting(fit_naive_bayes)),
    (GaussianDiscriminant, _by_counting(fit_gaussian)),
    (BayesianLinearRegression, _by_counting(fit_regression)),
    (TextVectorizer, _by_counting(fit_text)),
)


def fit(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    checkpoint: Any = None,
    checkpoint_every: int = 10,
) -> Any:
    """Fit an estimator to a Dask collection, partition by partition."""
    parts = partitions_of(X, y, sample_weight)
    name = type(estimator).__name__
    verbose = int(getattr(estimator, "verbose", 0))
    tol = float(getattr(estimator, "tol", 1e-3))
    with (
        active_client(client) as found,
        watching(name, verbose, tol) as watch,
        Session(found, watch.on_partition) as session,
    ):
        if isinstance(estimator, ConjugateFamily):
            return fit_family(session, estimator, parts)
        run = Run(
            session,
            estimator,
            on_pass=watch.on_pass,
            checkpoint=checkpoint,
            every=checkpoint_every,
        )
        _way_of(estimator)(run, estimator, parts)
    return estimator


def _way_of(estimator: Any) -> Callable[[Run, Any, Partitions], None]:
    for kind, way in _WAYS:
        if isinstance(estimator, kind):
            return way
    known = ", ".join(kind.__name__ for kind, _ in _WAYS)
    what = type(estimator).__name__ if isinstance(estimator, BaseEstimator) else repr(estimator)
    raise TypeError(f"{what} cannot be fitted on Dask; there are ways for {known}")
