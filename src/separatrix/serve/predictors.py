"""From rows to what is said of them: classes, quantities and sequences of labels."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from sklearn.base import is_regressor

from separatrix.errors import ParameterError
from separatrix.explanation import Explanation, explain, see_through
from separatrix.serve.asking import Ask
from separatrix.serve.problems import Problem
from separatrix.serve.readers import Reader
from separatrix.serve.words import word_shares

__all__ = ["ClassPredictor", "Predictor", "QuantityPredictor", "make_predictor"]


class Predictor(Protocol):
    """One task."""

    def check(self, ask: Ask) -> None:
        """Raise the Problem of a question that the model cannot answer."""

    def compute(self, X: Any, asks: list[Ask]) -> Any:
        """What all rows need for these questions, in as few calls as can be."""

    def answers(self, found: Any, first: int, last: int, rows: list[Any], ask: Ask) -> list[Any]:
        """Answers for the rows from `first` to `last`, as plain values."""

    def columns(self, found: Any, first: int, last: int, ask: Ask) -> dict[str, Any]:
        """The same as columns of a table."""


def make_predictor(model: Any, reader: Reader) -> Predictor:
    """The predictor of a loaded model."""
    if reader.kind == "sequences":
        from separatrix.serve.sequences import SequencePredictor

        return SequencePredictor(model)
    if is_regressor(model):
        return QuantityPredictor(model, reader)
    return ClassPredictor(model, reader)


def flat_steps(model: Any) -> tuple[list[Any], Any]:
    """The transformers of a pipeline, and its last step, which may still be a wrapper."""
    steps: list[Any] = []
    while hasattr(model, "steps"):
        steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        model = model.steps[-1][1]
    return steps, model


class _Rows:
    """What classes and quantities share: the way of a row through the model."""

    def __init__(self, model: Any, reader: Reader) -> None:
        self.model = model
        self.reader = reader
        self._steps, self._final = flat_steps(model)

    def _transformed(self, X: Any) -> Any:
        for step in self._steps:
            X = step.transform(X)
        return X

    def _refuse(self, field: str, why: str) -> None:
        raise Problem("invalid", why, field)

    def explanation(self, row: Any, top: int) -> dict[str, Any]:
        """The sum behind the answer for a row, seen from its label, as plain values."""
        X = self.reader.join([row])
        names = None
        if isinstance(X, dict):
            x: Any = X
        elif self.reader.kind == "text":
            x = X[0]
        else:
            x = X
            names = list(self.reader.columns) if hasattr(self.reader, "columns") else None
        try:
            found = explain(self.model, x, feature_names=names)
        except ParameterError as error:
            raise Problem("invalid", str(error), "explain") from None
        return self._told(found, row, top)

    def _told(self, found: Explanation, row: Any, top: int) -> dict[str, Any]:
        labels = found.labels.tolist()
        sign = 1.0
        if len(labels) > 1 and found.prediction == found.labels[1]:
            labels, sign = labels[1::-1], -1.0
        content: dict[str, Any] = {
            "for": labels[0] if labels else None,
            "against": labels[1] if len(labels) > 1 else None,
            "total": float(sign * _apart(found).sum()),
            "unknown": list(found.unknown),
            "calibrated": found.calibrated,
        }
        steps, _ = see_through(self.model)
        if isinstance(row, str) and len(steps) == 1 and hasattr(steps[0], "build_analyzer"):
            adds = dict(zip(found.names[1:], (sign * _apart(found))[1:].tolist(), strict=True))
            content["words"] = word_shares(steps[0], row, adds)
        kept = found.top(top)
        columns = [-1] * len(kept.names) if kept.columns is None else kept.columns.tolist()
        values = [None] * len(kept.names) if kept.values is None else kept.values.tolist()
        content["terms"] = [
            {
                "name": name,
                "adds": add if np.isfinite(add) else None,
                "value": value if value is not None and np.isfinite(value) else None,
                "column": column if column >= 0 else None,
            }
            for name, add, value, column in zip(
                kept.names, (sign * _apart(kept)).tolist(), values, columns, strict=True
            )
        ]
        if not np.isfinite(content["total"]):
            content["total"] = None
        return content


def _apart(found: Explanation) -> Any:
    """What each term adds for the first class against the second."""
    addends = found.addends
    if addends.shape[1] == 1:
        return addends[:, 0]
    with np.errstate(invalid="ignore"):
        return addends[:, 0] - addends[:, 1]


class ClassPredictor(_Rows):
    """Labels, their probabilities, and the action of the least expected cost."""

    def __init__(self, model: Any, reader: Reader) -> None:
        super().__init__(model, reader)
        self.classes: list[Any] = np.asarray(model.classes_).tolist()
        self.has_probabilities = hasattr(model, "predict_proba")

    def check(self, ask: Ask) -> None:
        """Probabilities must be there, costs must fit the classes."""
        if not self.has_probabilities:
            name = type(see_through(self.model)[1]).__name__
            for field in ("probabilities", "top", "cost"):
                if getattr(ask, field):
                    self._refuse(field, f"{name} has no probabilities; calibrate the model")
        n = len(self.classes)
        if ask.cost is not None:
            if len(ask.cost) != n:
                self._refuse("cost", f"must have a row for each of the {n} classes")
            for at, row in enumerate(ask.cost):
                if len(row) != n:
                    self._refuse(f"cost[{at}]", f"must have a number for each of the {n} classes")
        elif ask.reject is not None:
            self._refuse("reject", "needs cost")

    def compute(self, X: Any, asks: list[Ask]) -> Any:
        """Labels, and probabilities where one of the questions needs them."""
        X = self._transformed(X)
        labels = np.asarray(self._final.predict(X)).tolist()
        shares = None
        if any(ask.probabilities or ask.top or ask.cost for ask in asks):
            shares = np.asarray(self._final.predict_proba(X), dtype=np.float64)
        return labels, shares

    def answers(self, found: Any, first: int, last: int, rows: list[Any], ask: Ask) -> list[Any]:
        """One object per row."""
        labels, shares = found
        said: list[dict[str, Any]] = [{"label": label} for label in labels[first:last]]
        if shares is not None:
            shares = shares[first:last]
        if ask.probabilities:
            for answer, row in zip(said, shares.tolist(), strict=True):
                answer["probabilities"] = row
        if ask.top is not None:
            order = np.argsort(-shares, axis=1, kind="stable")[:, : ask.top]
            for answer, best, row in zip(said, order.tolist(), shares, strict=True):
                answer["top"] = [
                    {"label": self.classes[k], "probability": float(row[k])} for k in best
                ]
        if ask.cost is not None:
            risks = ask.decision.risks(shares)
            for answer, row in zip(said, risks.tolist(), strict=True):
                best = row.index(min(row))
                rejected = best == len(self.classes)
                answer["action"] = {
                    "label": None if rejected else self.classes[best],
                    "rejected": rejected,
                    "expected_cost": row[best],
                }
        if ask.explain is not None:
            for answer, row in zip(said, rows, strict=True):
                answer["explanation"] = self.explanation(row, ask.explain)
        return said

    def columns(self, found: Any, first: int, last: int, ask: Ask) -> dict[str, Any]:
        """The label, then a column per class."""
        labels, shares = found
        table: dict[str, Any] = {"label": labels[first:last]}
        if ask.probabilities:
            for at, label in enumerate(self.classes):
                table[f"P({label})"] = shares[first:last, at]
        return table


class QuantityPredictor(_Rows):
    """A number, and its interval where the model knows one."""

    def __init__(self, model: Any, reader: Reader) -> None:
        super().__init__(model, reader)
        self.has_intervals = hasattr(see_through(model)[1], "predictive")

    def check(self, ask: Ask) -> None:
        """There are no classes."""
        for field in ("probabilities", "top", "cost", "reject"):
            if getattr(ask, field):
                self._refuse(field, "is for classes, and this model predicts a quantity")

    def compute(self, X: Any, asks: list[Ask]) -> Any:
        """Means, and ends of the interval at the level of each question."""
        X = self._transformed(X)
        mean = np.asarray(self._final.predict(X), dtype=np.float64)
        ends: dict[float, Any] = {}
        if self.has_intervals:
            steps, learner = see_through(self._final)
            for step in steps:
                X = step.transform(X)
            distribution = learner.predictive(X)
            ends = {level: distribution.interval(level) for level in {ask.level for ask in asks}}
        return mean, ends

    def answers(self, found: Any, first: int, last: int, rows: list[Any], ask: Ask) -> list[Any]:
        """One object per row."""
        mean, ends = found
        said: list[dict[str, Any]] = [{"value": value} for value in mean[first:last].tolist()]
        if self.has_intervals:
            low, high = (end[first:last].tolist() for end in ends[ask.level])
            for answer, one, other in zip(said, low, high, strict=True):
                answer["interval"] = [one, other]
        if ask.explain is not None:
            for answer, row in zip(said, rows, strict=True):
                answer["explanation"] = self.explanation(row, ask.explain)
        return said

    def columns(self, found: Any, first: int, last: int, ask: Ask) -> dict[str, Any]:
        """The value, and its interval."""
        mean, ends = found
        table: dict[str, Any] = {"value": mean[first:last]}
        if self.has_intervals:
            table["low"], table["high"] = (end[first:last] for end in ends[ask.level])
        return table
