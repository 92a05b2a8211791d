"""What a comparison is decided by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from separatrix.bayes import CostMatrix
from separatrix.calibration import Calibrated
from separatrix.errors import ParameterError
from separatrix.explanation import see_through
from separatrix.metrics import chunk_counts, per_class_report, token_counts

__all__ = [
    "METRICS",
    "Metric",
    "Outcome",
    "distribution",
    "find_metric",
    "probabilities",
    "set_counts",
]

Floats = npt.NDArray[np.float64]
Scored = Literal["classes", "quantities", "sequences", "label sets"]
Each = Callable[[Any, Any, Any], Floats]
Judge = Callable[[Any, Any], Floats]
Whole = Callable[[Any, Any], float]
Finish = Callable[[Any], Any]


#: Groups of rows that are left out in turn, for the error of a score not made of values of rows.
_GROUPS = 50


class Outcome(NamedTuple):
    """A score, and what it was made of: values of the rows or, without them, predictions."""

    score: float
    values: Floats | None
    said: Any


def _same(means: Any) -> Any:
    return means


def _ratio(means: Any) -> Any:
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
    scores : {"classes", "quantities", "sequences", "label sets"}
        What it scores.
    each : callable or None
        (model, X, y) -> the value of every row, where predictions alone do not tell it; shape (n,)
        or (n, m).
    judge : callable or None
        (predictions, y) -> the value of every row.
    whole : callable or None
        (predictions, y) -> the score, where it is not made of values of rows.
    finish : callable
        Means over the rows -> the score: the mean itself, its root, or a ratio of two means.
    percent : bool
        Whether it is a share.
    """

    name: str
    title: str
    higher_is_better: bool
    scores: Scored
    each: Each | None = None
    judge: Judge | None = None
    whole: Whole | None = None
    finish: Finish = _same
    percent: bool = False

    def gain(self, value: float) -> float:
        """`value` with the sign that makes higher better."""
        return value if self.higher_is_better else -value

    def __call__(self, model: Any, X: Any, y: Any, said: Any = None) -> float:
        """The score of a model on rows; its predictions may be `said` already."""
        values = self.values(model, X, y, said)
        if values is not None:
            return self.of(values)
        assert self.whole is not None
        return float(self.whole(model.predict(X) if said is None else said, y))

    def values(self, model: Any, X: Any, y: Any, said: Any = None) -> Floats | None:
        """The values of all rows; None where the score is not made of them."""
        if self.each is not None:
            return self.each(model, X, y)
        if self.judge is None:
            return None
        return self.judge(model.predict(X) if said is None else said, y)

    def outcome(self, model: Any, X: Any, y: Any) -> Outcome:
        """The score of a model, with what `noise` needs."""
        said = None if self.each is not None else model.predict(X)
        values = self.values(model, X, y, said)
        return Outcome(self(model, X, y, said) if values is None else self.of(values), values, said)

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
        return np.array([self.whole(one.said[k], y[k]) for k in kept if k.any()])

    def of(self, values: Floats) -> float:
        """The score for the values of rows."""
        return float(self.finish(values.mean(axis=0)))


def probabilities(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    """P(class | row); where a model has scores only, by the temperature that suits these rows best.

    The one number that is fitted to the rows to be scored is the same help for every such model.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return Calibrated(model).calibrate(X, y).predict_proba(X)


def distribution(model: Any, X: Any) -> Any:
    """The predictive distributions (scipy, frozen) of a regression model for rows, or None."""
    steps, learner = see_through(model)
    for step in steps:
        X = step.transform(X)
    return learner.predictive(X) if hasattr(learner, "predictive") else None


def _right(said: Any, y: npt.NDArray[Any]) -> Floats:
    return np.asarray(said == y, dtype=np.float64)


def _balanced(said: Any, y: npt.NDArray[Any]) -> float:
    return float(np.mean([np.mean(said[y == label] == label) for label in np.unique(y)]))


def _macro_f1(said: Any, y: npt.NDArray[Any]) -> float:
    return per_class_report(y, said).macro.f1


def _log_losses(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    shares = probabilities(model, X, y)
    own = shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(np.maximum(own, np.finfo(np.float64).eps))


def _squared(said: Any, y: npt.NDArray[Any]) -> Floats:
    return np.asarray((said - y) ** 2, dtype=np.float64)


def _tokens(said: Any, y: Any) -> Floats:
    return token_counts(y, said).astype(np.float64)


def _sequences(said: Any, y: Any) -> Floats:
    right, length = token_counts(y, said).T
    return np.asarray(right == length, dtype=np.float64)


def _chunks(said: Any, y: Any) -> Floats:
    correct, true, predicted = chunk_counts(y, said).T
    return np.column_stack([2.0 * correct, true + predicted])


def set_counts(said: Any, y: Any) -> Floats:
    """For every row the labels that are right, true and predicted, and those there are; (n, 4).

    Examples
    --------
    >>> from separatrix.data import LabelSets
    >>> set_counts(LabelSets.of([("a",), ()]), LabelSets.of([("a", "b"), ()])).tolist()
    [[1.0, 2.0, 1.0, 2.0], [0.0, 0.0, 0.0, 2.0]]
    """
    labels = np.union1d(y.classes, said.classes)
    true, found = y.matrix(labels), said.matrix(labels)
    sides = (true.multiply(found), true, found)
    counts = [np.asarray(side.sum(axis=1), dtype=np.float64).ravel() for side in sides]
    return np.stack([*counts, np.full(len(y), float(len(labels)))], axis=1)


def _whole_sets(said: Any, y: Any) -> Floats:
    right, true, found, _ = set_counts(said, y).T
    return np.asarray((right == true) & (right == found), dtype=np.float64)


def _wrong_labels(said: Any, y: Any) -> Floats:
    right, true, found, n_labels = set_counts(said, y).T
    return np.asarray((true + found - 2 * right) / n_labels, dtype=np.float64)


def _f1_of_sets(said: Any, y: Any) -> Floats:
    right, true, found, _ = set_counts(said, y).T
    # Of two empty sets it is one.
    values: Floats = np.ones_like(right)
    np.divide(2 * right, true + found, out=values, where=true + found > 0)
    return values


def _log_densities(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    found = distribution(model, X)
    if found is None:
        return np.full(len(y), -np.inf)
    return np.asarray(found.logpdf(y), dtype=np.float64)


#: Name -> metric.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", True, "classes", judge=_right, percent=True),
        Metric(
            "balanced_accuracy",
            "mean recall of the classes",
            True,
            "classes",
            whole=_balanced,
            percent=True,
        ),
        Metric(
            "macro_f1", "mean F1 of the classes", True, "classes", whole=_macro_f1, percent=True
        ),
        Metric("log_loss", "log loss", False, "classes", _log_losses),
        Metric(
            "rmse", "root mean squared error", False, "quantities", judge=_squared, finish=np.sqrt
        ),
        Metric("log_density", "mean log predictive density", True, "quantities", _log_densities),
        Metric(
            "chunk_f1", "chunk F1", True, "sequences", judge=_chunks, finish=_ratio, percent=True
        ),
        Metric(
            "token_accuracy",
            "token accuracy",
            True,
            "sequences",
            judge=_tokens,
            finish=_ratio,
            percent=True,
        ),
        Metric(
            "sequence_accuracy",
            "sequence accuracy",
            True,
            "sequences",
            judge=_sequences,
            percent=True,
        ),
        Metric(
            "subset_accuracy",
            "share of whole label sets",
            True,
            "label sets",
            judge=_whole_sets,
            percent=True,
        ),
        Metric(
            "hamming_loss",
            "share of wrong labels",
            False,
            "label sets",
            judge=_wrong_labels,
            percent=True,
        ),
        Metric(
            "example_f1",
            "mean F1 of the rows",
            True,
            "label sets",
            judge=_f1_of_sets,
            percent=True,
        ),
    )
}


def find_metric(name: str, scores: Scored, auto: str, cost: Floats | None = None) -> Metric:
    """The metric called `name`; "auto" is the cost where there is one, else `auto`.

    Examples
    --------
    >>> find_metric("auto", "classes", "accuracy").name
    'accuracy'
    >>> find_metric("rmse", "classes", "accuracy")
    Traceback (most recent call last):
    separatrix.errors.ParameterError: rmse scores quantities, but the target holds classes
    """
    if name == "cost" or (name == "auto" and cost is not None):
        if cost is None:
            raise ParameterError("the metric cost needs a cost matrix")
        return Metric("cost", "mean cost of a decision", False, "classes", _cost(cost))
    if name == "auto":
        name = auto
    if name not in METRICS:
        raise ParameterError(f"there is no metric {name!r}; there are cost, {', '.join(METRICS)}")
    metric = METRICS[name]
    if metric.scores != scores:
        raise ParameterError(f"{name} scores {metric.scores}, but the target holds {scores}")
    return metric


def _cost(cost: Floats) -> Each:
    """The cost of the Bayes action for every row."""
    decide = CostMatrix(cost)

    def each(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
        actions = decide.risks(probabilities(model, X, y)).argmin(axis=1)
        paid: Floats = decide.cost[np.searchsorted(model.classes_, y), actions]
        return paid

    return each
