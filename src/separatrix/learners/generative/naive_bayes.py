"""Naive Bayes: features that are independent given the label."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError, ZeroProbabilityWarning
from separatrix.learners.generative.base import (
    FloatArray,
    GenerativeClassifier,
    align_classes,
    log_prior,
    normalized,
)
from separatrix.learners.generative.columns import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    KINDS,
    MULTINOMIAL,
    Columns,
    named,
)
from separatrix.learners.generative.counts import Counts, handle
from separatrix.learners.generative.reading import Readable
from separatrix.learners.generative.smoothing import as_smoothing, settings_of
from separatrix.learners.generative.tables import Estimates, Likelihood
from separatrix.metrics import accuracy, log_loss
from separatrix.structures.labels import Design
from separatrix.validation import (
    check_choice,
    is_sparse,
    number_of_threads,
    refuse_dask,
    validate_X,
    warn_unused,
)

__all__ = ["NaiveBayes"]


@dataclass(eq=False, repr=False)
class NaiveBayes(Readable, GenerativeClassifier):
    r"""Naive Bayes for counts, switches, categories, measurements and any mixture of them.

    Models :math:`P(x, y) = P(y) \prod_j P(x_j \mid y)` and predicts the label of the highest joint
    probability, in log space. A missing value (NaN) is left out of the product, and a row that is
    impossible under every class gets the prior.

    Parameters
    ----------
    features : str, mapping or sequence of str, default="auto"
        Kind of the columns. "multinomial": counts of words, where all such columns together are
        one bag, or those with the same name behind a colon ("multinomial:title") one each, as the
        indicator columns of one category should be; "bernoulli": on or off; "categorical": whole
        numbers 0, 1, …; "gaussian": a normal variable. A mapping gives kinds to columns by name or
        number, the others are "auto". "auto" looks at the values, not at how they are stored:
        where none is negative, most are zero, the others not all one, and no column is without a
        zero, they are counts of words; else columns of nothing but zeros and ones are Bernoulli,
        and all others Gaussian. `kinds_` tells what was found.
    smoothing : LaplaceSmoothing, Interpolation, MaximumLikelihood, float or None, default=None
        How counts become probabilities; a number is Laplace's k, None is LaplaceSmoothing(1).
        Gaussian columns have `var_smoothing` instead.
    priors : {"fit", "uniform"} or array-like of shape (K,), default="fit"
        P(y): relative frequencies, equal shares, or given.
    complement : bool, default=False
        Score by -log P(x | not y), without the prior (Rennie et al. 2003): for counts of words and
        classes of unequal size.
    binarize : float, default=0.0
        Bernoulli columns are on above this.
    var_smoothing : float, default=1e-9
        Share of the largest variance of a Gaussian column that is added to all variances.
    n_categories : int, array-like of shape (d,) or None, default=None
        Least number of categories of categorical columns; None takes those that occur.
    n_jobs : int or None, default=None
        Threads; None asks SEPARATRIX_NUM_THREADS, OMP_NUM_THREADS, then the CPUs.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Labels, sorted.
    class_count_ : ndarray of shape (K,)
        Weight of the rows of every class.
    class_log_prior_ : ndarray of shape (K,)
        log P(y).
    kinds_ : ndarray of str of shape (d,)
        Kind of every column.
    counts_ : Counts
        Sufficient statistics.
    zero_probabilities_ : int
        How many estimates are exactly zero: none but under maximum likelihood (k = 0, alpha = 1).
    tuning_ : dict
        Settings and scores that `tune` saw, after it.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.learners.generative import LaplaceSmoothing, NaiveBayes
    >>> counts = np.array([[2, 1, 0], [3, 0, 0], [0, 1, 2], [0, 0, 3]])
    >>> model = NaiveBayes("multinomial", smoothing=LaplaceSmoothing(1)).fit(counts, [1, 1, 0, 0])
    >>> model.predict_proba([[1, 0, 0]]).round(3)
    array([[0.143, 0.857]])
    >>> model.predict([[np.nan, 0, 1]])
    array([0])
    """

    #: Fitted arrays that describe the model.
    __sx_state__: ClassVar[tuple[str, ...]] = (
        "classes_",
        "_columns",
        "counts_",
        "class_count_",
        "class_log_prior_",
        "_smoothed",
        "zero_probabilities_",
        "tuning_",
    )

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "alpha": "say smoothing=LaplaceSmoothing(alpha), or the number alone",
        "force_alpha": "smoothing takes any k, 0 as well",
        "min_categories": "say n_categories",
        "norm": "say complement=True; separatrix.compat.sklearn.ComplementNB has norm",
    }

    counts_: Counts = field(init=False)
    class_count_: npt.NDArray[np.float64] = field(init=False)
    zero_probabilities_: int = field(init=False)
    _columns: Columns = field(init=False)
    #: Made of the counts on first use.
    _made: Likelihood | None = field(init=False)

    features: Any = "auto"
    _: KW_ONLY
    smoothing: Any = None
    priors: Any = "fit"
    complement: bool = False
    binarize: float = 0.0
    var_smoothing: float = 1e-9
    n_categories: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @property
    def kinds_(self) -> npt.NDArray[np.str_]:
        """Kind of every column."""
        check_is_fitted(self)
        return np.array(KINDS)[self.counts_.kinds]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count, in one pass over the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Training rows; NaN is a missing value.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Weight of every row; weight 2 counts a row twice.

        Returns
        -------
        self
            The fitted estimator.
        """
        refuse_dask(self, X, y)
        return self._learn(X, y, None, sample_weight, first=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Count further rows: the result is that of one fit on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Further rows.
        y : array-like of shape (n,)
            Their labels.
        classes : array-like of shape (K,), optional
            All labels that will ever come, in the first call; those of `y` when left out. A class
            that has not come yet has prior probability zero under ``priors="fit"``.
        sample_weight : array-like of shape (n,), optional
            Weight of every row.

        Returns
        -------
        self
            The estimator, fitted further.
        """
        refuse_dask(self, X, y)
        return self._learn(X, y, classes, sample_weight, first=not hasattr(self, "classes_"))

    def merge(self, other: NaiveBayes) -> NaiveBayes:
        """Join two fitted models: exactly what one fit on the rows of both gives.

        Parameters
        ----------
        other : NaiveBayes
            A model of the same columns; its classes may differ.

        Returns
        -------
        NaiveBayes
            A new model with the parameters of this one.
        """
        check_is_fitted(self)
        check_is_fitted(other)
        if not np.array_equal(self.counts_.kinds, other.counts_.kinds):
            raise DataError("the two models take their columns for different kinds of variables")
        if not _same_bags(self.counts_.bags, other.counts_.bags):
            raise DataError("the two models put their columns into different bags of words")
        if self.binarize != other.binarize and (self.counts_.kinds == BERNOULLI).any():
            raise ParameterError(
                f"the two models binarize differently: {self.binarize} and {other.binarize}"
            )
        result = deepcopy(self)
        classes, mine, theirs = align_classes(self.classes_, other.classes_)
        result.classes_ = classes
        k = len(classes)
        counts = self.counts_.spread(mine, k).merge(other.counts_.spread(theirs, k))
        result._estimate(counts)
        return result

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first: bool) -> Self:
        check_choice("complement", self.complement, (True, False))
        if not (isinstance(self.var_smoothing, int | float) and 0 <= self.var_smoothing < np.inf):
            raise ParameterError(f"var_smoothing must not be negative, got {self.var_smoothing!r}")
        n_threads = number_of_threads(self.n_jobs)
        X = validate_X(self, X, reset=first)
        names = getattr(self, "feature_names_in_", None)
        found, codes, weights = self._labels(X, y, sample_weight, classes, first)
        if weights is not None and first and not weights.any():
            raise DataError("All sample weights are zero; at least one must be positive.")
        try:
            design = handle(X)
            if first:
                columns = Columns.of(self.features, X, design, names, n_threads)
            else:
                columns = self._columns
                columns.check(X, design, n_threads)
            if first:
                self._warn_unused(columns.kinds)
            sizes = columns.sizes(design, self.n_categories, n_threads)
            counts = Counts.of(
                X,
                codes,
                weights,
                len(found),
                columns.kinds,
                sizes,
                float(self.binarize),
                design,
                n_threads,
                columns.bags,
            )
            self.classes_, self._columns = found, columns
            self._estimate(counts if first else self.counts_.merge(counts))
        except DataError as error:
            raise named(error, names) from None
        return self

    def _warn_unused(self, kinds: npt.NDArray[Any]) -> None:
        """Name parameters of kinds of columns that there are none of."""
        if not (kinds != GAUSSIAN).any():
            warn_unused(self, "columns of counts or categories; var_smoothing serves", "smoothing")
        if not (kinds == GAUSSIAN).any():
            warn_unused(self, "Gaussian columns; smoothing serves", "var_smoothing")
        if not (kinds == BERNOULLI).any():
            warn_unused(self, "Bernoulli columns", "binarize")
        if not (kinds == CATEGORICAL).any():
            warn_unused(self, "categorical columns", "n_categories")

    def _estimate(self, counts: Counts) -> None:
        """Turn counts into probabilities, under the parameters as they are now."""
        self.counts_ = counts
        self.class_count_ = counts.classes
        if self.complement and (counts.kinds != MULTINOMIAL).any():
            raise ParameterError("complement=True is for multinomial features only")
        smoothing = as_smoothing(self.smoothing)
        if self.complement and smoothing.leaves_zeros:
            raise ParameterError(
                "complement=True divides by probabilities, which must not be zero: use "
                "LaplaceSmoothing(k) with k > 0, or Interpolation(alpha) with alpha < 1"
            )
        self.class_log_prior_ = log_prior(self.priors, counts.classes)
        self._smoothed = (self.smoothing, self.var_smoothing)
        self._made = None
        estimates = self._likelihood.estimates
        self.zero_probabilities_ = estimates.zeros() if smoothing.leaves_zeros else 0
        if self.zero_probabilities_:
            warnings.warn(
                f"{self.zero_probabilities_} estimated probabilities are zero: one value that its "
                "class was never seen with rules the class out. Smooth with LaplaceSmoothing(k) or "
                "Interpolation(alpha).",
                ZeroProbabilityWarning,
                stacklevel=4,
            )

    @property
    def _likelihood(self) -> Likelihood:
        made: Likelihood | None = getattr(self, "_made", None)
        if made is None:
            counts = self.counts_
            if self.complement:
                counts = replace(counts, value=counts.value.sum(axis=0) - counts.value)
            smoothing, var_smoothing = self._smoothed
            estimates = Estimates(counts, as_smoothing(smoothing), var_smoothing)
            made = self._made = Likelihood(
                estimates, self.class_log_prior_, float(self.binarize), self.complement
            )
        return made

    def tune(
        self,
        X: Any,
        y: Any,
        grid: Sequence[Any] | None = None,
        *,
        scoring: str = "accuracy",
    ) -> Self:
        """Choose k or alpha on held-out rows, from the counts at hand: nothing is counted again.

        Sets `smoothing` to the best setting, and estimates with it. Ties in accuracy go to the
        lower log loss, then to the setting that stands first.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n, d)
            Held-out rows.
        y : array-like of shape (n,)
            Their labels.
        grid : sequence, optional
            Smoothings, or values of k (of alpha where `smoothing` is an `Interpolation`).
        scoring : {"accuracy", "log_loss"}, default="accuracy"
            What decides.

        Returns
        -------
        self
            The estimator with the chosen smoothing; `tuning_` tells all scores.
        """
        check_is_fitted(self)
        check_choice("scoring", scoring, ("accuracy", "log_loss"))
        settings = settings_of(as_smoothing(self.smoothing), grid)
        X = validate_X(self, X, reset=False)
        y = np.asarray(y)
        scores, losses = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ZeroProbabilityWarning)
            for setting in settings:
                self.smoothing = setting
                self._estimate(self.counts_)
                logs = self._log_posterior(X)
                scores.append(accuracy(y, self.classes_[logs.argmax(axis=1)]))
                losses.append(log_loss(y, np.exp(logs), labels=self.classes_))
        by_loss = scoring == "log_loss"
        order = losses if by_loss else [(-s, loss) for s, loss in zip(scores, losses, strict=True)]
        best = min(range(len(settings)), key=order.__getitem__)
        self.smoothing = settings[best]
        self._estimate(self.counts_)
        self.tuning_ = {"smoothing": settings, "accuracy": scores, "log_loss": losses}
        return self

    def _rows(self, X: Any) -> tuple[Any, Design, int]:
        check_is_fitted(self)
        if self._smoothed != (self.smoothing, self.var_smoothing):
            self._estimate(self.counts_)  # set_params after the fit
        X = validate_X(self, X, reset=False)
        work = X.nnz if is_sparse(X) else X.size
        n_threads = number_of_threads(self.n_jobs) if work > 1 << 18 else 1
        return X, handle(X), n_threads

    def _joint(self, X: Any) -> FloatArray:
        return self._joint_of(self._rows(X))

    def _joint_of(self, rows: tuple[Any, Design, int]) -> FloatArray:
        """Joint log-likelihoods of rows that are checked."""
        try:
            return self._likelihood.joint(*rows)
        except DataError as error:
            raise named(error, getattr(self, "feature_names_in_", None)) from None

    def _log_odds(self, rows: tuple[Any, Design, int]) -> FloatArray | None:
        try:
            return self._likelihood.log_odds(*rows)
        except DataError:
            # A value is missing, or wrong; the sum of all terms tells which.
            return None

    def _log_posterior(self, X: Any) -> FloatArray:
        rows = self._rows(X)
        odds = self._log_odds(rows)
        if odds is not None:
            return np.column_stack([log_expit(-odds), log_expit(odds)])
        return self._normalized(self._joint_of(rows))

    def _normalized(self, joint: FloatArray) -> FloatArray:
        """log P(y | x); rows that are impossible under every class get the prior."""
        ruled_out = np.isneginf(joint).all(axis=1)
        if ruled_out.any():
            warnings.warn(
                f"{int(ruled_out.sum())} rows (the first is row {int(np.argmax(ruled_out))}) have "
                "probability zero under every class; they get the prior. Smooth with "
                "LaplaceSmoothing(k) or Interpolation(alpha).",
                ZeroProbabilityWarning,
                stacklevel=4,
            )
            joint[ruled_out] = self.class_log_prior_
        return normalized(joint)

    def _winners(self, X: Any) -> npt.NDArray[np.intp]:
        rows = self._rows(X)
        odds = self._log_odds(rows)
        if odds is not None:
            return (odds > 0).astype(np.intp)
        winners: npt.NDArray[np.intp] = self._normalized(self._joint_of(rows)).argmax(axis=1)
        return winners


def _same_bags(first: Any, second: Any) -> bool:
    """Whether columns are parted into bags in the same way, whatever the bags are called."""
    if first is None or second is None:
        return first is second
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first.tolist())) == len(set(second.tolist()))
