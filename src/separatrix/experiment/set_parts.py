"""What a report shows of label sets: scores of every label, and pairs of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from separatrix.data import LabelSets
from separatrix.explanation import see_through
from separatrix.report.parts import ClassReport, ClassScores, ClassWeights, Weights

__all__ = ["label_report", "pair_part", "shown_set"]

#: Pairs of labels that are shown, at either end.
_TOP = 12


def shown_set(labels: Sequence[Any]) -> str:
    """A label set in words.

    Examples
    --------
    >>> shown_set(("beach", "sea")), shown_set(())
    ('beach, sea', '(none)')
    """
    return ", ".join(map(str, labels)) or "(none)"


def label_report(y: LabelSets, said: LabelSets) -> ClassReport:
    """Precision, recall and F1 of every label, and their averages."""
    labels = np.union1d(y.classes, said.classes)
    true, found = y.matrix(labels), said.matrix(labels)
    columns = precision_recall_fscore_support(true, found, average=None, zero_division=0)
    rows = zip(labels.tolist(), *(column.tolist() for column in columns), strict=True)
    averages = []
    for average in ("micro", "macro"):
        p, r, f, _ = precision_recall_fscore_support(true, found, average=average, zero_division=0)
        name = f"{average} average"
        averages.append(ClassScores(name, float(p), float(r), float(f), int(true.sum())))
    return ClassReport(
        tuple(ClassScores(str(name), p, r, f, int(n)) for name, p, r, f, n in rows),
        tuple(averages),
    )


def pair_part(model: Any, learner: str) -> Weights | None:
    """The pairs of labels that attract or repel each other most; None where there are none."""
    final = see_through(model)[1]
    if not hasattr(final, "pair_weights_") or not len(final.pair_weights_):
        return None
    values, edges = final.pair_weights_, final.edges_
    order = np.argsort(-values, kind="stable")
    chosen = order if len(order) <= 2 * _TOP else np.concatenate([order[:_TOP], order[-_TOP:]])
    names = [" + ".join(str(label) for label in final.classes_[edges[at]]) for at in chosen]
    return Weights(
        learner,
        (ClassWeights("pairs of labels", tuple(names), values[chosen]),),
        positive="speaks for both labels together",
        negative="speaks against it",
        note="beyond what the features tell of either label",
    )
