"""Tasks whose target is a label for every token of a sequence: tagging."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, TokenColumn, TokenSequences
from separatrix.errors import DataError, ParameterError
from separatrix.experiment.families.base import Family
from separatrix.experiment.findings import alone_class, column_of, duplicates, leaks
from separatrix.experiment.inputs import Inputs
from separatrix.experiment.metric import METRICS, Metric, find_metric
from separatrix.experiment.preparation import Preparation
from separatrix.experiment.rows import Rows
from separatrix.experiment.sentences import sentence_parts
from separatrix.experiment.tokens import choose_templates
from separatrix.explanation import see_through
from separatrix.registry import LEARNERS
from separatrix.report.parts import Findings, Part, Profile

if TYPE_CHECKING:
    from separatrix.experiment.testing import Finalist

__all__ = ["Sequences", "check_token_labels", "tell_chunks"]

_CHUNK = re.compile(r"[BIES](-.+)?|O")
#: Labels that are named in a remark.
_NAMED = 5


def tell_chunks(labels: npt.NDArray[Any]) -> bool:
    """Whether labels are those of chunks: BIO, IOB or BIOES.

    Examples
    --------
    >>> tell_chunks(np.array(["B-NP", "I-NP", "O"])), tell_chunks(np.array(["NOUN", "VERB"]))
    (True, False)
    """
    begun = any(str(label)[:1] in ("B", "I") for label in labels)
    return begun and all(_CHUNK.fullmatch(str(label)) for label in labels)


def check_token_labels(data: Dataset) -> None:
    """Raise DataError where a token has no label."""
    y: TokenColumn = data.y
    names = y.vocabulary[:]
    blank = [code for code, name in enumerate(names) if not name.strip()]
    if data.target_name == "upos":
        blank += [code for code, name in enumerate(names) if name == "_"]
    missing = np.flatnonzero(np.isin(y.codes, [-1, *blank]))
    if not len(missing):
        return
    sequence = int(np.searchsorted(y.offsets, missing[0], side="right")) - 1
    token = int(missing[0] - y.offsets[sequence])
    more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
    raise DataError(
        f"{data.source or 'the data'}: token {token} of sequence {sequence} (both from 0) has no "
        f"label in {data.target_name!r}{more}; leave such sequences out"
    )


class Sequences(Family):
    """One label for every token of a sequence."""

    title = "a tagging of sequences"
    units = "sequences"
    evenly = ""

    def metric(self, name: str, y: Any, cost: npt.NDArray[np.float64] | None) -> Metric:
        """The metric called `name`; "auto": chunk F1 where labels tell chunks, or accuracy."""
        chunks = tell_chunks(y.classes)
        if name == "chunk_f1" and not chunks:
            strange = next(label for label in y.classes if not _CHUNK.fullmatch(str(label)))
            raise ParameterError(
                f"chunk_f1 needs labels such as B-NP, I-NP and O; {str(strange)!r} is none"
            )
        return find_metric(name, "sequences", "chunk_f1" if chunks else "token_accuracy", cost)

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """All sequences are alike."""
        return np.zeros(len(y), dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Every token needs a label; one that is not among the train labels is remarked upon."""
        where = found.source or "the data"
        if not isinstance(found.y, TokenColumn):
            raise DataError(f"{where}: the {part} rows are no sequences of tokens")
        check_token_labels(found)
        strange = np.setdiff1d(found.y.classes, train.y.classes)
        if not len(strange):
            return ()
        named = ", ".join(map(str, strange[:_NAMED])) + ", …" * (len(strange) > _NAMED)
        if len(strange) == len(found.y.classes):
            raise DataError(
                f"{where}: none of the labels of the {part} sequences is among the train labels "
                f"({named}); is {train.target_name!r} the right target?"
            )
        n_tokens = int(np.isin(found.y.flat, strange.astype(object)).sum())
        return (
            f"{n_tokens} of the {part} tokens have labels that no train sequence has ({named}): "
            "no learner can get them right.",
        )

    def check_previous(self, model: Any, y: Any) -> None:
        """It must label tokens."""
        known = {one.target.partition(":")[2] for one in LEARNERS if "tagging" in one.tasks}
        if type(see_through(model)[1]).__name__ not in known:
            raise ParameterError("the previous model labels no sequences, which is another task")

    def check_calibration(self, method: str, y: Any) -> None:
        """There is none."""
        if method not in ("auto", "none"):
            raise ParameterError(f"{method} calibration is for classes, but this is {self.title}")

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The labels of tokens."""
        classes: npt.NDArray[Any] = y.classes
        return classes

    def preparation(
        self,
        templates: Any,
        inputs: Inputs,
        train: Dataset,
        held_out: Dataset,
        metric: Metric,
        seconds: float,
    ) -> Preparation:
        """Templates, as given or chosen by held-out score."""
        return choose_templates(templates, inputs, train, held_out, metric, seconds)

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"tagging of tokens with {n_labels} labels"

    def others(self, y: Any, said: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The other ways to count what is right."""
        names = ["chunk_f1"] * tell_chunks(y.classes) + ["token_accuracy", "sequence_accuracy"]
        found = [METRICS[name] for name in names if name != metric.name]
        return tuple((one.title, one(None, None, y, said)) for one in found)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns of the tokens, and how many tokens every label has."""
        why = dict(inputs.left_out)
        columns = tuple(
            column_of(name, column.flat, False, name in inputs.columns, why.get(name, ""))
            for name, column in data.X.columns.items()
        )
        y: TokenColumn = data.y
        counts = np.bincount(y.codes, minlength=len(y.vocabulary)).tolist()
        labels = sorted(zip(y.vocabulary, counts, strict=True), key=lambda one: -one[1])
        used = tuple((label, count) for label, count in labels if count)
        return Profile(len(data), columns, used, counted="tokens")

    def findings(self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows) -> Findings:
        """Sequences that stand in two splits, and columns that alone tell the labels."""
        told = "tells the label of {share} of the held-out tokens"
        names = inputs.columns
        parts = [_with_columns(rows, names) for rows in (train, held_out, test)]
        first, second = (
            Rows({name: rows.X.columns[name].flat for name in names}, rows.y.flat)
            for rows in parts[:2]
        )
        found = (
            *duplicates(parts[0], parts[1], parts[2], self.units, "Remove duplicates."),
            *leaks(inputs, first, second, alone_class, told),
        )
        checks = ("sequences that stand in two splits", "columns that alone tell the label")
        return Findings(found, checks)

    def parts(
        self,
        champion: Finalist,
        inputs: Inputs,
        test: Dataset,
        said: Any,
        cost: npt.NDArray[np.float64] | None,
    ) -> tuple[Part, ...]:
        """Chunks per type or labels, confusion, the worst sequences, transitions and weights."""
        X: TokenSequences = inputs.take(test)
        chunks = tell_chunks(test.y.classes)
        return sentence_parts(champion.model, champion.row.learner, X, test.y, said, chunks)


def _with_columns(rows: Rows, names: tuple[str, ...]) -> Rows:
    """The rows with some of their columns."""
    X: TokenSequences = rows.X
    return Rows(TokenSequences({name: X.columns[name] for name in names}, X.offsets), rows.y)
