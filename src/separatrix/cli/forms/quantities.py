"""Models that predict a quantity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.cli import scoring
from separatrix.cli.forms.base import Form, last_step
from separatrix.errors import ParameterError
from separatrix.experiment.metric import distribution

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["QuantityForm"]


class QuantityForm(Form):
    """One number for every row."""

    def predictor(
        self, proba: bool, level: float
    ) -> tuple[Sequence[str], Callable[[Any, Dataset], list[Any]]]:
        """The mean, and the ends of its interval where the model has one."""
        if proba:
            raise ParameterError("--proba is for classes, and this model predicts a quantity")

        def quantities(X: Any, data: Dataset) -> list[Any]:
            mean = np.asarray(self.estimator.predict(X), dtype=np.float64)
            found = distribution(self.estimator, X)
            if found is None:
                return [(value,) for value in mean.tolist()]
            low, high = found.interval(level)
            return list(np.column_stack([mean, low, high]).tolist())

        has_bands = hasattr(last_step(self.estimator), "predictive")
        return ("prediction", "low", "high") if has_bands else ("prediction",), quantities

    def piece(self, X: Any, data: Dataset, truth: Any) -> scoring.QuantityPiece:
        """Errors and densities."""
        return scoring.gather(self.estimator, X, truth)

    def scores(self, pieces: Sequence[Any]) -> scoring.QuantityScores:
        """The errors, and the coverage of the intervals."""
        return scoring.score_quantities(pieces)
