"""Labels of sequences: the best labelling, marginals, and the next best ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.explanation import see_through
from separatrix.serve.asking import Ask
from separatrix.serve.problems import Problem

__all__ = ["SequencePredictor"]


class SequencePredictor:
    """Labels of every token.

    Parameters
    ----------
    model : estimator
        A learner on chains, or a pipeline of templates and one.
    """

    def __init__(self, model: Any) -> None:
        self._steps, self.learner = see_through(model)
        self.classes: list[Any] = np.asarray(self.learner.classes_).tolist()
        self.has_probabilities = hasattr(self.learner, "predict_marginals")

    def check(self, ask: Ask) -> None:
        """Marginals and costs need probabilities; there is no sum to explain."""
        name = type(self.learner).__name__
        if ask.explain is not None:
            told = "sequences are not explained; ask for probabilities"
            raise Problem("invalid", told, "explain")
        if ask.reject is not None:
            raise Problem("invalid", "labels of sequences cannot be rejected", "reject")
        for field in ("probabilities", "cost"):
            if getattr(ask, field) and not self.has_probabilities:
                raise Problem("invalid", f"{name} has no probabilities; a CRF has", field)
        if ask.cost is not None:
            n = len(self.classes)
            if len(ask.cost) != n or any(len(row) != n for row in ask.cost):
                raise Problem("invalid", f"must be a matrix of {n} x {n} numbers", "cost")
            if any(row[k] != 0 for k, row in enumerate(ask.cost)):
                raise Problem("invalid", "must be zero where the label is right", "cost")
            if min(map(min, ask.cost)) < 0:
                raise Problem("invalid", "must not be negative", "cost")

    def compute(self, X: Any, asks: list[Ask]) -> Any:
        """Labels of all sequences, and what else the questions need."""
        for step in self._steps:
            X = step.transform(X)
        labels = self.learner.predict(X)
        marginals = paths = None
        if any(ask.probabilities for ask in asks):
            marginals = self.learner.predict_marginals(X)
        most = max((ask.top or 0 for ask in asks), default=0)
        if most:
            paths = self.learner.predict_kbest(X, most)
        log_shares = None
        if paths is not None and self.has_probabilities:
            log_shares = self.learner.predict_log_proba(X, labels)
        costs = [
            self.learner.predict_minimum_risk(X, ask.cost) if ask.cost is not None else None
            for ask in asks
        ]
        return labels, marginals, paths, log_shares, dict(zip(map(id, asks), costs, strict=True))

    def answers(self, found: Any, first: int, last: int, rows: list[Any], ask: Ask) -> list[Any]:
        """One object per sequence."""
        labels, marginals, paths, log_shares, costs = found
        said: list[dict[str, Any]] = [{"labels": path} for path in labels[first:last]]
        for at, answer in enumerate(said, start=first):
            if ask.probabilities:
                answer["probabilities"] = np.asarray(marginals[at]).tolist()
            if ask.top is not None:
                answer["top"] = self._paths(paths[at][: ask.top], log_shares, at)
            if ask.cost is not None:
                answer["action"] = {"labels": costs[id(ask)][at]}
        return said

    def _paths(self, paths: Any, log_shares: Any, at: int) -> list[dict[str, Any]]:
        best = paths[0][1] if paths else 0.0
        return [
            {
                "labels": path,
                "score": score,
                "probability": None
                if log_shares is None
                else min(1.0, math.exp(float(log_shares[at]) + score - best)),
            }
            for path, score in paths
        ]

    def columns(self, found: Any, first: int, last: int, ask: Ask) -> dict[str, Any]:
        """Labels as lists."""
        return {"labels": found[0][first:last]}
