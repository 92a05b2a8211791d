"""One number for every row: regression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, LabelSets, TokenColumn
from separatrix.errors import DataError
from separatrix.explanation import see_through
from separatrix.metrics import Metric
from separatrix.report.parts import (
    Band,
    Coverage,
    Finding,
    Part,
    Profile,
    RegressionReport,
    Residuals,
)
from separatrix.tasks.classes import check_values
from separatrix.tasks.feature_search import Fold, Search
from separatrix.tasks.feature_trials import search_features
from separatrix.tasks.findings import (
    alone_quantity,
    column_of,
    columns_of,
    common_findings,
    leaks,
)
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import Preparation
from separatrix.tasks.reasons import scorecard_part, weights_part
from separatrix.tasks.rows import Rows
from separatrix.tasks.task import Champion, Fitted, Options, Scores, Task, TestRows

__all__ = ["Quantities", "distribution"]

Floats = npt.NDArray[np.float64]

#: Most different numbers that still count as classes: of whole numbers, and of others.
_MOST_WHOLE, _MOST_OTHER = 20, 10
#: Masses of the intervals whose coverage is counted.
_LEVELS = (0.5, 0.8, 0.95)
#: Points that a picture shows.
_POINTS = 400


def distribution(model: Any, X: Any) -> Any:
    """The predictive distributions (scipy, frozen) of a regression model for rows, or None."""
    steps, learner = see_through(model)
    for step in steps:
        X = step.transform(X)
    return learner.predictive(X) if hasattr(learner, "predictive") else None


def _squared(predictions: Any, y: npt.NDArray[Any]) -> Floats:
    return np.asarray((predictions - y) ** 2, dtype=np.float64)


def _log_densities(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    found = distribution(model, X)
    if found is None:
        return np.full(len(y), -np.inf)
    return np.asarray(found.logpdf(y), dtype=np.float64)


class Quantities(Task):
    """One number for every row."""

    kind = "quantities"
    names = ("regression",)
    title = "a regression"
    holds = "quantities"
    predicts = "a quantity"
    folds = True
    compares_with_trees = True
    metrics: ClassVar[dict[str, Metric]] = {
        "rmse": Metric("rmse", "root mean squared error", False, judge=_squared, finish=np.sqrt),
        "log_density": Metric("log_density", "mean log predictive density", each=_log_densities),
    }

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """Numbers of many different values; any where they are wanted."""
        y = data.y
        if isinstance(y, LabelSets | TokenColumn) or np.ndim(y) != 1:
            return None
        name = check_values(data)
        if y.dtype.kind not in "fiu":
            return None
        if wanted in cls.names:
            return cls("regression", "requested")
        distinct = np.unique(y)
        whole = bool(np.all(distinct == np.round(distinct)))
        if data.kind in ("matrix", "images") and whole:
            return None
        if len(distinct) <= (_MOST_WHOLE if whole else _MOST_OTHER):
            return None
        return cls("regression", f"{name} holds {len(distinct)} different numbers")

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return "regression"

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """There are none."""
        return None

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

    # -- the experiment --------------------------------------------------------------------------

    def features(
        self,
        plain: Preparation,
        folds: Sequence[Fold],
        metric: Metric,
        seconds: float,
        n_jobs: int | None = None,
    ) -> tuple[Preparation, Search | None]:
        """Of tables, those that serve a quick linear regression best."""
        return search_features(plain, folds, metric, seconds, n_jobs, "quantities")

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns and target."""
        target = column_of(data.target_name or "target", data.y, False, True, "")
        return Profile(len(data), columns_of(data, inputs), target=target)

    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """What all tables may have, and leak suspects."""
        told = "explains {share} of the variance of the held-out rows"
        found, checks = common_findings(inputs, train, held_out, test)
        found += leaks(inputs, train, held_out, alone_quantity, told)
        return found, (*checks, "columns that alone give away the target")

    def parts(
        self, champion: Champion, inputs: Inputs, test: Dataset, prepared: TestRows,
        predictions: Any, cost: Floats | None,
    ) -> tuple[Part, ...]:  # fmt: skip
        """Errors, coverage of the intervals, bands and residuals of the champion."""
        y = test.y
        mean = np.asarray(predictions, dtype=np.float64)
        found = distribution(*prepared(champion.model))
        density, coverage, band = float("nan"), [], None
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
        parts = (
            report,
            weights_part(champion.model, champion.learner, inputs),
            scorecard_part(champion.model, inputs),
        )
        return tuple(part for part in parts if part is not None)

    # -- predictions -----------------------------------------------------------------------------

    def offers(self, model: Fitted) -> dict[str, str]:
        """Intervals; there are no classes."""
        none = "is for classes, and this model predicts a quantity"
        return {**dict.fromkeys(("probabilities", "top", "cost", "reject"), none),
                "level": "", "explain": ""}  # fmt: skip

    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """Means, and ends of the interval at the level of each of the options."""
        mean = np.asarray(model.estimator.predict(X), dtype=np.float64)
        found = distribution(model.estimator, X)
        levels = {one.level for one in options} if found is not None else ()
        return mean, {level: found.interval(level) for level in levels}

    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """The value, and its interval where the model knows one."""
        columns = self.columns(model, found, rows, options)
        answers: list[dict[str, Any]] = [{"value": value} for value in columns["value"].tolist()]
        if len(columns) > 1:
            ends = zip(columns["low"].tolist(), columns["high"].tolist(), strict=True)
            for answer, (low, high) in zip(answers, ends, strict=True):
                answer["interval"] = [low, high]
        return answers

    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """The value, and its interval."""
        mean, ends = found
        table: dict[str, Any] = {"value": mean[rows]}
        if ends:
            table["low"], table["high"] = (end[rows] for end in ends[options.level])
        return table

    # -- scores ----------------------------------------------------------------------------------

    def piece(self, model: Fitted, X: Any, data: Dataset) -> Any:
        """True values, errors, log densities, and how many values fell into their intervals."""
        if isinstance(data.y, LabelSets):
            raise DataError("rows have sets of labels, and the model predicts a quantity")
        if data.y.dtype.kind not in "iufb":
            raise DataError(
                f"the model predicts a quantity, but the first true value is {data.y[0]!r}"
            )
        y = data.y.astype(np.float64)
        errors = np.asarray(model.estimator.predict(X), dtype=np.float64) - y
        found = distribution(model.estimator, X)
        if found is None:
            return y, errors, None, ()
        ends = [found.interval(level) for level in _LEVELS]
        inside = [int(np.count_nonzero((low <= y) & (y <= high))) for low, high in ends]
        return y, errors, found.logpdf(y), tuple(inside)

    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """The errors, and the coverage of the intervals."""
        truths, all_errors, densities, insides = zip(*pieces, strict=True)
        truth, errors = np.concatenate(truths), np.concatenate(all_errors)
        n, squares = len(truth), float((errors**2).sum())
        spread = float(((truth - truth.mean()) ** 2).sum())
        rmse, mae = float(np.sqrt(squares / n)), float(np.abs(errors).mean())
        r2 = 1 - squares / spread if spread else float("nan")
        rows: list[tuple[Any, ...]] = [
            ("rows", n), ("RMSE", rmse), ("mean absolute error", mae), ("R2", r2)
        ]  # fmt: skip
        lines = [f"{n} rows, RMSE {rmse:.6g}, mean absolute error {mae:.6g}, R2 {r2:.4f}"]
        density, coverage = None, []
        if densities[0] is not None:
            density = float(np.concatenate(densities).mean())
            rows.append(("log predictive density", density))
            lines.append(f"log predictive density {density:.4f} per row")
            shares = (np.sum(insides, axis=0) / n).tolist()
            for level, share in zip(_LEVELS, shares, strict=True):
                coverage.append({"level": level, "observed": share})
                rows.append((f"in the {100 * level:g} % interval", share))
                lines.append(f"{100 * share:.1f} % of the rows in their {100 * level:g} % interval")
        record = {"n_rows": n, "rmse": rmse, "mae": mae, "r2": r2, "log_density": density,
                  "coverage": coverage}  # fmt: skip
        return Scores("\n".join(lines), record, ("figure", "value"), rows)


def _band(mean: Floats, low: Floats, high: Floats, y: npt.NDArray[Any]) -> Band:
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
