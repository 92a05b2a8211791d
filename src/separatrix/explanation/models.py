"""From a model and a row to its explanation: through pipelines and wrappers to what adds up."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import DataError, ParameterError
from separatrix.explanation.result import Explanation

__all__ = ["CHARACTERS", "explain", "names_after", "see_through"]


def see_through(model: Any) -> tuple[list[Any], Any]:
    """The transformers on the way, and the learner behind pipelines, calibrations and decisions.

    Parameters
    ----------
    model : estimator
        Fitted; wrapped in any order and depth.

    Returns
    -------
    steps : list of transformers
        In the order in which a row meets them.
    learner : estimator
        The last one, that is no wrapper itself.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> from separatrix import LogisticRegression
    >>> model = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit([[1.0], [2.0]], [0, 1])
    >>> steps, learner = see_through(model)
    >>> len(steps), type(learner).__name__
    (1, 'LogisticRegression')
    """
    steps, model = _outer(model)
    while hasattr(model, "estimator_"):  # BayesDecision, Calibrated
        inner, model = _outer(model.estimator_)
        steps += inner
    return steps, model


def names_after(step: Any, names: Any) -> Any:
    """Names of the columns that a transformer makes of columns with these names, or None.

    Of words and characters side by side, words stand as they are, and characters are marked.
    """
    if not hasattr(step, "get_feature_names_out"):
        return None
    parts = [part for _, part in getattr(step, "transformer_list", ())]
    if parts and all(getattr(part, "analyzer", None) in CHARACTERS for part in parts):
        return np.array(
            [
                ahead + term + behind
                for part in parts
                for ahead, behind in [CHARACTERS[part.analyzer].split("{}")]
                for term in part.get_feature_names_out()
            ],
            dtype=object,
        )
    takes = names is not None and len(names) == getattr(step, "n_features_in_", None)
    return step.get_feature_names_out(names if takes else None)


#: How a term is shown beside terms of another analyzer.
CHARACTERS = {"word": "{}", "char": '"{}" (characters)', "char_wb": '"{}" (characters)'}


def explain(
    model: Any,
    x: Any,
    *,
    classes: Any = None,
    top: int | None = None,
    feature_names: Any = None,
) -> Explanation:
    """The sum behind what a linear or naive-Bayes model says of one row.

    Sees through pipelines, `Calibrated` and `BayesDecision`. Of a text the terms come in its
    order, of other rows in the order of the columns; what is zero and adds nothing is left out.

    Parameters
    ----------
    model : estimator
        Fitted; its last part has `coef_` and `intercept_`, or is a `NaiveBayes` or a `MultiLabel`.
    x : str, dict, array-like of shape (d,) or (1, d), or DataFrame of one row
        What the model predicts from: a text, the values of a table by column, or numbers.
    classes : sequence or "all", optional
        Classes to show, in this order. By default both of two classes, else the most probable
        one and the next.
    top : int, optional
        Show so many terms, the most telling ones, and the sum of the others in one line.
    feature_names : sequence of str, optional
        Names of the columns of x, where neither the data nor the first step name them.

    Returns
    -------
    Explanation
        Names, addends, running totals, probabilities; `print` shows the table.

    Raises
    ------
    ParameterError
        The model is no sum of terms, or `classes` are none of its classes.
    DataError
        The row does not fit the model.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, TextVectorizer, explain
    >>> texts = ["free money", "free offer now", "see you at noon", "lunch at noon"]
    >>> model = make_pipeline(TextVectorizer(norm=None, use_idf=False), LogisticRegression())
    >>> model = model.fit(texts, ["spam", "spam", "ham", "ham"])
    >>> print(explain(model, "Free lunch, no money"))
                 value   weight  weight x value  total
    (intercept)                           0.248  0.248
    free             1   0.4968           0.497  0.745
    lunch            1  -0.2665          -0.267  0.479
    money            1   0.2665           0.267  0.745
    positive speaks for spam, negative for ham
    P(spam | x) = 67.8 %
    unknown, left out: no
    """
    steps, learner = see_through(model)
    if hasattr(learner, "explain_sequence"):
        raise ParameterError(
            f"{type(learner).__name__} labels sequences; use separatrix.explain_sequence"
        )
    rows = _one_row(x)
    if top is not None and top < 1:
        raise ParameterError(f"top must be positive or None, got {top}")
    with warnings.catch_warnings():
        # A row is often cut out of a frame, and loses its names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        # What stands before the wrappers is done once, for the sum and for the prediction.
        before, final = _outer(model)
        rows, names = _transformed(before, rows, feature_names)
        row, names = _transformed(steps[len(before) :], rows, names)
        row = np.asarray(row.toarray() if hasattr(row, "toarray") else row).reshape(-1)
        if hasattr(learner, "explain_set"):
            found = learner.explain_set(row.astype(np.float64), names, every=classes is not None)
            found = _as_in_text(found, steps, x, names) if isinstance(x, str) else found
            return found if top is None else found.top(top)
        prediction = final.predict(rows)[0]
        known = final.predict_proba(rows)[0] if hasattr(final, "predict_proba") else None
        if hasattr(learner, "explain"):
            found = _naive_bayes(learner, row, names, classes, known)
        else:
            found = _linear(learner, row, names, classes)
    if known is not None:
        chosen = [learner.classes_.tolist().index(label) for label in found.labels.tolist()]
        found = replace(found, posterior=np.asarray(known, dtype=np.float64)[chosen])
    found = replace(found, prediction=prediction, calibrated=_is_calibrated(model))
    if isinstance(x, str):
        found = _as_in_text(found, steps, x, names)
    return found if top is None else found.top(top)


def _is_calibrated(model: Any) -> bool:
    while True:
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif hasattr(model, "cost_"):  # BayesDecision
            model = model.estimator_
        else:
            return hasattr(model, "estimator_")


def _one_row(x: Any) -> Any:
    """Data of one row, as a model takes it."""
    if isinstance(x, str):
        return [x]
    if isinstance(x, Mapping):
        rows: Any = {
            name: value if isinstance(value, list | tuple | np.ndarray) else [value]
            for name, value in x.items()
        }
        n = max((len(column) for column in rows.values()), default=1)
    else:
        rows = x
        if not sp.issparse(x) and not hasattr(x, "columns"):
            rows = np.asarray(x)
            if rows.ndim == 1 and rows.dtype.kind not in "UO":
                rows = rows[None]
        n = rows.shape[0]
    if n != 1:
        raise ParameterError(f"explain takes one row, got {n}")
    return rows


def _outer(model: Any) -> tuple[list[Any], Any]:
    """The transformers of a pipeline, and its last part, which may be a wrapper."""
    steps: list[Any] = []
    while hasattr(model, "steps"):
        steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        model = model.steps[-1][1]
    return steps, model


def _transformed(steps: list[Any], rows: Any, names: Any) -> tuple[Any, Any]:
    """The row behind the transformers, and the names of its columns."""
    if names is None and hasattr(rows, "columns"):
        names = [str(name) for name in rows.columns]
    for step in steps:
        rows = step.transform(rows)
        names = names_after(step, names)
    return rows, names


def _two_best(classes: npt.NDArray[Any], scores: Any) -> npt.NDArray[Any]:
    order = np.argsort(-np.asarray(scores), kind="stable")
    best: npt.NDArray[Any] = classes[order[:2]]
    return best


def _shown(wanted: Any, classes: npt.NDArray[Any], default: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if wanted is None:
        return default
    if isinstance(wanted, str) and wanted == "all":
        return classes
    shown = np.asarray(wanted)
    if len(shown) < 2 or not np.isin(shown, classes).all():
        raise ParameterError(
            f"classes must name at least two of {classes.tolist()}, got {shown.tolist()}"
        )
    return shown


def _naive_bayes(
    learner: Any, row: npt.NDArray[Any], names: Any, classes: Any, known: Any
) -> Explanation:
    scores = learner.predict_proba(row[None])[0] if known is None else known
    shown = _shown(classes, learner.classes_, _two_best(learner.classes_, scores))
    found: Explanation = learner.explain(row[None], classes=shown, feature_names=names)
    return found


def _linear(learner: Any, row: npt.NDArray[Any], names: Any, classes: Any) -> Explanation:
    """Terms w_j x_j with x_j other than zero, behind the intercept."""
    if not hasattr(learner, "coef_") or hasattr(learner, "vote_"):
        why = "votes with many weight vectors" if hasattr(learner, "vote_") else "has no weights"
        raise ParameterError(
            f"{type(learner).__name__} {why}, so there is no sum to show; linear models and "
            "naive Bayes can be explained"
        )
    W = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
    b = np.broadcast_to(np.asarray(learner.intercept_, dtype=np.float64), W.shape[:1])
    if row.shape != W.shape[1:]:
        raise DataError(f"the row has {len(row)} columns, the model {W.shape[1]}")
    row = row.astype(np.float64)
    labels = getattr(learner, "classes_", np.array([]))
    if len(labels) == 2 and len(W) == 1:
        # One score, for the second class against the first.
        shown = _shown(classes, labels, labels[::-1])
        sign = 1.0 if shown[0] == labels[1] else -1.0
        W, b, labels = sign * W, sign * b, shown
    elif len(labels) > 2:
        pair = _two_best(labels, W @ row + b)
        shown = _shown(classes, labels, pair)
        chosen = [labels.tolist().index(label) for label in shown.tolist()]
        W, b, labels = W[chosen], b[chosen], shown
        if len(shown) == 2:
            W, b = W[:1] - W[1:], b[:1] - b[1:]
    used = np.flatnonzero(row)
    addends = np.vstack([b, (W[:, used] * row[used]).T])
    named = [f"x{j}" for j in used] if names is None else [str(names[j]) for j in used]
    return Explanation(
        labels,
        ("(intercept)", *named),
        addends,
        values=np.concatenate([[np.nan], row[used]]),
        weights=np.vstack([[[np.nan]], W[:, used].T]) if len(W) == 1 else None,
        columns=np.concatenate([[-1], used]),
    )


def _as_in_text(found: Explanation, steps: list[Any], text: str, names: Any) -> Explanation:
    """Terms in the order of the text, and the words of it that are no column."""
    if found.columns is None or not steps or not hasattr(steps[0], "build_analyzer"):
        return found
    first = steps[0]
    terms = first.build_analyzer()(text)
    places: dict[str, int] = {}
    for place, term in enumerate(terms):
        places.setdefault(term, place)
    last = len(terms)
    where = [places.get(str(names[column]), last) for column in found.columns[1:]]
    ordered = found.in_order(1 + np.argsort(where, kind="stable"))
    known = set(map(str, names))
    unknown = [] if getattr(first, "n_features", None) else [t for t in places if t not in known]
    return replace(ordered, unknown=tuple(unknown))
