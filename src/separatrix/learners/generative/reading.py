"""Reading a fitted naive Bayes model: its tables, odds ratios, the sum behind one prediction."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import ParameterError
from separatrix.explanation import Explanation
from separatrix.learners.generative.base import FloatArray
from separatrix.learners.generative.columns import (
    BERNOULLI,
    CATEGORICAL,
    GAUSSIAN,
    KINDS,
    MULTINOMIAL,
)
from separatrix.learners.generative.counts import Counts, handle
from separatrix.learners.generative.odds import OddsRatios
from separatrix.learners.generative.smoothing import as_smoothing
from separatrix.learners.generative.tables import Estimates, Likelihood
from separatrix.validation import is_sparse, validate_X

__all__ = ["Readable"]


class _Term(NamedTuple):
    """A term of the sum: P(x_j | y) per class, and what it adds."""

    name: str
    column: int
    proba: FloatArray
    addends: FloatArray


class Readable:
    """What a fitted naive Bayes model tells about itself."""

    classes_: npt.NDArray[Any]
    class_log_prior_: FloatArray
    counts_: Counts
    complement: bool
    binarize: float
    smoothing: Any
    var_smoothing: float
    n_features_in_: int

    @property
    def _likelihood(self) -> Likelihood:
        raise NotImplementedError

    @property
    def feature_log_prob_(self) -> FloatArray:
        """log P(word | y) or log P(on | y) of shape (K, d); NaN in columns of other kinds."""
        check_is_fitted(self)
        kinds, events = self.counts_.kinds, self._likelihood.estimates.events
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(events)
        logs[:, (kinds == GAUSSIAN) | (kinds == CATEGORICAL)] = np.nan
        # P(x | not y) speaks for y when it is low.
        return -logs if self.complement else logs

    @property
    def theta_(self) -> FloatArray:
        """Means of shape (K, d); NaN in columns that are not Gaussian."""
        return self._normal("mean")

    @property
    def var_(self) -> FloatArray:
        """Variances of shape (K, d), smoothed; NaN in columns that are not Gaussian."""
        return self._normal("variance")

    def _normal(self, name: str) -> FloatArray:
        check_is_fitted(self)
        found = getattr(self._likelihood.estimates, name)
        normal = self.counts_.kinds == GAUSSIAN
        if found is None:
            return np.full(self.counts_.value.shape, np.nan)
        return np.where(normal, found, np.nan)

    def conditional_table(self, column: Any) -> FloatArray:
        """P(x_j = v | y) of a Bernoulli or categorical column, of shape (K, number of values).

        Parameters
        ----------
        column : int or str
            Number or name of the column.

        Returns
        -------
        ndarray of shape (K, m)
            Rows of sum 1, one per class; for a Bernoulli column "off" and "on".
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        j = column if names is None or column not in names else list(names).index(column)
        if not isinstance(j, int | np.integer) or not 0 <= j < self.n_features_in_:
            raise ParameterError(f"there is no column {column!r}")
        kind, found = self.counts_.kinds[j], self._likelihood.estimates
        if kind == BERNOULLI and found.off is not None:
            return np.column_stack([found.off[:, j], found.events[:, j]])
        if kind == CATEGORICAL:
            offsets = self.counts_.offsets()
            return found.table[:, offsets[j] : offsets[j + 1]].copy()
        raise ParameterError(f"column {column!r} is {KINDS[kind]}: it has no table of values")

    def odds_ratios(
        self, label: Any = None, *, top: int | None = 10, feature_names: Any = None
    ) -> OddsRatios:
        """Features by P(x | label) / P(x | rest), the rest being all other classes together.

        Parameters
        ----------
        label : object, optional
            The class; the last of `classes_` by default.
        top : int or None, default=10
            How many of the highest and of the lowest ratios to keep; None keeps all.
        feature_names : sequence of str, optional
            Names of the columns; those of the training frame by default.

        Returns
        -------
        OddsRatios
            The ratios, falling; `print` shows them as in a spam filter's table. Gaussian columns
            have densities, not probabilities, and are left out.
        """
        check_is_fitted(self)
        label = self.classes_[-1] if label is None else label
        chosen = np.flatnonzero(self.classes_ == label)
        if len(chosen) != 1:
            raise ParameterError(f"there is no class {label!r}; there are {self.classes_.tolist()}")
        counts = self.counts_.columns(self.counts_.kinds != GAUSSIAN)
        if not len(counts.kinds):
            raise ParameterError("Gaussian columns have no odds ratios, and there are no others")
        own = np.arange(len(self.classes_)) == chosen[0]
        found = Estimates(counts.grouped(own), as_smoothing(self.smoothing), self.var_smoothing)
        names = self._names(feature_names)
        discrete = np.flatnonzero(self.counts_.kinds != GAUSSIAN)
        plain = counts.kinds != CATEGORICAL
        both = np.hstack([found.events[:, plain], found.table])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: FloatArray = both[1] / both[0]
        ratios[np.isnan(ratios)] = 1.0  # never seen at all: nothing is known
        order = np.argsort(-ratios, kind="stable")
        if top is not None and 2 * top < len(order):
            order = np.concatenate([order[:top], order[len(order) - top :]])
        columns = discrete[plain]
        kept = []
        pairs = _categories(counts, discrete)
        for at in order:
            if at < len(columns):
                kept.append(names(int(columns[at])))
            else:
                column, value = pairs(int(at) - len(columns))
                kept.append(f"{names(column)} = {value}")
        rest = str(self.classes_[~own][0]) if len(own) == 2 else f"not {label}"
        return OddsRatios(label, rest, tuple(kept), ratios[order])

    def explain(
        self,
        x: Any,
        *,
        classes: Any = None,
        top: int | None = None,
        feature_names: Any = None,
    ) -> Explanation:
        """The sum behind the prediction of one row, as a table of running totals.

        Parameters
        ----------
        x : array-like of shape (d,) or (1, d), or sequence of str
            A row; or, for counts of words, the words of a document in order.
        classes : sequence, optional
            Classes to show, in this order; all by default. The posterior is over these.
        top : int or None, default=None
            Show the terms that tell the first two of the classes apart most, and the sum of the
            others in one line; None shows all.
        feature_names : sequence of str, optional
            Names of the columns; those of the training frame by default.

        Returns
        -------
        Explanation
            Names, probabilities, running totals, posterior; `print` shows the table.
        """
        check_is_fitted(self)
        if self.complement:
            raise ParameterError("complement=True scores by P(x | not y): there is no such table")
        shown = self.classes_ if classes is None else np.asarray(classes)
        chosen = np.searchsorted(self.classes_, shown).clip(max=len(self.classes_) - 1)
        if len(shown) < 2 or (self.classes_[chosen] != shown).any():
            raise ParameterError(
                f"classes must name at least two of {self.classes_.tolist()}, got {shown.tolist()}"
            )
        if isinstance(x, list | tuple) and x and all(isinstance(word, str) for word in x):
            terms, unknown = self._words(x, feature_names)
        else:
            terms, unknown = self._terms_of(x, feature_names), []
        k = len(shown)
        prior = self.class_log_prior_[chosen]
        addends = np.array([prior, *(term.addends[chosen] for term in terms)]).reshape(-1, k)
        proba = np.array([np.exp(prior), *(term.proba[chosen] for term in terms)]).reshape(-1, k)
        total = addends.sum(axis=0)
        found = Explanation(
            shown,
            ("(prior)", *(term.name for term in terms)),
            addends,
            posterior=softmax(total if np.isfinite(total).any() else prior),
            probabilities=proba,
            columns=np.array([-1, *(term.column for term in terms)]),
            unknown=tuple(unknown),
        )
        return found if top is None else found.top(top)

    def _names(self, feature_names: Any) -> Any:
        """A function from column numbers to names."""
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        if names is None:
            return lambda j: f"x{j}"
        if len(names) != self.n_features_in_:
            raise ParameterError(
                f"feature_names has {len(names)} names, but there are {self.n_features_in_} columns"
            )
        return lambda j: str(names[j])

    def _words(self, words: Any, feature_names: Any) -> tuple[list[_Term], list[str]]:
        if (self.counts_.kinds != MULTINOMIAL).any():
            raise ParameterError("words can be explained where all columns are multinomial only")
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        if names is None:
            raise ParameterError("give feature_names, so that words can be found in the columns")
        numbers = {str(name): j for j, name in enumerate(names)}
        events = self._likelihood.estimates.events
        terms, unknown = [], []
        for word in words:
            if word in numbers:
                proba = events[:, numbers[word]]
                with np.errstate(divide="ignore"):
                    terms.append(_Term(word, numbers[word], proba, np.log(proba)))
            else:
                unknown.append(word)
        return terms, unknown

    def _terms_of(self, x: Any, feature_names: Any) -> list[_Term]:
        row = x if is_sparse(x) or getattr(x, "ndim", 1) == 2 else np.asarray(x)[None]
        with warnings.catch_warnings():
            # One row is often cut out of a frame, and loses its names.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            row = validate_X(self, row, reset=False)
        if row.shape[0] != 1:
            raise ParameterError(f"explain takes one row, got {row.shape[0]}")
        self._likelihood.joint(row, handle(row), 1)  # raises where a value is not allowed
        values = row.toarray()[0] if is_sparse(row) else row[0]
        names, found = self._names(feature_names), self._likelihood.estimates
        offsets = self.counts_.offsets()
        terms = []
        kinds = self.counts_.kinds
        silent = np.isnan(values) | ((kinds == MULTINOMIAL) & (values == 0))
        for j in np.flatnonzero(~silent).tolist():
            kind, value = kinds[j], values[j]
            name, times = names(j), 1.0
            if kind == MULTINOMIAL:
                proba, times = found.events[:, j], float(value)
                name += "" if times == 1 else f" x {times:.4g}"
            elif kind == BERNOULLI and found.off is not None:
                on = value > self.binarize
                proba = found.events[:, j] if on else found.off[:, j]
                name += " on" if on else " off"
            elif kind == CATEGORICAL:
                proba = found.table[:, offsets[j] + int(value)]
                name += f" = {value:g}"
            else:
                assert found.mean is not None
                assert found.variance is not None
                mean, variance = found.mean[:, j], found.variance[:, j]
                logs = -0.5 * ((value - mean) ** 2 / variance + np.log(2 * np.pi * variance))
                terms.append(_Term(f"{name} = {value:g}", j, np.exp(logs), logs))
                continue
            with np.errstate(divide="ignore"):
                terms.append(_Term(name, j, proba, times * np.log(proba)))
        return terms


def _categories(counts: Counts, columns: npt.NDArray[np.intp]) -> Any:
    """A function from places in the table to (column, category)."""
    offsets = counts.offsets()

    def pair(at: int) -> tuple[int, int]:
        j = int(np.searchsorted(offsets, at, side="right")) - 1
        return int(columns[j]), at - int(offsets[j])

    return pair
