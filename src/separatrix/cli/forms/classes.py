"""Models that predict a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.cli import scoring
from separatrix.cli.forms.base import Form, last_step
from separatrix.data import LabelSets
from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["ClassForm"]


class ClassForm(Form):
    """One class for every row."""

    def predictor(
        self, proba: bool, level: float
    ) -> tuple[Sequence[str], Callable[[Any, Dataset], list[Any]]]:
        """The label, and with `proba` the probability of every class."""
        estimator, classes = self.estimator, self.saved.classes
        if not proba:
            return ("prediction",), lambda X, _: [(one,) for one in estimator.predict(X).tolist()]
        if not hasattr(estimator, "predict_proba"):
            raise ParameterError(
                "--proba needs a model with probabilities, and "
                f"{type(last_step(estimator)).__name__} has none; calibrate it"
            )

        def shares(X: Any, data: Dataset) -> list[Any]:
            said, likely = estimator.predict(X).tolist(), estimator.predict_proba(X).tolist()
            return [(label, *row) for label, row in zip(said, likely, strict=True)]

        return ("prediction", *(f"P({label})" for label in classes.tolist())), shares

    def piece(self, X: Any, data: Dataset, truth: Any) -> Any:
        """Labels, predictions, probabilities and costs."""
        estimator, classes = self.estimator, self.saved.classes
        if isinstance(truth, LabelSets):
            raise DataError(f"{data.source}: rows have sets of labels, and the model predicts one")
        labels = scoring.match_labels(truth, classes)
        shares = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
        known = np.isin(labels, classes).all()
        cost = scoring.mean_cost(estimator, X, labels) if known else None
        return labels, estimator.predict(X), shares, None if cost is None else (cost, len(labels))

    def scores(self, pieces: Sequence[Any]) -> scoring.ClassScores:
        """Accuracy, each class, the confusions, and how far probabilities can be trusted."""
        truth, said, shares, costs = zip(*pieces, strict=True)
        return scoring.score_classes(
            np.concatenate(truth),
            np.concatenate(said),
            None if shares[0] is None else np.concatenate(shares),
            self.saved.classes,
            [cost for cost in costs if cost is not None],
        )
