"""A way to score a model on rows, with the noise of a difference of two scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Metric", "Outcome", "ratio_of_means"]

Floats = npt.NDArray[np.float64]

#: Groups of rows that are left out in turn, for the error of a score not made of values of rows.
_GROUPS = 50


class Outcome(NamedTuple):
    """A score, and what it was made of: values of the rows or, without them, predictions."""

    score: float
    values: Floats | None
    predictions: Any


def _same(means: Any) -> Any:
    return means


def ratio_of_means(means: Any) -> Any:
    """The first of two means by the second; zero where both are."""
    means = np.asarray(means)
    part, whole = means[..., 0], means[..., 1]
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


@dataclass(frozen=True)
class Metric:
    """A way to score a fitted model on rows.

    Attributes
    ----------
    name : str
        On the command line and in tables.
    title : str
        In words.
    higher_is_better : bool
        Its direction.
    each : callable or None
        (model, X, y) -> the value of every row, where predictions alone do not tell it; shape (n,)
        or (n, m).
    judge : callable or None
        (predictions, y) -> the value of every row.
    whole : callable or None
        (predictions, y) -> the score, where it is not made of values of rows.
    output : callable or None
        (model, X) -> what `whole` takes for predictions, where it is not what the model predicts
        but a score of the rows, say.
    thresholded : bool
        Whether another threshold between two classes may do better.
    finish : callable
        Means over the rows -> the score: the mean itself, its root, or a ratio of two means.
    percent : bool
        Whether it is a share, shown in percent by reports.
    unit : str
        Unit of the number, if it has one.
    digits : int, optional
        Digits after the point, as reports show it; 2 of percents, else 4.
    """

    name: str
    title: str
    higher_is_better: bool = True
    each: Callable[[Any, Any, Any], Floats] | None = None
    judge: Callable[[Any, Any], Floats] | None = None
    whole: Callable[[Any, Any], float] | None = None
    output: Callable[[Any, Any], Any] | None = None
    thresholded: bool = False
    finish: Callable[[Any], Any] = _same
    percent: bool = False
    unit: str = ""
    digits: int | None = None

    @property
    def decimals(self) -> int:
        """Digits after the point, as reports show them."""
        return self.digits or (2 if self.percent else 4)

    def gain(self, value: float) -> float:
        """`value` with the sign that makes higher better."""
        return value if self.higher_is_better else -value

    def __call__(self, model: Any, X: Any, y: Any, predictions: Any = None) -> float:
        """The score of a model on rows; its predictions may be known already."""
        values = self.values(model, X, y, predictions)
        if values is not None:
            return self.of(values)
        assert self.whole is not None
        if self.output is not None:
            predictions = self.output(model, X)
        return float(self.whole(model.predict(X) if predictions is None else predictions, y))

    def values(self, model: Any, X: Any, y: Any, predictions: Any = None) -> Floats | None:
        """The values of all rows; None where the score is not made of them."""
        if self.each is not None:
            return self.each(model, X, y)
        if self.judge is None:
            return None
        return self.judge(model.predict(X) if predictions is None else predictions, y)

    def outcome(self, model: Any, X: Any, y: Any) -> Outcome:
        """The score of a model, with what `noise` needs."""
        if self.output is not None:
            made = self.output(model, X)
            assert self.whole is not None
            return Outcome(float(self.whole(made, y)), None, made)
        predictions = None if self.each is not None else model.predict(X)
        values = self.values(model, X, y, predictions)
        score = self(model, X, y, predictions) if values is None else self.of(values)
        return Outcome(score, values, predictions)

    def pooled(self, outcomes: Sequence[Outcome], y: Any) -> Outcome:
        """One outcome of those on several parts of the rows, whose targets joined are `y`."""
        if outcomes[0].values is not None:
            values = np.concatenate([one.values for one in outcomes if one.values is not None])
            return Outcome(self.of(values), values, None)
        assert self.whole is not None
        predictions = np.concatenate([one.predictions for one in outcomes])
        return Outcome(float(self.whole(predictions, y)), None, predictions)

    def noise(self, first: Outcome, second: Outcome, y: Any) -> float:
        """One standard error of the difference of two scores on the same rows, by the jackknife.

        For a mean over the rows that is s / sqrt(n), s the deviation of the differences.
        """
        parts = [self._left_out(one, y) for one in (first, second)]
        differences = parts[0] - parts[1]
        m = len(differences)
        return float(np.sqrt((m - 1) * np.var(differences)))

    def _left_out(self, one: Outcome, y: Any) -> Floats:
        """The score without each row or, where it is not made of their values, group of rows."""
        if one.values is not None:
            total, n = one.values.sum(axis=0), len(one.values)
            # Roots of sums that are nothing but rounding would not be numbers.
            with np.errstate(invalid="ignore"):
                scores = self.finish((total - one.values) / max(1, n - 1))
            found = np.asarray(scores, dtype=np.float64)
            return np.where(np.isnan(found), 0.0, found)
        assert self.whole is not None
        group = np.arange(len(y)) % _GROUPS
        kept = [group != g for g in range(min(_GROUPS, len(y)))]
        return np.array([self.whole(one.predictions[k], y[k]) for k in kept if k.any()])

    def of(self, values: Floats) -> float:
        """The score for the values of rows."""
        return float(self.finish(values.mean(axis=0)))
