"""A set of labels for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import precision_recall_fscore_support

from separatrix.data import Dataset, LabelSets
from separatrix.errors import DataError
from separatrix.explanation import see_through
from separatrix.learners.multilabel import label_sets, read_sets
from separatrix.metrics import Averages, ClassReport, Metric
from separatrix.registry import Learner
from separatrix.report import parts as shown
from separatrix.report.parts import Finding, Part, Profile
from separatrix.tasks.classes import class_rows, match_labels
from separatrix.tasks.findings import columns_of, common_findings
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.reasons import explanations
from separatrix.tasks.rows import Rows, row_text
from separatrix.tasks.task import Champion, Fitted, Options, Scores, Task, TestRows, listed

__all__ = ["SetsOfLabels", "set_counts", "set_report"]

Floats = npt.NDArray[np.float64]

#: What a prediction is to be best for, by metric.
_DECISIONS = {"subset_accuracy": "subset", "hamming_loss": "hamming", "example_f1": "f1"}
#: Mistakes that a report shows, predictions that it explains, pairs of labels at either end.
_SHOWN, _EXPLAINED, _TOP = 12, 4, 12


def set_counts(predictions: Any, y: Any) -> Floats:
    """For every row the labels that are right, true and predicted, and those there are; (n, 4).

    Examples
    --------
    >>> set_counts(LabelSets.of([("a",), ()]), LabelSets.of([("a", "b"), ()])).tolist()
    [[1.0, 2.0, 1.0, 2.0], [0.0, 0.0, 0.0, 2.0]]
    """
    labels = np.union1d(y.classes, predictions.classes)
    true, found = y.matrix(labels), predictions.matrix(labels)
    sides = (true.multiply(found), true, found)
    counts = [np.asarray(side.sum(axis=1), dtype=np.float64).ravel() for side in sides]
    return np.stack([*counts, np.full(len(y), float(len(labels)))], axis=1)


def _whole_sets(predictions: Any, y: Any) -> Floats:
    right, true, found, _ = set_counts(predictions, y).T
    return np.asarray((right == true) & (right == found), dtype=np.float64)


def _wrong_labels(predictions: Any, y: Any) -> Floats:
    right, true, found, n_labels = set_counts(predictions, y).T
    return np.asarray((true + found - 2 * right) / n_labels, dtype=np.float64)


def _f1_of_sets(predictions: Any, y: Any) -> Floats:
    right, true, found, _ = set_counts(predictions, y).T
    # Of two empty sets it is one.
    values: Floats = np.ones_like(right)
    np.divide(2 * right, true + found, out=values, where=true + found > 0)
    return values


class SetsOfLabels(Task):
    """A set of labels for every row."""

    kind = "label_sets"
    names = ("label_sets",)
    title = "a learning of label sets"
    holds = "sets of labels"
    predicts = "a set of labels"
    evenly = "stratified by the rarest label of a row"
    metrics: ClassVar[dict[str, Metric]] = {
        metric.name: metric
        for metric in (
            Metric("subset_accuracy", "share of whole label sets", judge=_whole_sets, percent=True),
            Metric(
                "hamming_loss", "share of wrong labels", False, judge=_wrong_labels, percent=True
            ),
            Metric("example_f1", "mean F1 of the rows", judge=_f1_of_sets, percent=True),
        )
    }

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """Lists of labels."""
        if not isinstance(data.y, LabelSets):
            return None
        # The same checks that the learners make, with the row in the message.
        labels = read_sets(data.y, len(data.y))[1]
        name = repr(data.target_name) if data.target_name else "the target"
        return cls("label_sets", f"{name} holds sets of {len(labels)} labels")

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"sets of {n_labels} labels"

    def complete(self, some: Any, y: Any) -> bool:
        """Whether there is a label at all."""
        return len(some.labels) > 0

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """The number of the rarest label of a row; rows without labels are a stratum too."""
        matrix = y.matrix().toarray()
        ranked = matrix[:, np.argsort(matrix.sum(axis=0), kind="stable")]
        codes = np.where(ranked.any(axis=1), ranked.argmax(axis=1) + 1, 0)
        return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Rows need label sets; labels that are not among the train labels are remarked upon."""
        if not isinstance(found.y, LabelSets):
            where = found.source or "the data"
            raise DataError(f"{where}: the {part} rows have no sets of labels")

        def n_rows(odd: set[Any]) -> int:
            return sum(not odd.isdisjoint(labels) for labels in found.y)

        occurring = replace(found, y=LabelSets(found.y.labels, found.y.offsets))
        known = replace(train, y=LabelSets(train.y.labels, train.y.offsets))
        return self.unknown_labels(part, occurring, known, "rows", n_rows)

    # -- the experiment --------------------------------------------------------------------------

    def suits(self, learner: Learner, rows: Rows) -> bool:
        """Whether there are not too many labels for it."""
        return learner.most_labels is None or len(rows.y.classes) <= learner.most_labels

    def adapted(self, learner: Learner, metric: Metric) -> Learner:
        """Predictions are those that are best for the metric, where there are probabilities."""
        if dict(learner.params).get("learner", "crf") != "crf":
            return learner
        decision = ("decision", _DECISIONS[metric.name])
        return replace(learner, params=(*learner.params, decision))

    def check_previous(self, model: Any, y: Any) -> None:
        """It need not know all labels."""
        super().check_previous(model, LabelSets.of([()]))

    def others(self, y: Any, predictions: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The other ways to count what is right."""
        found = [one for name, one in self.metrics.items() if name != metric.name]
        return tuple((one.title, one(None, None, y, predictions)) for one in found)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns, and how many rows have every label."""
        labels, counts = np.unique(data.y.labels, return_counts=True)
        pairs = sorted(zip(map(str, labels), map(int, counts), strict=True), key=lambda c: -c[1])
        return Profile(len(data), columns_of(data, inputs), tuple(pairs))

    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """What all tables may have."""
        return common_findings(inputs, train, held_out, test)

    def parts(
        self, champion: Champion, inputs: Inputs, test: Dataset, prepared: TestRows,
        predictions: Any, cost: Floats | None,
    ) -> tuple[Part, ...]:  # fmt: skip
        """Scores of every label, mistakes, sums behind rows, and labels that attract each other."""
        rows = np.arange(min(_EXPLAINED, len(test)))
        parts: tuple[Part | None, ...] = (
            shown.PerClass.of(set_report(test.y, predictions)),
            _mistakes(prepared(champion.model), test, inputs, predictions),
            _pairs(champion.model, champion.learner),
            explanations(
                self, champion.model, champion.learner, inputs, test, prepared.X, predictions, rows
            ),
        )
        return tuple(part for part in parts if part is not None)

    # -- predictions -----------------------------------------------------------------------------

    def offers(self, model: Fitted) -> dict[str, str]:
        """The probability of every label, and the most probable ones."""
        how = getattr(model.learner, "learner", model.learner_name)
        none = f"a {how} of label sets has no probabilities"
        chances = "" if hasattr(model.estimator, "predict_proba") else none
        costs = "is for classes, and this model predicts sets of labels"
        weights = f"{model.learner_name} has no weights"
        return {
            "probabilities": chances, "top": chances, "cost": costs, "reject": costs,
            "explain": "" if hasattr(model.learner, "explain_set") else weights,
            "level": "is for quantities, and this model predicts sets of labels",
        }  # fmt: skip

    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """Label sets, and probabilities of the labels where they are wanted."""
        needed = any(one.probabilities or one.top for one in options)
        return _sets(model, X), model.estimator.predict_proba(X) if needed else None

    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """The labels, the probability of every label, and the most probable ones."""
        sets, chances = found
        classes = model.classes.tolist()  # type: ignore[union-attr]
        answers: list[dict[str, Any]] = [{"labels": list(labels)} for labels in sets[rows]]
        if chances is not None:
            for answer, row in zip(answers, np.asarray(chances[rows]).tolist(), strict=True):
                if options.probabilities:
                    answer["probabilities"] = row
                if options.top is not None:
                    best = np.argsort(-np.array(row), kind="stable")[: options.top].tolist()
                    answer["top"] = [{"label": classes[k], "probability": row[k]} for k in best]
        return answers

    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """The labels as lists, then a column per label."""
        sets, chances = found
        table: dict[str, Any] = {"labels": [list(labels) for labels in sets[rows]]}
        if options.probabilities:
            for at, label in enumerate(model.classes.tolist()):  # type: ignore[union-attr]
                whole = isinstance(label, float) and label.is_integer()
                table[f"P({int(label) if whole else label})"] = chances[rows, at]
        return table

    def words(self, prediction: Any) -> str:
        """A label set in words.

        Examples
        --------
        >>> SetsOfLabels("label_sets").words(("beach", "sea")), SetsOfLabels("").words(())
        ('beach, sea', '(none)')
        """
        return ", ".join(map(str, prediction)) or "(none)"

    def wanted_by_page(self, model: Fitted) -> dict[str, Any]:
        """The most probable labels."""
        ranked = {"top": min(8, len(model.classes))}  # type: ignore[arg-type]
        return super().wanted_by_page(model) | (ranked if not self.offers(model)["top"] else {})

    # -- scores ----------------------------------------------------------------------------------

    def piece(self, model: Fitted, X: Any, data: Dataset) -> tuple[LabelSets, LabelSets]:
        """Label sets, true and predicted."""
        if not isinstance(data.y, LabelSets):
            raise DataError(f"{data.source}: there are no sets of labels")
        labels = match_labels(data.y.labels, model.classes)  # type: ignore[arg-type]
        return LabelSets(labels, data.y.offsets), _sets(model, X)

    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """The share of whole sets and of wrong labels, the mean F1, and every label."""
        truth, predictions = (
            reduce(lambda a, b: a.joined(b), side) for side in zip(*pieces, strict=True)
        )
        known = set(model.classes.tolist())  # type: ignore[union-attr]
        unknown = sorted(set(truth.labels.tolist()) - known, key=str)
        if unknown:
            # Labels of different kinds cannot be sorted; as words they can.
            truth, predictions = (
                LabelSets(one.labels.astype(str), one.offsets, one.classes.astype(str))
                for one in (truth, predictions)
            )
        figures = {
            name: metric(None, None, truth, predictions) for name, metric in self.metrics.items()
        }
        headings = ("label", "precision", "recall", "F1", "rows")
        rows = [(str(name), *rest) for name, *rest in class_rows(set_report(truth, predictions))]
        lines = [f"{len(truth)} rows"]
        lines += [f"{self.metrics[name].title} {value:.4f}" for name, value in figures.items()]
        if unknown:
            told = "labels that the model does not know, counted as mistakes"
            lines.append(f"{told}: {listed(unknown)}")
        width = max(len("label"), *(len(row[0]) for row in rows))
        heads = "  ".join(head.rjust(9) for head in headings[1:])
        lines += ["", f"{'label'.ljust(width)}  {heads}"]
        for name, *values, support in rows:
            cells = "  ".join(f"{value:9.4f}" for value in values)
            lines.append(f"{name.ljust(width)}  {cells}  {support:9d}")
        record = {
            "n_rows": len(truth),
            **figures,
            "labels": [dict(zip(headings, row, strict=True)) for row in rows],
            "unknown_labels": unknown,
        }
        return Scores("\n".join(lines), record, headings, rows)


def _sets(model: Fitted, X: Any) -> LabelSets:
    """Predictions as sets with the labels of the model, whatever form it was fitted on."""
    found = label_sets(model.estimator.predict(X))
    if model.learner.form_ == "sets":
        return found
    classes = model.classes
    assert classes is not None
    return LabelSets(classes[found.labels.astype(np.intp)], found.offsets, classes)


def set_report(y: LabelSets, predictions: LabelSets) -> ClassReport:
    """Precision, recall and F1 of every label, and their averages."""
    labels = np.union1d(y.classes, predictions.classes)
    true, found = y.matrix(labels), predictions.matrix(labels)

    def average(how: str | None) -> Any:
        return precision_recall_fscore_support(true, found, average=how, zero_division=0)

    means = [
        Averages(*(float(value) for value in average(how)[:3]))
        for how in ("macro", "weighted", "micro")
    ]
    right = float(_whole_sets(predictions, y).mean())
    precision, recall, f1, support = average(None)
    return ClassReport(labels, precision, recall, f1, support, means[0], means[1], right, means[2])


def _mistakes(
    prepared: tuple[Any, Any], test: Dataset, inputs: Inputs, predictions: LabelSets
) -> shown.Mistakes:
    """Wrong sets, the surest first; of models without probabilities those of the most mistakes."""
    wrong = np.array([len(set(a) ^ set(b)) for a, b in zip(test.y, predictions, strict=True)])
    rows = np.flatnonzero(wrong)
    sure, truth = (_chances(*prepared, sets) for sets in (predictions, test.y))
    order = -wrong[rows] if np.isnan(sure).all() else -sure[rows]
    rows = rows[np.argsort(order, kind="stable")]
    found = []
    for row in rows[:_SHOWN].tolist():
        text, picture = row_text(test, inputs, row)
        names = [", ".join(map(str, sets[row])) or "(none)" for sets in (test.y, predictions)]
        own = float(sure[row]), float(truth[row])
        found.append(shown.Mistake(f"test row {row}", text, names[0], names[1], *own, picture))
    return shown.Mistakes(tuple(found), len(rows), len(predictions))


def _chances(model: Any, X: Any, sets: LabelSets) -> Floats:
    """p(set | x) of every row, zero where it has labels that the model does not know; else NaN."""
    steps, learner = see_through(model)
    if not hasattr(learner, "log_likelihood"):
        return np.full(len(sets), np.nan)
    for step in steps:
        X = step.transform(X)
    unknown = ~np.isin(sets.labels, learner.classes_)
    odd = np.add.reduceat(np.append(unknown, False), sets.offsets[:-1]) > 0
    rows = np.flatnonzero(~(odd & (np.diff(sets.offsets) > 0)))
    chances: Floats = np.zeros(len(sets))
    if len(rows):
        chances[rows] = np.exp(learner.log_likelihood(X[rows], sets.take(rows)))
    return chances


def _pairs(model: Any, learner: str) -> shown.Weights | None:
    """The pairs of labels that attract or repel each other most; None where there are none."""
    final = see_through(model)[1]
    if not hasattr(final, "pair_weights_") or not len(final.pair_weights_):
        return None
    values, edges = final.pair_weights_, final.edges_
    order = np.argsort(-values, kind="stable")
    chosen = order if len(order) <= 2 * _TOP else np.concatenate([order[:_TOP], order[-_TOP:]])
    names = [" + ".join(str(label) for label in final.classes_[edges[at]]) for at in chosen]
    return shown.Weights(
        learner,
        (shown.ClassWeights("pairs of labels", tuple(names), values[chosen]),),
        positive="speaks for both labels together",
        negative="speaks against it",
        note="beyond what the features say about either label",
    )
