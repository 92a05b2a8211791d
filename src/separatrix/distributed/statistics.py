"""Learners of one pass: every partition is counted by itself, and the counts are merged."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from separatrix.bayes.conjugate import ConjugateFamily
from separatrix.distributed.flat import check_two_classes, survey_rows
from separatrix.distributed.partitions import Partitions
from separatrix.distributed.rows import Rows, in_partition, sparse_rows
from separatrix.distributed.session import Session
from separatrix.errors import DataError, ZeroProbabilityWarning
from separatrix.features import TextVectorizer
from separatrix.learners.generative import GaussianDiscriminant, NaiveBayes
from separatrix.learners.generative.columns import GAUSSIAN, KINDS, Columns
from separatrix.learners.generative.counts import handle

__all__ = ["fit_family", "fit_gaussian", "fit_naive_bayes", "fit_regression", "fit_text"]


# -- learners of rows --------------------------------------------------------------------------


def fit_naive_bayes(session: Session, estimator: NaiveBayes, data: Partitions) -> None:
    """Agree on the kinds of the columns, then count."""
    rows, found = survey_rows(session, estimator, data, finite=False)
    check_two_classes(found)
    parts = [(rows[number],) for number in found.full]
    columns = reduce(_joined_kinds, session.each(_kinds, parts, estimator))
    named = clone(estimator).set_params(features=[KINDS[kind] for kind in columns.kinds])
    merged = session.reduce(_counted, _merged, parts, named, found.classes.tolist(), found.dtype)
    _adopt(estimator, merged)
    found.describe(estimator)
    estimator._columns = columns
    estimator._estimate(merged.counts_)  # says here what the workers were silent about


def fit_gaussian(session: Session, estimator: GaussianDiscriminant, data: Partitions) -> None:
    """Means and scatters of all partitions; one inversion here."""
    estimator._check_parameters()
    rows, found = survey_rows(session, estimator, data)
    check_two_classes(found)
    parts = [(rows[number],) for number in found.full]
    labels = found.classes.tolist()
    merged = session.reduce(_counted, _merged, parts, clone(estimator), labels, found.dtype)
    _adopt(estimator, merged)
    found.describe(estimator)
    estimator._solution()


def fit_regression(session: Session, estimator: Any, data: Partitions) -> None:
    """Moments of all partitions; the posterior here."""
    estimator._check_parameters()
    rows, found = survey_rows(session, estimator, data, classify=False)
    parts = [(rows[number],) for number in found.full]
    merged = session.reduce(_counted, _merged, parts, clone(estimator), None, found.dtype)
    estimator.moments_ = merged.moments_
    found.describe(estimator)
    estimator._update()


def _kinds(rows: Rows, estimator: NaiveBayes) -> Columns:
    with in_partition(rows.number):
        return Columns.of(estimator.features, rows.X, handle(rows.X), rows.names, 1)


def _joined_kinds(first: Columns, second: Columns) -> Columns:
    """What one look at both would have found: Gaussian where the two do not agree."""
    kinds = np.where(first.kinds == second.kinds, first.kinds, GAUSSIAN).astype(np.uint8)
    return Columns(kinds, first.guessed & second.guessed, first.bags)


def _counted(rows: Rows, estimator: Any, labels: list[Any] | None, dtype: Any) -> Any:
    """A partition's own model; None where its rows weigh nothing."""
    if rows.weights is not None and not rows.weights.any():
        return None
    model = clone(estimator).set_params(n_jobs=1)
    arguments = {} if labels is None else {"classes": np.array(labels, dtype=_kind_of(rows.y))}
    with in_partition(rows.number), warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroProbabilityWarning)
        X = rows.X.astype(dtype, copy=False)
        model.partial_fit(X, rows.y, sample_weight=rows.weights, **arguments)
    return model


def _kind_of(y: npt.NDArray[Any] | None) -> Any:
    """object for labels of objects, so that no string is cut; else what numpy finds."""
    return object if y is not None and y.dtype == object else None


def _merged(*models: Any) -> Any:
    some = [model for model in models if model is not None]
    if not some:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZeroProbabilityWarning)
        return reduce(lambda first, second: first.merge(second), some)


def _adopt(estimator: Any, fitted: Any) -> None:
    """Take over what another estimator has learned, but not its parameters."""
    if fitted is None:
        raise DataError("All sample weights are zero; at least one must be positive.")
    parameters = estimator.get_params(deep=False)
    for name, value in vars(fitted).items():
        if name not in parameters:
            setattr(estimator, name, value)


# -- text --------------------------------------------------------------------------------------


def fit_text(session: Session, estimator: TextVectorizer, data: Partitions) -> None:
    """Terms of all partitions with their document frequencies; the vocabulary is chosen here."""
    labels = None
    if estimator.nb_log_ratio:
        found = session.each(_text_labels, data.numbered())
        labels = np.unique(np.concatenate(found))
    merged = session.reduce(_terms, _merged, data.numbered(), clone(estimator), labels)
    if merged._model.n_documents == 0:
        raise DataError("empty vocabulary; there are no documents")
    merged._model.settle(None, keep=False, n_jobs=estimator.n_jobs)
    estimator._model, estimator._from_fit = merged._model, True


def _text_labels(number: int, X: Any, y: Any, weights: Any) -> npt.NDArray[Any]:
    with in_partition(number):
        if y is None:
            raise DataError("nb_log_ratio=True requires y to be passed, but the target y is None.")
        return np.unique(np.asarray(y))


def _terms(
    number: int, X: Any, y: Any, weights: Any, estimator: TextVectorizer, labels: Any
) -> TextVectorizer:
    with in_partition(number):
        model: TextVectorizer = clone(estimator).set_params(n_jobs=1)
        arguments = {} if labels is None else {"y": np.asarray(y), "classes": labels}
        model.partial_fit(texts_of(X), **arguments)
        return model


def texts_of(X: Any) -> Any:
    """The documents of a partition: a list, a column, or a frame of one column."""
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        return list(X.iloc[:, 0] if hasattr(X, "iloc") else X[:, 0])
    return X if isinstance(X, list) else list(X)


# -- beliefs -----------------------------------------------------------------------------------


def fit_family(session: Session, family: ConjugateFamily, data: Partitions) -> Any:
    """The posterior of a conjugate family: a new value, as `update` gives it."""
    posterior = session.reduce(_updated, _merged, data.numbered(), family.origin)
    return posterior.merge(family) if family != family.origin else posterior


def _updated(number: int, X: Any, y: Any, weights: Any, prior: Any) -> Any:
    with in_partition(number):
        values = np.asarray(sparse_rows(X)).ravel()
        own = None if weights is None else np.asarray(weights, dtype=np.float64)
        return prior.update(values, own)
