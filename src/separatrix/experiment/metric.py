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
from separatrix.metrics import accuracy, expected_cost, log_loss, per_class_report

__all__ = ["METRICS", "Metric", "distribution", "find_metric", "probabilities"]

Score = Callable[[Any, Any, npt.NDArray[Any]], float]


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
    score : callable
        (model, X, y) -> float.
    """

    name: str
    title: str
    higher_is_better: bool
    regression: bool
    score: Score

    def gain(self, value: float) -> float:
        """`value` with the sign that makes higher better."""
        return value if self.higher_is_better else -value

    def __call__(self, model: Any, X: Any, y: npt.NDArray[Any]) -> float:
        return float(self.score(model, X, y))


def probabilities(model: Any, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """P(class | row); where a model has scores only, by the temperature that suits these rows best.

    The one number that is fitted to the rows to be scored is the same help for every such model.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return Calibrated(model).calibrate(X, y).predict_proba(X)


def distribution(model: Any, X: Any) -> Any:
    """The predictive distributions (scipy, frozen) of a regression model for rows, or None."""
    while hasattr(model, "steps"):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
        model = model.steps[-1][1]
    return model.predictive(X) if hasattr(model, "predictive") else None


def _accuracy(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    return float(accuracy(y, model.predict(X)))


def _balanced(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    said = model.predict(X)
    return float(np.mean([np.mean(said[y == label] == label) for label in np.unique(y)]))


def _macro_f1(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    report = per_class_report(y, model.predict(X))
    return float(np.mean(report.f1))


def _log_loss(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    return float(log_loss(y, probabilities(model, X, y), labels=model.classes_))


def _rmse(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))


def _log_density(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
    found = distribution(model, X)
    return float("-inf") if found is None else float(np.mean(found.logpdf(y)))


#: Name -> metric.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", True, False, _accuracy),
        Metric("balanced_accuracy", "mean recall of the classes", True, False, _balanced),
        Metric("macro_f1", "mean F1 of the classes", True, False, _macro_f1),
        Metric("log_loss", "log loss", False, False, _log_loss),
        Metric("rmse", "root mean squared error", False, True, _rmse),
        Metric("log_density", "mean log predictive density", True, True, _log_density),
    )
}


def find_metric(
    name: str, regression: bool, cost: npt.NDArray[np.float64] | None = None
) -> Metric:
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


def _cost(cost: npt.NDArray[np.float64]) -> Score:
    """The mean cost of the Bayes actions."""
    decide = CostMatrix(cost)

    def score(model: Any, X: Any, y: npt.NDArray[Any]) -> float:
        risks = decide.risks(probabilities(model, X, y))
        said = model.classes_[risks.argmin(axis=1)]
        return float(expected_cost(y, said, decide.cost, labels=model.classes_))

    return score
