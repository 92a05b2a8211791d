"""What a linear or naive-Bayes model has learned: the strongest features of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import ParameterError
from separatrix.explanation.models import names_after, see_through

__all__ = ["Weights", "feature_names", "strongest", "top_weights"]


@dataclass(frozen=True, eq=False)
class Weights:
    """The features that speak most for and against a class, the former first.

    Attributes
    ----------
    label : object
        The class; None for a regression, and for the transitions of a chain.
    rest : str
        What it is told from, in words.
    kind : {"weight", "log odds", "transition weight"}
        What the values are: weights of a linear model, ln P(x | label) / P(x | rest) of naive
        Bayes.
    names : tuple of str
        The features.
    values : ndarray of shape (m,)
        Falling.
    """

    label: Any
    rest: str
    kind: str
    names: tuple[str, ...]
    values: npt.NDArray[np.float64]


def feature_names(model: Any, names: Any = None) -> npt.NDArray[np.object_] | None:
    """Names of the columns that reach the learner behind a model, or None where they have none.

    Parameters
    ----------
    model : estimator
        Fitted, wrapped in any way.
    names : sequence of str, optional
        Names of the columns that the model itself takes.
    """
    steps, learner = see_through(model)
    for step in steps:
        names = names_after(step, names)
    if names is None:
        names = getattr(learner, "feature_names_in_", None)
    return None if names is None else np.asarray(names, dtype=object)


def top_weights(model: Any, top: int | None = 10, *, names: Any = None) -> list[Weights]:
    """The strongest features of every class (of two classes: of the second against the first).

    Parameters
    ----------
    model : estimator
        Fitted; its last part has `coef_`, or is a `NaiveBayes`; pipelines, `Calibrated` and
        `BayesDecision` around it are seen through.
    top : int or None
        How many of the highest and of the lowest weights to keep; None keeps all.
    names : sequence of str, optional
        Names of the columns that the model takes.

    Returns
    -------
    list of Weights

    Raises
    ------
    ParameterError
        The model has no weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = top_weights(LogisticRegression().fit(X, y), top=1)
    >>> [(part.label, part.names) for part in found][0]
    (np.int64(0), ('sepal width (cm)', 'petal length (cm)'))
    """
    _, learner = see_through(model)
    if hasattr(learner, "top_weights"):  # a chain has transitions too
        chain: list[Weights] = learner.top_weights(top)
        return chain
    columns = feature_names(model, names)
    labels = getattr(learner, "classes_", np.array([]))
    # Weights say more than the ratios made of them.
    if hasattr(learner, "odds_ratios") and not hasattr(learner, "coef_"):
        return _odds(learner, labels, top, columns)
    if not hasattr(learner, "coef_"):
        raise ParameterError(f"{type(learner).__name__} has no weights")
    W = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
    if not len(labels):
        told: list[tuple[Any, str]] = [(None, "")]
    elif len(W) == 1:
        told = [(labels[-1], str(labels[0]))]
    else:
        told = [(label, f"not {label}") for label in labels]
    found = []
    for (label, rest), w in zip(told, W, strict=True):
        order = strongest(w, top)
        kept = [f"x{j}" for j in order] if columns is None else [str(columns[j]) for j in order]
        found.append(Weights(label, rest, "weight", tuple(kept), w[order]))
    return found


def strongest(values: npt.NDArray[np.float64], top: int | None) -> npt.NDArray[np.intp]:
    """Places of the highest and the lowest values, falling; zeros speak for nothing."""
    order = np.argsort(-values, kind="stable")
    if top is not None and 2 * top < len(order):
        order = np.concatenate([order[:top], order[len(order) - top :]])
    kept: npt.NDArray[np.intp] = order[values[order] != 0]
    return kept


def _odds(learner: Any, labels: Any, top: int | None, columns: Any) -> list[Weights]:
    asked = labels[-1:] if len(labels) == 2 else labels
    found = []
    for label in asked:
        odds = learner.odds_ratios(label, top=top, feature_names=columns)
        with np.errstate(divide="ignore"):
            logs = np.log(odds.ratios)
        found.append(Weights(label, odds.rest, "log odds", odds.names, logs))
    return found
