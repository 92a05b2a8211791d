"""What perceptron and MIRA share: fit, partial_fit, and the vote of all weight vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix._core import vote_shares
from separatrix.errors import DataError, ParameterError
from separatrix.learners.linear.base import BaseLinearClassifier, TrainingData, checked_design
from separatrix.progress import fitting
from separatrix.protocols import Array
from separatrix.results import Monitor, StopReason
from separatrix.solvers.online.flat import OnlineLearner, OnlineResult, UpdateLog
from separatrix.structures.labels import in_place
from separatrix.validation import (
    check_choice,
    check_positive,
    is_sparse,
    name_column,
    named_classes,
    number_of_threads,
    refuse_dask,
    seed_from,
    validate_X,
)

__all__ = ["OnlineClassifier", "Vote"]

#: Entries of a block of products with the rows of a vote.
_GRAM_ENTRIES = 1 << 22


@dataclass(frozen=True)
class Vote:
    """Every weight vector of a run, kept as its updates.

    Attributes
    ----------
    start : ndarray of shape (d, K)
        Starting weights.
    rows : ndarray or sparse matrix of shape (m, d)
        The rows that were mistaken, once each; `log.row` numbers them.
    log : UpdateLog
        The updates in order.
    """

    start: Array
    rows: Any
    log: UpdateLog

    def extended(self, X: Any, log: UpdateLog) -> Vote:
        """Follow this vote by the updates of a run over the rows X."""
        used, numbers = np.unique(log.row, return_inverse=True)
        if is_sparse(X):
            rows: Any = sp.csr_array(sp.vstack([self.rows, X[used]]))
        else:
            rows = np.vstack([self.rows, X[used]])
        survived = self.log.survived.copy()
        start_survived = self.log.start_survived
        # Rows that the new run saw before its first mistake were survived by the last vector.
        if len(survived):
            survived[-1] += log.start_survived
        else:
            start_survived += log.start_survived
        joined = UpdateLog(
            np.concatenate([self.log.row, numbers + self.rows.shape[0]]),
            np.concatenate([self.log.raised, log.raised]),
            np.concatenate([self.log.lowered, log.lowered]),
            np.concatenate([self.log.size, log.size]),
            np.concatenate([survived, log.survived]),
            start_survived,
        )
        return Vote(self.start, rows, joined)

    @classmethod
    def of(cls, start: Array, X: Any, log: UpdateLog) -> Vote:
        """The vote of a run over the rows X."""
        nothing = UpdateLog(
            log.row[:0], log.raised[:0], log.lowered[:0], log.size[:0], log.survived[:0], 0
        )
        return cls(start, X[:0], nothing).extended(X, log)

    def shares(self, X: Any, n_classes: int, intercept: bool, n_threads: int) -> Array:
        """Share of the votes of every class, of shape (n, n_classes)."""
        weights = self.start[:-1] if intercept else self.start
        bias = self.start[-1] if intercept else 0.0
        block = max(1, _GRAM_ENTRIES // max(1, self.rows.shape[0]))
        parts = []
        for first in range(0, X.shape[0], block):
            rows = X[first : first + block]
            gram = rows @ self.rows.T
            gram = gram.toarray() if is_sparse(gram) else np.asarray(gram)
            gram = np.ascontiguousarray(gram, dtype=np.float64) + float(intercept)
            start = np.ascontiguousarray(rows @ weights + bias, dtype=np.float64)
            parts.append(vote_shares(start, gram, *self.log, n_classes, n_threads))
        return np.vstack(parts)


@dataclass(eq=False, repr=False, kw_only=True)
class OnlineClassifier(BaseLinearClassifier):
    """Base of the online learners; subclasses name the rule and its step."""

    __sx_state__: ClassVar[tuple[str, ...]] = (
        "mistakes_",
        "margin_",
        "radius_",
        "mistake_bound_",
        "vote_",
        "_weights",
        "_average",
        "_seen",
    )

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "alpha": "there is no penalty; say separatrix.LinearSVM(C=1 / (alpha * number of rows))",
        "average": "say averaging='average' or averaging='none'",
        "early_stopping": "passes end at the first without a mistake, or at max_iter, which "
        "`separatrix compare` tunes on held-out rows",
        "n_iter_no_change": "passes end at the first without a mistake, or at max_iter",
        "penalty": "there is no penalty; say separatrix.LinearSVM",
        "tol": "passes end at the first without a mistake, or at max_iter",
    }

    mistakes_: npt.NDArray[np.int64] = field(init=False)
    margin_: float | None = field(init=False)
    radius_: float | None = field(init=False)
    mistake_bound_: float | None = field(init=False)
    vote_: Vote = field(init=False)
    averaging: str = "average"
    shuffle: bool = True
    max_iter: int = 20

    def _rule(self) -> tuple[str, float]:
        """Name and step of the rule."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn from passes over the rows, until one makes no mistake or `max_iter` are done.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Factor of the row's rate or cap; a row of weight 0 is passed over.
        coef_init : array-like of shape (1, d) or (K, d), optional
            Starting weights.
        intercept_init : array-like of shape (1,) or (K,), optional
            Starting intercepts.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        check_positive(max_iter=self.max_iter)
        data = self._take(X, y, sample_weight)
        from_zero = coef_init is None and intercept_init is None
        if from_zero and self._begins_at_last_fit(data.classes, data.design.shape[1]):
            start, from_zero = self._weights.astype(data.dtype), False
        else:
            start = self._start(data, coef_init, intercept_init)
        self._learn(X, data, start, self.max_iter, from_zero=from_zero)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning from one pass over further rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Further rows.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,), optional
            All labels that will ever come, in the first call; those of `y` when left out.
        sample_weight : array-like of shape (n,), optional
            Factor of the row's rate or cap.

        Returns
        -------
        self
            The estimator, fitted further.
        """
        refuse_dask(self, X, y)
        if isinstance(self.class_weight, str):
            raise ParameterError(
                f"class_weight={self.class_weight!r} needs all rows at once; give partial_fit a "
                "dict of weights, or sample_weight"
            )
        first = not hasattr(self, "classes_")
        if classes is not None:
            classes = named_classes(classes, None if first else self.classes_)
        elif not first:
            classes = self.classes_
        data = self._take(X, y, sample_weight, classes=classes, reset=first)
        start = self._start(data, None, None) if first else self._weights.astype(data.dtype)
        self._learn(X, data, start, 1, go_on=not first, from_zero=first)
        return self

    def _make_design(self, X: Any, n_threads: int, two_classes: bool) -> Any:
        """A handle on X; sparse rows are read where they lie, and checked on the way."""
        if not is_sparse(X):
            return super()._make_design(X, n_threads, two_classes)
        return in_place(X)

    def _start(self, data: TrainingData, coef: Any, intercept: Any) -> Array:
        """Starting weights of shape (d, K), or (d + 1, K) with intercepts."""
        k = 1 if len(data.classes) == 2 else len(data.classes)
        d = data.design.shape[1]
        start = np.zeros((d + self.fit_intercept, k), dtype=data.dtype)
        if coef is None and intercept is None:
            return start
        if coef is not None:
            coef = np.asarray(coef, dtype=data.dtype)
            if coef.shape != (k, d) and not (k == 1 and coef.shape == (d,)):
                raise DataError(f"coef_init must have shape {(k, d)}, got {coef.shape}")
            start[:d] = coef.reshape(k, d).T
        if intercept is not None:
            if not self.fit_intercept:
                raise ParameterError("intercept_init was given, but fit_intercept is False")
            intercept = np.asarray(intercept, dtype=data.dtype)
            if intercept.size != k:
                raise DataError(f"intercept_init must have {k} entries, got {intercept.size}")
            start[d] = intercept.ravel()
        if not np.isfinite(start).all():
            raise DataError("coef_init and intercept_init must be finite")
        return start

    def _learn(
        self,
        X: Any,
        data: TrainingData,
        start: Array,
        max_passes: int,
        *,
        go_on: bool = False,
        from_zero: bool = False,
    ) -> None:
        check_choice("averaging", self.averaging, ("none", "average", "vote"))
        check_choice("on_interrupt", self.on_interrupt, ("raise", "keep"))
        rule, step = self._rule()
        seed = seed_from(self.random_state) if self.shuffle else None
        learner = OnlineLearner(rule, step, self.averaging, seed)
        average = None
        if go_on and self._average is not None:
            average = self._average.astype(data.dtype, copy=False)
        with fitting(type(self).__name__, self.verbose, 1e-3) as watch:
            monitor = Monitor(tol=0.0, max_passes=max_passes, report=watch.on_pass)
            try:
                result = learner.run(
                    data.design,
                    data.codes,
                    data.weights,
                    len(data.classes),
                    start=start.shape if from_zero else start,
                    monitor=monitor,
                    average=average,
                    seen=self._seen if average is not None else 0,
                    n_threads=data.n_threads,
                )
            except DataError as error:
                raise name_column(error, self) from None
        # Averages are sums first, and overflow before the weights themselves do.
        if not all(np.isfinite(w).all() for w in (result.weights, result.solution.w)):
            raise FloatingPointError(
                f"{type(self).__name__} ended with weights that are not finite; scale the features"
            )
        self._keep(X, data, start, result, go_on)
        if result.solution.stopped is StopReason.INTERRUPTED and self.on_interrupt == "raise":
            raise KeyboardInterrupt

    def _keep(
        self, X: Any, data: TrainingData, start: Array, result: OnlineResult, go_on: bool
    ) -> None:
        self._store(result.solution, data)
        self._weights, self._seen = result.weights, result.seen
        self._average = result.solution.w if self.averaging == "average" else None
        earlier = getattr(self, "mistakes_", None) if go_on else None
        self.mistakes_ = (
            result.mistakes if earlier is None else np.concatenate([earlier, result.mistakes])
        )
        # Rows of one partial_fit say nothing about those of another.
        separation = None if go_on else result.separation
        self.margin_ = separation.margin if separation else None
        self.radius_ = separation.radius if separation else None
        self.mistake_bound_ = separation.mistake_bound if separation else None
        earlier_vote = getattr(self, "vote_", None) if go_on else None
        if result.log is None:
            self.__dict__.pop("vote_", None)
            return
        rows = validate_X(self, X, reset=False)
        if earlier_vote is None:
            self.vote_ = Vote.of(start, rows, result.log)
        else:
            self.vote_ = earlier_vote.extended(rows, result.log)

    def _scores(self, X: Any) -> Array:
        """Scores of shape (n, K), (n, 1) for two classes; shares of the votes where they vote."""
        vote: Vote | None = getattr(self, "vote_", None)
        if vote is None:
            return super()._scores(X)
        X = validate_X(self, X, reset=False)
        checked_design(self, X, 1)
        n_threads = number_of_threads(self.n_jobs)
        shares = vote.shares(X, len(self.classes_), self.fit_intercept, n_threads)
        shares = shares.astype(X.dtype, copy=False)
        return shares[:, 1:] - shares[:, :1] if len(self.classes_) == 2 else shares
