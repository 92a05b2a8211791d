"""Tasks whose target is one of several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor

from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.calibrating import check_folds
from separatrix.experiment.costs import read_costs
from separatrix.experiment.explaining import explanations
from separatrix.experiment.families.base import Family
from separatrix.experiment.findings import (
    alone_class,
    columns_of,
    duplicates,
    imbalance,
    leaks,
    missing_values,
)
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import Metric, find_metric
from separatrix.experiment.rows import Rows, row_text
from separatrix.experiment.weights import weights_part
from separatrix.metrics import calibration_bins, confusion_matrix, log_loss, per_class_report
from separatrix.report.parts import (
    Calibration,
    ClassReport,
    ClassScores,
    Confusion,
    CostMatrix,
    Findings,
    Mistake,
    Mistakes,
    Part,
    Profile,
    Reliability,
)
from separatrix.validation import check_cost

if TYPE_CHECKING:
    from separatrix.experiment.testing import Finalist

__all__ = ["Classes"]

#: Mistakes that are shown.
_SHOWN = 12
#: Right and wrong predictions that are explained.
_EXPLAINED = 2


class Classes(Family):
    """One class for every row."""

    title = "a classification"
    calibrates = True

    def metric(self, name: str, y: Any, cost: npt.NDArray[np.float64] | None) -> Metric:
        """The metric called `name`, or the cost where there is one, or the accuracy."""
        return find_metric(name, "classes", "accuracy", cost)

    def cost(self, source: Any, y: Any, reason: str) -> npt.NDArray[np.float64] | None:
        """The matrix of costs, given as such or as a file."""
        if source is None:
            return None
        classes = np.unique(y)
        if isinstance(source, np.ndarray | list | tuple):
            return check_cost(np.asarray(source), len(classes))
        return read_costs(source, classes)

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """Numbers of the classes."""
        return np.asarray(np.unique(y, return_inverse=True)[1], dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Every class must be among the train rows."""
        strange = sorted(set(found.y.tolist()) - set(train.y.tolist()), key=str)
        if strange:
            raise DataError(
                f"{found.source or 'the data'}: class {strange[0]!r} is among the {part} rows, but "
                f"not among the train rows ({rule}); leave it out, or split in another way"
            )
        return ()

    def check_previous(self, model: Any, y: Any) -> None:
        """It must know all classes."""
        if is_regressor(model):
            raise ParameterError("the previous model predicts quantities, which is another task")
        strange = sorted(set(y.tolist()) - set(np.asarray(model.classes_).tolist()), key=str)
        if strange:
            raise ParameterError(f"the previous model does not know class {strange[0]!r}")

    def check_calibration(self, method: str, y: Any) -> None:
        """Isotonic calibration needs rows of every class in every fold."""
        if method == "isotonic":
            check_folds(y)

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The classes."""
        return np.unique(y)

    def complete(self, some: Any, y: Any) -> bool:
        """Whether every class is there."""
        return len(np.unique(some)) == len(np.unique(y))

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"classification into {n_labels} classes"

    def others(self, y: Any, said: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The accuracy, where another metric decided."""
        return () if metric.name == "accuracy" else (("accuracy", float(np.mean(said == y))),)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns, and how many rows every class has."""
        labels, counts = np.unique(data.y, return_counts=True)
        classes = sorted(zip(map(str, labels), map(int, counts), strict=True), key=lambda c: -c[1])
        return Profile(len(data), columns_of(data, inputs), tuple(classes))

    def findings(self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows) -> Findings:
        """Duplicates, leak suspects, missing values and rare classes."""
        told = "tells the class of {share} of the held-out rows"
        found = (
            *duplicates(train, held_out, test),
            *leaks(inputs, train, held_out, alone_class, told),
            *missing_values(train),
            *imbalance(train.y),
        )
        checks = ("rows that stand in two splits", "columns that alone tell the target")
        return Findings(found, (*checks, "rare classes", "missing values"))

    def parts(
        self,
        champion: Finalist,
        inputs: Inputs,
        test: Dataset,
        said: Any,
        cost: npt.NDArray[np.float64] | None,
    ) -> tuple[Part, ...]:
        """Confusion, per-class scores, mistakes, calibration and weights of the champion."""
        model, plain, learner = champion.model, champion.plain, champion.row.learner
        X, y = inputs.take(test), test.y
        classes = model.classes_
        names = tuple(str(label) for label in classes)
        parts: list[Part] = [
            Confusion(names, confusion_matrix(y, said, labels=classes)),
            _class_report(y, said),
        ]
        shares = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        parts.append(_mistakes(test, inputs, y, said, shares, classes))
        if shares is not None:
            parts.append(_calibration(plain, shares, X, y, classes, champion.calibration))
        if cost is not None:
            parts.append(CostMatrix(names, names, cost))
        wrong = np.flatnonzero(said != y)[:_EXPLAINED]
        right = np.flatnonzero(said == y)[: 2 * _EXPLAINED - len(wrong)]
        optional = (
            weights_part(plain, learner, inputs, test),
            explanations(model, learner, inputs, test, said, np.concatenate([wrong, right])),
        )
        return (*parts, *(part for part in optional if part is not None))


def _class_report(y: npt.NDArray[Any], said: npt.NDArray[Any]) -> ClassReport:
    found = per_class_report(y, said)
    total = int(found.support.sum())
    classes = zip(found.labels, found.precision, found.recall, found.f1, found.support, strict=True)
    averages = (("macro average", found.macro), ("weighted average", found.weighted))
    return ClassReport(
        tuple(
            ClassScores(str(c), float(p), float(r), float(f), int(s)) for c, p, r, f, s in classes
        ),
        tuple(ClassScores(name, a.precision, a.recall, a.f1, total) for name, a in averages),
    )


def _mistakes(
    test: Dataset,
    inputs: Inputs,
    y: npt.NDArray[Any],
    said: npt.NDArray[Any],
    shares: npt.NDArray[np.float64] | None,
    classes: npt.NDArray[Any],
) -> Mistakes:
    wrong = np.flatnonzero(said != y)
    if shares is not None:
        sure = shares[wrong, np.searchsorted(classes, said[wrong])]
        wrong = wrong[np.argsort(-sure, kind="stable")]
    found = []
    for row in wrong[:_SHOWN]:
        text, picture = row_text(test, inputs, int(row))
        confidence = truth = float("nan")
        if shares is not None:
            confidence = float(shares[row, np.searchsorted(classes, said[row])])
            truth = float(shares[row, np.searchsorted(classes, y[row])])
        found.append(
            Mistake(
                f"test row {row}", text, str(y[row]), str(said[row]), confidence, truth, picture
            )
        )
    return Mistakes(tuple(found), len(wrong), len(y))


def _calibration(
    plain: Any,
    shares: npt.NDArray[np.float64],
    X: Any,
    y: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    words: str,
) -> Calibration:
    curves = []
    before = plain.predict_proba(X) if hasattr(plain, "predict_proba") else None
    if before is not None and not np.array_equal(before, shares):
        curves.append(("before calibration", before))
        curves.append(("after calibration", shares))
    else:
        curves.append(("probabilities", shares))
    return Calibration(
        tuple(_reliability(name, held, y, classes) for name, held in curves), method=words
    )


def _reliability(
    name: str, shares: npt.NDArray[np.float64], y: npt.NDArray[Any], classes: npt.NDArray[Any]
) -> Reliability:
    bins = calibration_bins(y, shares, labels=classes, n_bins=10)
    loss = float(log_loss(y, shares, labels=classes))
    return Reliability(name, bins.confidence, bins.frequency, bins.mass, bins.error, loss)
