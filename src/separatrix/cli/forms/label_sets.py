"""Models that predict a set of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.cli import scoring
from separatrix.cli.forms.base import Form, last_step
from separatrix.cli.options import Format
from separatrix.data import Dataset, LabelSets
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.metric import METRICS
from separatrix.experiment.set_parts import label_report
from separatrix.multilabel import label_sets
from separatrix.report.parts import ClassReport

__all__ = ["LabelSetForm", "SetScores"]


class LabelSetForm(Form):
    """A set of labels for every row."""

    def _said(self, X: Any) -> LabelSets:
        """Predictions as sets with the labels of the model, whatever form it was fitted on."""
        found = label_sets(self.estimator.predict(X))
        if last_step(self.estimator).form_ == "sets":
            return found
        classes = self.saved.classes
        return LabelSets(classes[found.labels.astype(np.intp)], found.offsets, classes)

    def predictor(
        self, proba: bool, level: float
    ) -> tuple[Sequence[str], Callable[[Any, Dataset], list[Any]]]:
        """The labels, and with `proba` the probability of every label."""
        estimator = self.estimator
        if not proba:
            return ("prediction",), lambda X, _: [(list(labels),) for labels in self._said(X)]
        if not hasattr(estimator, "predict_proba"):
            raise ParameterError(
                f"--proba needs a model with probabilities, and a {last_step(estimator).learner} "
                "of label sets has none"
            )

        def shares(X: Any, data: Dataset) -> list[Any]:
            likely = estimator.predict_proba(X).tolist()
            return [(list(labels), *row) for labels, row in zip(self._said(X), likely, strict=True)]

        names = [f"P({_word(label)})" for label in self.saved.classes.tolist()]
        return ("prediction", *names), shares

    def parts(
        self, headings: Sequence[str], blocks: Iterable[list[Any]], format: Format | None
    ) -> Iterator[str]:
        """Labels with commas between them; in JSON lines a list."""
        if format is Format.jsonl:
            return super().parts(headings, blocks, format)
        joined = ([(",".join(map(_word, row[0])), *row[1:]) for row in block] for block in blocks)
        return super().parts(headings, joined, format)

    def piece(self, X: Any, data: Dataset, truth: Any) -> tuple[LabelSets, LabelSets]:
        """Label sets, true and predicted."""
        if not isinstance(truth, LabelSets):
            raise DataError(f"{data.source}: there are no sets of labels")
        labels = scoring.match_labels(truth.labels, self.saved.classes)
        return LabelSets(labels, truth.offsets), self._said(X)

    def scores(self, pieces: Sequence[Any]) -> SetScores:
        """The share of whole sets and of wrong labels, the mean F1, and every label."""
        truth, said = pieces[0]
        for more, others in pieces[1:]:
            truth, said = truth.joined(more), said.joined(others)
        strange = sorted(set(truth.labels.tolist()) - set(self.saved.classes.tolist()), key=str)
        if strange:
            # Labels of different kinds cannot be sorted; as words they can.
            truth, said = (
                LabelSets(one.labels.astype(str), one.offsets, one.classes.astype(str))
                for one in (truth, said)
            )
        figures = {
            name: METRICS[name](None, None, truth, said)
            for name in ("subset_accuracy", "hamming_loss", "example_f1")
        }
        return SetScores(len(truth), **figures, report=label_report(truth, said), strange=strange)


def _word(label: Any) -> str:
    """A label as svmlight files write it: 3, not 3.0."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


@dataclass(frozen=True, eq=False)
class SetScores:
    """Figures of predicted label sets; prints itself.

    Attributes
    ----------
    n_rows : int
    subset_accuracy, hamming_loss, example_f1 : float
        Share of the whole sets that are right, share of the labels that are wrong, and mean F1 of
        the rows (one where both sets are empty).
    report : ClassReport
        Precision, recall and F1 of each label.
    strange : list
        Labels in the file that the model does not know.
    """

    n_rows: int
    subset_accuracy: float
    hamming_loss: float
    example_f1: float
    report: ClassReport
    strange: list[Any]

    @staticmethod
    def headings() -> tuple[str, ...]:
        """Headings of `rows`."""
        return ("label", "precision", "recall", "F1", "rows")

    def rows(self) -> list[tuple[Any, ...]]:
        """One row per label."""
        return [
            (one.label, one.precision, one.recall, one.f1, one.support)
            for one in self.report.classes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "n_rows": self.n_rows,
            "subset_accuracy": self.subset_accuracy,
            "hamming_loss": self.hamming_loss,
            "example_f1": self.example_f1,
            "labels": [dict(zip(self.headings(), row, strict=True)) for row in self.rows()],
            "unknown_labels": self.strange,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.n_rows} rows",
            f"share of whole label sets {self.subset_accuracy:.4f}",
            f"share of wrong labels {self.hamming_loss:.4f}",
            f"mean F1 of the rows {self.example_f1:.4f}",
        ]
        if self.strange:
            named = ", ".join(map(str, self.strange[:5])) + ", …" * (len(self.strange) > 5)
            lines.append(f"labels that the model does not know, counted as mistakes: {named}")
        width = max(len("label"), *(len(row[0]) for row in self.rows()))
        heads = "  ".join(head.rjust(9) for head in self.headings()[1:])
        lines += ["", f"{'label'.ljust(width)}  {heads}"]
        for name, *values, support in self.rows():
            cells = "  ".join(f"{value:9.4f}" for value in values)
            lines.append(f"{name.ljust(width)}  {cells}  {support:9d}")
        return "\n".join(lines)
