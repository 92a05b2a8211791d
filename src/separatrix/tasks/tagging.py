"""One label for every token of a sequence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset, TokenColumn, TokenSequences
from separatrix.data.formats.conll import conll_text
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import Trellis, explain_sequence, see_through
from separatrix.features.templates.columns import find_column
from separatrix.metrics import (
    Metric,
    Outcome,
    chunk_counts,
    chunk_report,
    chunks,
    confusion_matrix,
    per_class_report,
    ratio_of_means,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)
from separatrix.registry import Learner
from separatrix.report import parts as shown
from separatrix.report.parts import Finding, Part, Profile
from separatrix.tasks.classes import class_rows
from separatrix.tasks.findings import alone_class, column_of, duplicates, leaks, row_keys
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import Preparation
from separatrix.tasks.rows import Rows
from separatrix.tasks.task import (
    Champion,
    Decision,
    FieldError,
    Fitted,
    Options,
    Scores,
    Task,
    TestRows,
    listed,
)
from separatrix.tasks.templates import choose_templates

__all__ = ["Tagging", "tell_chunks"]

Floats = npt.NDArray[np.float64]

_CHUNK = re.compile(r"[BIES](-.+)?|O")
#: Sequences that a report shows; features of a label and transitions, at either end; labels.
_SHOWN, _TOP, _LABELS = 12, 8, 30
#: The label of tokens that belong to no chunk.
_OUTSIDE = "O"
#: Log odds by which the score of that label is shifted; 3 makes of one in twenty an even chance.
_SHIFTS = (-0.25, -0.5, -0.75, -1.0, -1.25, -1.5, -2.0, -2.5, -3.0, 0.25, 0.5, 0.75, 1.0)


def tell_chunks(labels: npt.NDArray[Any]) -> bool:
    """Whether labels are those of chunks: BIO, IOB or BIOES.

    Examples
    --------
    >>> tell_chunks(np.array(["B-NP", "I-NP", "O"])), tell_chunks(np.array(["NOUN", "VERB"]))
    (True, False)
    """
    begun = any(str(label)[:1] in ("B", "I") for label in labels)
    return begun and all(_CHUNK.fullmatch(str(label)) for label in labels)


def _tokens(predictions: Any, y: Any) -> Floats:
    return token_counts(y, predictions).astype(np.float64)


def _sequences(predictions: Any, y: Any) -> Floats:
    right, length = token_counts(y, predictions).T
    return np.asarray(right == length, dtype=np.float64)


def _chunks(predictions: Any, y: Any) -> Floats:
    correct, true, predicted = chunk_counts(y, predictions).T
    return np.column_stack([2.0 * correct, true + predicted])


class Tagging(Task):
    """One label for every token of a sequence."""

    kind = "tagging"
    names = ("tagging",)
    title = "a tagging of sequences"
    holds = "labels of tokens"
    predicts = "a label per token"
    units = "sequences"
    counted = "tokens"
    evenly = ""
    terms = 3
    metrics: ClassVar[dict[str, Metric]] = {
        metric.name: metric
        for metric in (
            Metric("chunk_f1", "chunk F1", judge=_chunks, finish=ratio_of_means, percent=True),
            Metric(
                "token_accuracy", "token accuracy",
                judge=_tokens, finish=ratio_of_means, percent=True,
            ),
            Metric("sequence_accuracy", "sequence accuracy", judge=_sequences, percent=True),
        )
    }  # fmt: skip

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """A label for every token."""
        if not isinstance(data.y, TokenColumn):
            return None
        _check_labels(data)
        labels = data.y.classes
        name = repr(data.target_name) if data.target_name else "the target"
        if len(labels) < 2:
            raise DataError(
                f"{data.source or 'the data'}: all tokens have the same label, "
                f"{labels.tolist()[0]!r} in {name}; there is nothing to tell apart"
            )
        return cls("tagging", f"{name} holds {len(labels)} labels of tokens")

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"tagging of tokens with {n_labels} labels"

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """All sequences are alike."""
        return np.zeros(len(y), dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Every token needs a label; one that is not among the train labels is remarked upon."""
        if not isinstance(found.y, TokenColumn):
            where = found.source or "the data"
            raise DataError(f"{where}: the {part} rows are no sequences of tokens")
        _check_labels(found)
        flat = found.y.flat

        def n_tokens(odd: set[Any]) -> int:
            return int(np.isin(flat, np.array(sorted(odd), dtype=object)).sum())

        return self.unknown_labels(part, found, train, "tokens", n_tokens)

    def repeated(self, inputs: Inputs, train: Dataset, held_out: Dataset) -> npt.NDArray[np.bool_]:
        """Sentences that stand among the train sentences too."""
        if not isinstance(train.X, TokenSequences):
            return super().repeated(inputs, train, held_out)
        seen = set(row_keys(inputs.take(train)))
        return np.array([key in seen for key in row_keys(inputs.take(held_out))], dtype=bool)

    # -- the experiment --------------------------------------------------------------------------

    def metric(self, name: str, y: Any, cost: Floats | None) -> Metric:
        """The metric called `name`; "auto": chunk F1 where labels tell chunks, or accuracy."""
        if name == "chunk_f1" and not tell_chunks(y.classes):
            odd = next(label for label in y.classes if not _CHUNK.fullmatch(str(label)))
            raise ParameterError(
                f"chunk_f1 needs labels such as B-NP, I-NP and O; {str(odd)!r} is none"
            )
        return super().metric(name, y, cost)

    def default_metric(self, y: Any) -> Metric:
        """Chunk F1 where labels tell chunks, or accuracy."""
        return self.metrics["chunk_f1" if tell_chunks(y.classes) else "token_accuracy"]

    def preparation(
        self, templates: Any, inputs: Inputs, train: Dataset, held_out: Dataset, metric: Metric,
        seconds: float,
    ) -> Preparation:  # fmt: skip
        """Templates, as given or chosen by held-out score; attributes are taken as they are."""
        if isinstance(train.X, TokenSequences):
            return choose_templates(templates, inputs, train, held_out, metric, seconds)
        if not isinstance(templates, str) or templates != "auto":
            raise ParameterError("templates are for tokens; attributes are taken as they are")
        return super().preparation(templates, inputs, train, held_out, metric, seconds)

    def suits(self, learner: Learner, rows: Rows) -> bool:
        """Attributes have no words."""
        return not learner.words or isinstance(rows.X, TokenSequences)

    def others(self, y: Any, predictions: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The other ways to count what is right."""
        names = ["chunk_f1"] * tell_chunks(y.classes) + ["token_accuracy", "sequence_accuracy"]
        found = [self.metrics[name] for name in names if name != metric.name]
        return tuple((one.title, one(None, None, y, predictions)) for one in found)

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns of the tokens, and how many tokens every label has."""
        why = dict(inputs.left_out)
        columns = tuple(
            column_of(name, column.flat, False, name in inputs.columns, why.get(name, ""))
            for name, column in getattr(data.X, "columns", {}).items()
        )
        y: TokenColumn = data.y
        counts = np.bincount(y.codes, minlength=len(y.vocabulary)).tolist()
        labels = sorted(zip(y.vocabulary, counts, strict=True), key=lambda one: -one[1])
        used = tuple((label, count) for label, count in labels if count)
        return Profile(len(data), columns, used, counted="tokens")

    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """Sequences that stand in two splits, and columns that alone give away the labels."""
        checks = ("sequences that stand in two splits", "columns that alone give away the label")
        names = inputs.columns
        if not isinstance(train.X, TokenSequences):
            return duplicates(train, held_out, test, self.units, "Remove duplicates."), checks[:1]
        told = "predicts the label of {share} of the held-out tokens"
        parts = [
            Rows(TokenSequences({name: rows.X.columns[name] for name in names}, rows.X.offsets),
                 rows.y)
            for rows in (train, held_out, test)
        ]  # fmt: skip
        first, second = (
            Rows({name: rows.X.columns[name].flat for name in names}, rows.y.flat)
            for rows in parts[:2]
        )
        found = duplicates(parts[0], parts[1], parts[2], self.units, "Remove duplicates.")
        return [*found, *leaks(inputs, first, second, alone_class, told)], checks

    def parts(
        self, champion: Champion, inputs: Inputs, test: Dataset, prepared: TestRows,
        predictions: Any, cost: Floats | None,
    ) -> tuple[Part, ...]:  # fmt: skip
        """Chunks per type or labels, confusion, the worst sequences, transitions and weights."""
        y = test.y
        truth = y.flat.astype(str)
        found = np.array([label for labels in predictions for label in labels], dtype=str)
        names = np.unique(np.concatenate([truth, found]))
        counts = confusion_matrix(truth, found, labels=names)
        parts: list[Part | None] = [
            shown.Confusion(tuple(names.tolist()), counts, units="tokens"),
            _chunk_part(y, predictions)
            if tell_chunks(y.classes)
            else shown.PerClass.of(per_class_report(truth, found), "tokens"),
            _worst(*prepared(champion.model), y, predictions),
            _weights(champion.model, champion.learner),
        ]
        return tuple(part for part in parts if part is not None)

    def decision(
        self, fitted: Any, held_out: Rows, metric: Metric, plain: Outcome
    ) -> Decision | None:
        """Fewer or more tokens outside of chunks, where that is better for the chunks' F1.

        For learners with probabilities only: scores of others have another scale after each fit.
        Those that have none get some, from their scores times a factor.
        """
        if not hasattr(fitted, "predict_proba"):
            return _with_probabilities(fitted, held_out, plain)
        if metric.name != "chunk_f1":
            return None
        if not hasattr(fitted.features_, "shifted") or _OUTSIDE not in fitted.classes_.tolist():
            return None
        best, amount = plain, 0.0
        for shift in _SHIFTS:
            found = metric.outcome(fitted.shifted(_OUTSIDE, shift), held_out.X, held_out.y)
            if metric.gain(found.score) > metric.gain(best.score):
                best, amount = found, shift
        if metric.gain(best.score) - metric.gain(plain.score) <= metric.noise(
            best, plain, held_out.y
        ):
            return None
        change = "lower" if amount < 0 else "higher"
        told = (
            f"{_OUTSIDE} scores {abs(amount):g} {change} at every token, by the held-out "
            f"{metric.title}: {plain.score:.4f} becomes {best.score:.4f}."
        )
        return Decision(lambda learner: learner.shifted(_OUTSIDE, amount), best, told)

    # -- predictions -----------------------------------------------------------------------------

    def offers(self, model: Fitted) -> dict[str, str]:
        """Marginals, the best labellings, labels of the least cost, and the trellis."""
        name, learner = model.learner_name, model.learner
        none = f"{name} has no probabilities; a CRF has"
        chances = "" if hasattr(learner, "predict_proba") else none
        return {
            "probabilities": chances,
            "cost": chances,
            "reject": "labels of sequences cannot be rejected",
            "top": "" if hasattr(learner, "predict_top") else f"{name} has one labelling only",
            "explain": "" if hasattr(learner, "explain_sequence") else f"{name} has no weights",
            "level": "is for quantities, and this model labels tokens",
        }

    def check(self, model: Fitted, options: Options) -> None:
        """Costs of wrong labels must be a matrix without costs of right ones."""
        super().check(model, options)
        if options.cost is not None:
            n = len(model.learner.classes_)
            if len(options.cost) != n or any(len(row) != n for row in options.cost):
                raise FieldError(f"must be a matrix of {n} x {n} numbers", "cost")
            if any(row[k] != 0 for k, row in enumerate(options.cost)):
                raise FieldError("must be zero where the label is right", "cost")
            if min(map(min, options.cost)) < 0:
                raise FieldError("must not be negative", "cost")

    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """Labels of all sequences, and what else the options need."""
        learner, X = model.learner, model.encoded(X)
        labels = learner.predict(X)
        marginals = paths = log_chances = None
        if any(one.probabilities for one in options):
            marginals = learner.predict_proba(X)
        most = max((one.top or 0 for one in options), default=0)
        if most:
            paths = learner.predict_top(X, most)
            if hasattr(learner, "log_likelihood"):
                log_chances = learner.log_likelihood(X, labels)
        costs = {
            id(one): learner.predict_minimum_risk(X, one.cost)
            for one in options
            if one.cost is not None
        }
        return labels, marginals, paths, log_chances, costs

    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """The labels, their marginals, the best labellings, and labels of the least cost."""
        labels, marginals, paths, log_chances, costs = found
        first = rows.start or 0
        answers: list[dict[str, Any]] = [{"labels": path} for path in labels[rows]]
        for at, answer in enumerate(answers, start=first):
            if options.probabilities:
                answer["probabilities"] = np.asarray(marginals[at]).tolist()
            if options.top is not None:
                best = paths[at][0][1] if paths[at] else 0.0
                answer["top"] = [
                    {
                        "labels": path,
                        "score": score,
                        "probability": None
                        if log_chances is None
                        else min(1.0, math.exp(float(log_chances[at]) + score - best)),
                    }
                    for path, score in paths[at][: options.top]
                ]
            if options.cost is not None:
                answer["action"] = {"labels": costs[id(options)][at]}
        return answers

    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """Labels as lists."""
        return {"labels": found[0][rows]}

    def table(
        self, model: Fitted, found: Any, data: Dataset, options: Options, before: int
    ) -> dict[str, Any]:
        """One row per token, behind the number of its sequence."""
        X, (labels, marginals, *_) = data.X, found
        tokens = isinstance(X, TokenSequences)
        rows = []
        for at, own in enumerate(labels):
            words = X[at] if tokens else [()] * len(own)
            chances = [()] * len(own) if marginals is None else np.asarray(marginals[at]).tolist()
            for token, label, row in zip(words, own, chances, strict=True):
                rows.append((before + at + 1, *token, label, *row))
        names = (
            [] if marginals is None else [f"P({one})" for one in model.learner.classes_.tolist()]
        )
        headings = ("sequence", *(X.names if tokens else ()), "prediction", *names)
        return dict(zip(headings, zip(*rows, strict=True), strict=True))

    def text(self, pieces: Iterator[tuple[Any, Dataset]], options: Options) -> Iterator[str] | None:
        """CoNLL: the columns of the file, the label, and its probability where it is wanted."""
        return _conll(pieces)

    def wanted_by_page(self, model: Fitted) -> dict[str, Any]:
        """The second-best labelling, and marginals."""
        offers = self.offers(model)
        wanted = {} if offers["top"] else {"top": 2}
        return wanted | ({} if offers["probabilities"] else {"probabilities": True})

    # -- scores ----------------------------------------------------------------------------------

    def piece(self, model: Fitted, X: Any, data: Dataset) -> Any:
        """Labels and predictions."""
        if not isinstance(data.y, TokenColumn):
            raise DataError(f"{data.source}: there are no labels of tokens")
        return data.y.tolist(), model.estimator.predict(X)

    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """Accuracy of tokens and sequences, and chunks or labels."""
        truth, predictions = (list(chain.from_iterable(side)) for side in zip(*pieces, strict=True))
        words = [[str(label) for label in labels] for labels in predictions]
        flat = np.array([label for labels in truth for label in labels], dtype=str)
        found = np.array([label for labels in words for label in labels], dtype=str)
        unknown = np.setdiff1d(flat, model.learner.classes_.astype(str)).tolist()
        record: dict[str, Any] = {
            "n_sequences": len(truth),
            "n_tokens": len(flat),
            "token_accuracy": token_accuracy(truth, words),
            "sequence_accuracy": sequence_accuracy(truth, words),
        }
        lines = [
            f"{len(truth)} sequences, {len(flat)} tokens",
            f"token accuracy {record['token_accuracy']:.4f}",
            f"sequence accuracy {record['sequence_accuracy']:.4f}",
        ]
        if unknown:
            told = "labels that the model does not know, counted as mistakes"
            lines.append(f"{told}: {listed(unknown)}")
        if tell_chunks(np.unique(np.concatenate([flat, found]))):
            report = chunk_report(truth, words)
            columns = (
                np.array(report.types),
                report.precision,
                report.recall,
                report.f1,
                report.n_true,
            )
            names = ("chunk_precision", "chunk_recall", "chunk_f1")
            record |= dict(zip(names, report.overall, strict=True))
            kind, headings, table = "chunks", ("type", "chunks"), [str(report)]
            rows = list(zip(*(column.tolist() for column in columns), strict=True))
        else:
            labels = per_class_report(flat, found)
            # Its last line says the accuracy once more.
            kind, headings, table = "labels", ("label", "tokens"), str(labels).splitlines()[:-1]
            rows = class_rows(labels)
        heads = (headings[0], "precision", "recall", "F1", headings[1])
        record[kind] = [dict(zip(heads, row, strict=True)) for row in rows]
        record["unknown_labels"] = unknown
        return Scores("\n".join([*lines, "", *table]), record, heads, rows)

    # -- reasons ---------------------------------------------------------------------------------

    def explain(self, model: Fitted, x: Any, top: int | None, every: bool = False) -> Trellis:
        """The trellis of one sequence."""
        most = 1_000_000  # of no sequence are there so many terms
        found = explain_sequence(model.estimator, x, top=most if top is None else top)
        if not tell_chunks(model.learner.classes_):
            return found
        return found.with_spans(chunks([str(step.label) for step in found.steps]))

    def reasons(self, model: Fitted, x: Any, top: int) -> dict[str, Any]:
        """The trellis as plain values."""
        return self.explain(model, x, min(top, 20)).to_dict()


def _check_labels(data: Dataset) -> None:
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


def _conll(pieces: Iterator[tuple[Any, Dataset]]) -> Iterator[str]:
    separator = None
    for (model, (labels, marginals, *_)), data in pieces:
        if not isinstance(data.X, TokenSequences):
            raise ParameterError("attributes have no columns to write; give --format csv or jsonl")
        own: list[list[str]] | None = None
        if marginals is not None:
            codes = {label: code for code, label in enumerate(model.learner.classes_.tolist())}
            own = [
                [f"{row[codes[label]]:.4f}" for row, label in zip(chances, chosen, strict=True)]
                for chosen, chances in zip(labels, marginals, strict=True)
            ]
        if data.X.written is not None:
            tokens = [str(label) for row in labels for label in row]
            proba = None if own is None else list(chain.from_iterable(own))
            for part in data.X.written.labeled(tokens, model.inputs.target, proba):
                yield part.decode()
            continue
        columns = [*data.X.columns.values(), TokenColumn.of(labels)]
        if own is not None:
            columns.append(TokenColumn.of(own))
        if separator is None:
            spaced = any(
                not word or word.split() != [word]
                for column in columns
                for word in column.vocabulary
            )
            separator = "\t" if spaced or data.format == "conllu" else " "
        for part in conll_text(columns, separator):
            yield part.decode()


def _with_probabilities(fitted: Any, held_out: Rows, plain: Outcome) -> Decision | None:
    """The same labels from a CRF whose marginals the held-out labels calibrate."""
    if getattr(fitted, "__sx_task__", None) != Tagging.kind or not hasattr(fitted, "coef_"):
        return None
    from separatrix.learners.structured.calibrated import as_crf, calibration_factor

    factor = calibration_factor(fitted, held_out.X, held_out.y)
    told = f"Probabilities are those of its scores times {factor:.3g}, by the held-out labels."
    return Decision(lambda learner: as_crf(learner, factor), plain, told)


def _chunk_part(y: TokenColumn, predictions: Any) -> shown.PerChunk:
    found = chunk_report(y, predictions)
    columns = (found.types, found.precision, found.recall, found.f1, found.n_true)
    types = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    overall = shown.ClassScores("all chunks", *found.overall, int(found.n_true.sum()))
    return shown.PerChunk(
        tuple(shown.ClassScores(name or "(no type)", p, r, f, n) for name, p, r, f, n in types),
        (overall,),
        units="chunks",
    )


def _worst(model: Any, X: Any, y: TokenColumn, predictions: Any) -> shown.Sentences:
    """Sequences with mistakes, the least probable truth first; else those with most mistakes."""
    right, lengths = token_counts(y, predictions).T
    wrong = np.flatnonzero(right < lengths)
    steps, learner = see_through(model)
    encoded: Any = None
    log_chances = np.full(len(y), np.nan)
    if hasattr(learner, "log_likelihood") and len(wrong):
        encoded = X
        for step in steps:
            encoded = step.transform(encoded)
        known = np.isin(y.vocabulary.array.astype(str), learner.classes_.astype(str))
        n_unknown = np.bincount(
            np.repeat(np.arange(len(y)), lengths), ~known[y.codes], minlength=len(y)
        )
        told = wrong[n_unknown[wrong] == 0]
        if len(told):
            log_chances[told] = learner.log_likelihood(encoded.take(told), y.take(told))
        # A label that the model does not know has no probability at all.
        log_chances[wrong[n_unknown[wrong] > 0]] = -np.inf
    worst = wrong[np.lexsort((right[wrong] - lengths[wrong], log_chances[wrong]))][:_SHOWN]
    marginals = None if encoded is None else learner.predict_proba(encoded.take(worst))
    column = find_column(X, "word") if isinstance(X, TokenSequences) else None
    sentences = []
    for at, row in enumerate(worst.tolist()):
        truth, labels = y[row], predictions[row]
        words = [f"token {n}" for n in range(len(labels))] if column is None else column[row]
        likely = np.full(len(words), np.nan)
        if marginals is not None:
            codes = np.searchsorted(learner.classes_, labels)
            likely = marginals[at][np.arange(len(words)), codes]
        tokens = zip(words, truth, map(str, labels), likely.tolist(), strict=True)
        sentences.append(
            shown.Sentence(
                f"test sequence {row}",
                tuple(shown.Token(*token) for token in tokens),
                float(log_chances[row]),
            )
        )
    return shown.Sentences(tuple(sentences), len(wrong), len(y))


def _weights(model: Any, learner: str) -> shown.Weights | None:
    _, final = see_through(model)
    if not hasattr(final, "top_weights"):
        return None
    groups = tuple(
        shown.ClassWeights(
            "transitions" if one.label is None else str(one.label), one.names, one.values
        )
        for one in final.top_weights(_TOP)[: _LABELS + 1]
    )
    return shown.Weights(
        learner,
        groups,
        n_features=int(final.n_attributes_in_),
        positive="speaks for the label or the transition",
        note="names give the template, the place of the token that it reads, and what it finds",
    )
