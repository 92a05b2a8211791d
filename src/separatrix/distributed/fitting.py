"""The one entrance: which way an estimator is fitted on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from separatrix.bayes import BayesianLinearRegression
from separatrix.bayes.conjugate import ConjugateFamily
from separatrix.distributed.chains import fit_crf, fit_structured_perceptron
from separatrix.distributed.columns import fit_reduction
from separatrix.distributed.flat import fit_flat
from separatrix.distributed.mixing import fit_online
from separatrix.distributed.partitions import Partitions, partitions_of
from separatrix.distributed.prediction import transform
from separatrix.distributed.run import Run
from separatrix.distributed.session import Session, active_client
from separatrix.distributed.statistics import (
    fit_family,
    fit_gaussian,
    fit_naive_bayes,
    fit_regression,
    fit_text,
)
from separatrix.distributed.tables import fit_table
from separatrix.features import TableEncoder, TextVectorizer
from separatrix.learners.generative import GaussianDiscriminant, NaiveBayes
from separatrix.learners.linear.minimizer import MinimizingClassifier
from separatrix.learners.linear.online import OnlineClassifier
from separatrix.learners.reductions.base import Reduction
from separatrix.learners.structured import CRF, StructuredPerceptron
from separatrix.progress import fitting

__all__ = ["fit"]


def _by_counting(count: Callable[[Session, Any, Partitions], None]) -> Any:
    """A way of fitting that needs the session alone."""
    return lambda run, estimator, parts: count(run.session, estimator, parts)


#: How estimators are fitted, by their classes; the first that fits.
_WAYS: tuple[tuple[Any, Callable[[Run, Any, Partitions], None]], ...] = (
    (MinimizingClassifier, fit_flat),
    (OnlineClassifier, fit_online),
    (Reduction, fit_reduction),
    (CRF, fit_crf),
    (StructuredPerceptron, fit_structured_perceptron),
    (NaiveBayes, _by_counting(fit_naive_bayes)),
    (GaussianDiscriminant, _by_counting(fit_gaussian)),
    (BayesianLinearRegression, _by_counting(fit_regression)),
    (TextVectorizer, _by_counting(fit_text)),
    (TableEncoder, _by_counting(fit_table)),
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
    """Fit an estimator to a Dask collection, partition by partition.

    Every partition is checked and decoded once and stays where it is. A pass sends the weights to
    all workers, and adds what the partitions answer in an order that depends on their number
    alone. The optimum is that of the estimator's own `fit` on all rows; learners that count give
    the same statistics in one pass.

    Parameters
    ----------
    estimator : estimator, Pipeline or conjugate family
        LogisticRegression, LinearSVM, LinearClassifier, reductions around these, Perceptron, MIRA,
        CRF, StructuredPerceptron, NaiveBayes, GaussianDiscriminant, BayesianLinearRegression,
        TextVectorizer, TableEncoder, scikit-learn pipelines of these, and the families of
        `separatrix.bayes.conjugate`. ``solver`` is "auto", "newton", "lbfgs", "owlqn" or
        "gradient_descent"; the hinge is minimized by the method of multipliers. Perceptron and
        MIRA mix the weights of the partitions after every pass, which is another learner than
        the one without partitions.
    X : dask Array, DataFrame, Series or Bag
        Rows with dense or sparse blocks; tables; texts; sequences of tokens, or with ``y=None``
        pairs (tokens, labels) of sequences.
    y : dask collection or array-like, optional
        Labels, in the partitions of X.
    sample_weight : dask collection or array-like, optional
        Weight of every row or sequence.
    client : distributed.Client, optional
        The cluster; by default the active client, else a local cluster that ends with the call.
    checkpoint : str or path, optional
        Folder or fsspec URL to which iterative learners write their state, and from which a fit of
        the same problem goes on.
    checkpoint_every : int, default=10
        Passes from one checkpoint to the next.

    Returns
    -------
    estimator
        The estimator, fitted; of a conjugate family the posterior, which is a new value.

    Raises
    ------
    DataError
        Where a partition is not valid; the message names the partition and the row in it.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, distributed
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = distributed.fit(LogisticRegression(C=10.0), X, y, client=client)
    ...     labels = distributed.predict(model, X)
    ...     round(float((labels == y).mean().compute()), 2)
    0.98
    """
    if isinstance(estimator, Pipeline):
        return _fit_pipeline(
            estimator,
            X,
            y,
            sample_weight,
            client=client,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
    parts = partitions_of(X, y, sample_weight)
    name = type(estimator).__name__
    verbose = int(getattr(estimator, "verbose", 0))
    tol = float(getattr(estimator, "tol", 1e-3))
    with (
        active_client(client) as found,
        fitting(name, verbose, tol) as watch,
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


def _fit_pipeline(pipeline: Pipeline, X: Any, y: Any, sample_weight: Any, **settings: Any) -> Any:
    """Fit the steps one after the other; rows are transformed where they lie."""
    *steps, (_, last) = pipeline.steps
    with active_client(settings.pop("client")) as client:
        for _, step in steps:
            if step is None or step == "passthrough":
                continue
            fit(step, X, y, client=client)
            X = transform(step, X)
        if last is not None and last != "passthrough":
            fit(last, X, y, sample_weight, client=client, **settings)
    return pipeline


def _way_of(estimator: Any) -> Callable[[Run, Any, Partitions], None]:
    for kind, way in _WAYS:
        if isinstance(estimator, kind):
            return way
    known = ", ".join(kind.__name__ for kind, _ in _WAYS)
    what = type(estimator).__name__ if isinstance(estimator, BaseEstimator) else repr(estimator)
    raise TypeError(f"{what} cannot be fitted on Dask; there are ways for {known}")
