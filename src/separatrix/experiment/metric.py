"""What a comparison is decided by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.bayes import CostMatrix
from separatrix.calibration import Calibrated
from separatrix.errors import ParameterError
from separatrix.explanation import see_through
from separatrix.metrics import per_class_report

__all__ = ["METRICS", "Metric", "distribution", "find_metric", "probabilities"]

Each = Callable[[Any, Any, npt.NDArray[Any]], npt.NDArray[np.float64]]
Whole = Callable[[Any, Any, npt.NDArray[Any]], float]


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
    regression : bool
        Whether it scores quantities; otherwise it scores classes.
    each : callable or None
        (model, X, y) -> the value of every row, whose mean is the score.
    whole : callable or None
        (model, X, y) -> the score, where it is no mean over rows.
    root : bool
        Whether the score is the root of that mean.
    """

    name: str
    title: str
    higher_is_better: bool
    regression: bool
    each: Each | None = None
    whole: Whole | None = None
    root: bool = False

    def gain(self, value: float) -> float:
        """`value` with the sign that makes higher better."""
        return value if self.higher_is_better else -value

    def __call__(self, model: Any, X: Any, y: npt.NDArray[Any]) -> float:
        """The score of a model on rows."""
        if self.each is None:
            assert self.whole is not None
            return float(self.whole(model, X, y))
        return float(self.of_mean(self.each(model, X, y).mean()))

    def of_mean(self, mean: Any) -> Any:
        """The score for a mean (or an array of means) of the values of rows."""
        return np.sqrt(mean) if self.root else mean


def probabilities(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
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


def _right(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray(model.predict(X) == y, dtype=np.float64)


def _balanced(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    said = model.predict(X)
    return float(np.mean([np.mean(said[y == label] == label) for label in np.unique(y)]))


def _macro_f1(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    return per_class_report(y, model.predict(X)).macro.f1


def _log_losses(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    shares = probabilities(model, X, y)
    own = shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(np.maximum(own, np.finfo(np.float64).eps))


def _squared(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    return np.asarray((model.predict(X) - y) ** 2, dtype=np.float64)


def _log_densities(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    found = distribution(model, X)
    if found is None:
        return np.full(len(y), -np.inf)
    return np.asarray(found.logpdf(y), dtype=np.float64)


#: Name -> metric.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", True, False, _right),
        Metric("balanced_accuracy", "mean recall of the classes", True, False, whole=_balanced),
        Metric("macro_f1", "mean F1 of the classes", True, False, whole=_macro_f1),
        Metric("log_loss", "log loss", False, False, _log_losses),
        Metric("rmse", "root mean squared error", False, True, _squared, root=True),
        Metric("log_density", "mean log predictive density", True, True, _log_densities),
    )
}


def find_metric(name: str, regression: bool, cost: npt.NDArray[np.float64] | None = None) -> Metric:
    """The metric called `name`; "auto" is the cost where there is one, else accuracy or RMSE.

    Examples
    --------
    >>> find_metric("auto", regression=False).name
    'accuracy'
    >>> find_metric("rmse", regression=False)
    Traceback (most recent call last):
    separatrix.errors.ParameterError: rmse scores quantities, but the target holds classes
    """
    if name == "cost" or (name == "auto" and cost is not None):
        if cost is None:
            raise ParameterError("the metric cost needs a cost matrix")
        return Metric("cost", "mean cost of a decision", False, False, _cost(cost))
    if name == "auto":
        name = "rmse" if regression else "accuracy"
    if name not in METRICS:
        raise ParameterError(f"there is no metric {name!r}; there are cost, {', '.join(METRICS)}")
    metric = METRICS[name]
    if metric.regression != regression:
        held, scored = ("quantities", "classes") if regression else ("classes", "quantities")
        raise ParameterError(f"{name} scores {scored}, but the target holds {held}")
    return metric


def _cost(cost: npt.NDArray[np.float64]) -> Each:
    """The cost of the Bayes action for every row."""
    decide = CostMatrix(cost)

    def each(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        actions = decide.risks(probabilities(model, X, y)).argmin(axis=1)
        paid: npt.NDArray[np.float64] = decide.cost[np.searchsorted(model.classes_, y), actions]
        return paid

    return each
