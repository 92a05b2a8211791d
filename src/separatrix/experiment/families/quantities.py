"""Tasks whose target is a quantity: regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.families.base import Family
from separatrix.experiment.findings import (
    alone_quantity,
    column_of,
    columns_of,
    duplicates,
    leaks,
    missing_values,
)
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import Metric, distribution, find_metric
from separatrix.experiment.rows import Rows
from separatrix.experiment.weights import weights_part
from separatrix.report.parts import (
    Band,
    Coverage,
    Findings,
    Part,
    Profile,
    RegressionReport,
    Residuals,
)

if TYPE_CHECKING:
    from separatrix.experiment.testing import Finalist

__all__ = ["Quantities"]

_LEVELS = (0.5, 0.8, 0.95)
#: Points that a picture shows.
_POINTS = 400


class Quantities(Family):
    """One number for every row."""

    title = "a regression"

    def metric(self, name: str, y: Any, cost: npt.NDArray[np.float64] | None) -> Metric:
        """The metric called `name`, or the root of the mean squared error."""
        return find_metric(name, "quantities", "rmse", cost)

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """The number of each row's tenth (of its fifth row or so, if there are few)."""
        ranks = np.argsort(np.argsort(y, kind="stable"))
        return np.asarray(ranks * max(1, min(10, len(y) // 5)) // len(y), dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """The target must be numbers."""
        if found.y.dtype.kind not in "fiu":
            raise DataError(
                f"{found.source or 'the data'}: the target of the {part} rows holds "
                f"{found.y[0]!r}, no number"
            )
        return ()

    def check_previous(self, model: Any, y: Any) -> None:
        """It must be a regression."""
        if not is_regressor(model):
            raise ParameterError("the previous model predicts classes, which is another task")

    def check_calibration(self, method: str, y: Any) -> None:
        """Predictive distributions are not calibrated, so that nothing can go wrong."""

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return "regression"

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns and target."""
        target = column_of(data.target_name or "target", data.y, False, True, "")
        return Profile(len(data), columns_of(data, inputs), target=target)

    def findings(self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows) -> Findings:
        """Duplicates, leak suspects and missing values."""
        told = "explains {share} of the variance of the held-out rows"
        found = (
            *duplicates(train, held_out, test),
            *leaks(inputs, train, held_out, alone_quantity, told),
            *missing_values(train),
        )
        checks = ("rows that stand in two splits", "columns that alone tell the target")
        return Findings(found, (*checks, "missing values"))

    def parts(
        self,
        champion: Finalist,
        inputs: Inputs,
        test: Dataset,
        said: Any,
        cost: npt.NDArray[np.float64] | None,
    ) -> tuple[Part, ...]:
        """Errors, coverage of the intervals, bands and residuals of the champion."""
        X, y = inputs.take(test), test.y
        mean = np.asarray(said, dtype=np.float64)
        found = distribution(champion.model, X)
        density = float("nan")
        coverage: list[Coverage] = []
        band = None
        if found is not None:
            density = float(np.mean(found.logpdf(y)))
            for level in _LEVELS:
                low, high = found.interval(level)
                coverage.append(Coverage(level, float(np.mean((low <= y) & (y <= high)))))
            band = _band(mean, low, high, y)
        thin = _thin(len(y))
        report = RegressionReport(
            float(np.sqrt(np.mean((mean - y) ** 2))),
            density,
            float(np.mean(np.abs(mean - y))),
            tuple(coverage),
            inputs.target or "target",
            band=band,
            residuals=Residuals(mean[thin], (y - mean)[thin]),
        )
        weights = weights_part(champion.model, champion.row.learner, inputs)
        return (report,) if weights is None else (report, weights)


def _band(
    mean: npt.NDArray[np.float64],
    low: npt.NDArray[np.float64],
    high: npt.NDArray[np.float64],
    y: npt.NDArray[Any],
) -> Band:
    """Rows in the order of their prediction."""
    order = np.argsort(mean, kind="stable")[_thin(len(y))]
    place = np.arange(len(order), dtype=np.float64)
    return Band(
        place, mean[order], low[order], high[order], place, np.asarray(y, dtype=np.float64)[order],
        axis="test rows by prediction", level=_LEVELS[-1],
    )  # fmt: skip


def _thin(n: int) -> npt.NDArray[np.intp]:
    """Evenly spread rows, as many as a picture shows."""
    return np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))
