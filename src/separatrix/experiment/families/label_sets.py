"""Tasks whose target is a set of labels for every row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, LabelSets
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.families.base import Family
from separatrix.experiment.findings import columns_of, duplicates, missing_values
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import METRICS, Metric, find_metric
from separatrix.experiment.rows import Rows, row_text
from separatrix.experiment.set_parts import label_report, pair_part, shown_set
from separatrix.explanation import see_through
from separatrix.registry import Learner
from separatrix.report.parts import Findings, Mistake, Mistakes, Part, Profile

if TYPE_CHECKING:
    from separatrix.experiment.testing import Finalist

__all__ = ["Sets"]

#: What a prediction is to be best for, by metric.
_DECISIONS = {"subset_accuracy": "subset", "hamming_loss": "hamming", "example_f1": "f1"}
#: Labels that are named in a remark, and mistakes that are shown.
_NAMED, _SHOWN = 5, 12


class Sets(Family):
    """A set of labels for every row."""

    title = "a learning of label sets"
    evenly = "stratified by the rarest label of a row"

    def metric(self, name: str, y: Any, cost: npt.NDArray[np.float64] | None) -> Metric:
        """The metric called `name`, or the share of whole sets."""
        return find_metric(name, "label sets", "subset_accuracy", cost)

    def suits(self, learner: Learner, y: Any) -> bool:
        """Whether there are not too many labels for it."""
        return learner.most_labels is None or len(y.classes) <= learner.most_labels

    def adapted(self, learner: Learner, metric: Metric) -> Learner:
        """Predictions are those that are best for the metric, where there are probabilities."""
        given = dict(learner.params)
        if given.get("learner", "crf") != "crf":
            return learner
        decision = ("decision", _DECISIONS[metric.name])
        return replace(learner, params=(*learner.params, decision))

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """The number of the rarest label of a row; rows without labels are a stratum too."""
        matrix = y.matrix().toarray()
        order = np.argsort(matrix.sum(axis=0), kind="stable")
        ranked = matrix[:, order]
        first = ranked.argmax(axis=1)
        codes = np.where(ranked.any(axis=1), first + 1, 0)
        return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Rows need label sets; labels that are not among the train labels are remarked upon."""
        where = found.source or "the data"
        if not isinstance(found.y, LabelSets):
            raise DataError(f"{where}: the {part} rows have no sets of labels")
        strange = sorted(set(found.y.labels.tolist()) - set(train.y.labels.tolist()), key=str)
        if not strange:
            return ()
        named = ", ".join(map(str, strange[:_NAMED])) + ", …" * (len(strange) > _NAMED)
        if len(strange) == len(set(found.y.labels.tolist())):
            raise DataError(
                f"{where}: none of the labels of the {part} rows is among the train labels "
                f"({named}); is {train.target_name!r} the right target?"
            )
        odd = set(strange)
        n_rows = sum(not odd.isdisjoint(labels) for labels in found.y)
        return (
            f"{n_rows} of the {part} rows have labels that no train row has ({named}): no learner "
            "can get them right.",
        )

    def check_previous(self, model: Any, y: Any) -> None:
        """It must predict label sets."""
        if type(see_through(model)[1]).__name__ not in ("MultiLabel", "FrequentLabels"):
            raise ParameterError("the previous model predicts no label sets: that is another task")

    def check_calibration(self, method: str, y: Any) -> None:
        """There is none."""
        if method not in ("auto", "none"):
            raise ParameterError(f"{method} calibration is for classes, but this is {self.title}")

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The labels."""
        classes: npt.NDArray[Any] = y.classes
        return classes

    def complete(self, some: Any, y: Any) -> bool:
        """Whether there is a label at all."""
        return len(some.labels) > 0

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"sets of {n_labels} labels"

    def others(self, y: Any, said: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The other ways to count what is right."""
        found = [METRICS[name] for name in _DECISIONS if name != metric.name]
        return tuple((one.title, one(None, None, y, said)) for one in found)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns, and how many rows have every label."""
        labels, counts = np.unique(data.y.labels, return_counts=True)
        pairs = sorted(zip(map(str, labels), map(int, counts), strict=True), key=lambda c: -c[1])
        return Profile(len(data), columns_of(data, inputs), tuple(pairs))

    def findings(self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows) -> Findings:
        """Duplicates and missing values."""
        found = (*duplicates(train, held_out, test), *missing_values(train))
        return Findings(found, ("rows that stand in two splits", "missing values"))

    def parts(
        self,
        champion: Finalist,
        inputs: Inputs,
        test: Dataset,
        said: Any,
        cost: npt.NDArray[np.float64] | None,
    ) -> tuple[Part, ...]:
        """Scores of every label, mistakes, and which labels attract each other."""
        model = champion.model
        parts: list[Part] = [
            label_report(test.y, said),
            _mistakes(model, test, inputs, said),
        ]
        pairs = pair_part(model, champion.row.learner)
        return (*parts, pairs) if pairs is not None else tuple(parts)


def _mistakes(model: Any, test: Dataset, inputs: Inputs, said: LabelSets) -> Mistakes:
    """Wrong sets, the surest first; of models without probabilities those of the most mistakes."""
    wrong = np.array([len(set(a) ^ set(b)) for a, b in zip(test.y, said, strict=True)])
    rows = np.flatnonzero(wrong)
    X = inputs.take(test)
    sure, truth = (_shares(model, X, sets) for sets in (said, test.y))
    order = -wrong[rows] if np.isnan(sure).all() else -sure[rows]
    rows = rows[np.argsort(order, kind="stable")]
    found = []
    for row in rows[:_SHOWN].tolist():
        text, picture = row_text(test, inputs, row)
        names = shown_set(test.y[row]), shown_set(said[row])
        chances = float(sure[row]), float(truth[row])
        found.append(Mistake(f"test row {row}", text, *names, *chances, picture))
    return Mistakes(tuple(found), len(rows), len(said))


def _shares(model: Any, X: Any, sets: LabelSets) -> npt.NDArray[np.float64]:
    """p(set | x) of every row, zero where it has labels that the model does not know; else NaN."""
    steps, learner = see_through(model)
    if not hasattr(learner, "predict_set_log_proba"):
        return np.full(len(sets), np.nan)
    for step in steps:
        X = step.transform(X)
    known = np.isin(sets.labels, learner.classes_)
    strange = np.add.reduceat(np.append(~known, False), sets.offsets[:-1]) > 0
    strange &= np.diff(sets.offsets) > 0
    rows = np.flatnonzero(~strange)
    shares: npt.NDArray[np.float64] = np.zeros(len(sets))
    if len(rows):
        shares[rows] = np.exp(learner.predict_set_log_proba(X[rows], sets.take(rows)))
    return shares
