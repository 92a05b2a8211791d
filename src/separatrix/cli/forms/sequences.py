"""Models that label the tokens of sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from separatrix.cli.forms.base import Form, last_step
from separatrix.cli.forms.sequence_scores import SequenceScores, score_sequences
from separatrix.cli.options import Format
from separatrix.cli.tables import Table
from separatrix.data import Dataset, TokenColumn, TokenSequences
from separatrix.data.conll import conll_text
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import Trellis, explain_sequence

__all__ = ["SequenceForm"]


class _Tagged(NamedTuple):
    """Sequences with their labels; if asked, probabilities of all labels and where each stands."""

    data: Dataset
    labels: list[list[Any]]
    shares: list[Any] | None
    codes: dict[Any, int]


class SequenceForm(Form):
    """One label for every token of a sequence."""

    terms = 3

    def predictor(
        self, proba: bool, level: float
    ) -> tuple[Sequence[str], Callable[[Any, Dataset], list[Any]]]:
        """The labels, and with `proba` the probability of every label."""
        learner = last_step(self.estimator)
        if proba and not hasattr(learner, "predict_marginals"):
            raise ParameterError(
                f"--proba needs a model with probabilities, and {type(learner).__name__} has none"
            )

        def tagged(X: Any, data: Dataset) -> list[Any]:
            shares = _encoded(self.estimator, X, learner.predict_marginals) if proba else None
            return [_Tagged(data, self.estimator.predict(X), shares, codes)]

        names = learner.classes_.tolist() if proba else []
        codes = {label: code for code, label in enumerate(names)}
        return [f"P({label})" for label in names], tagged

    def parts(
        self, headings: Sequence[str], blocks: Iterable[list[Any]], format: Format | None
    ) -> Iterator[str]:
        """CoNLL unless told otherwise: the columns of the file, the label, its probability.

        As a table, one row per token, behind the number of its sequence.
        """
        pieces = iter(chain.from_iterable(blocks))
        if format is None:
            yield from _as_conll(pieces)
            return
        first = next(pieces, None)
        if first is None:
            return
        names = first.data.X.names if isinstance(first.data.X, TokenSequences) else ()
        columns = ("sequence", *names, "prediction", *headings)
        yield from Table(columns, _rows(chain([first], pieces))).parts(format)

    def piece(self, X: Any, data: Dataset, truth: Any) -> tuple[list[list[str]], list[list[Any]]]:
        """Labels and predictions."""
        if not isinstance(truth, TokenColumn):
            raise DataError(f"{data.source}: there are no labels of tokens")
        return truth.tolist(), self.estimator.predict(X)

    def scores(self, pieces: Sequence[Any]) -> SequenceScores:
        """Accuracy of tokens and sequences, and chunks or labels."""
        truth, said = (list(chain.from_iterable(side)) for side in zip(*pieces, strict=True))
        return score_sequences(truth, said, last_step(self.estimator).classes_)

    @property
    def takes_text(self) -> bool:
        """A text is taken for a sequence of words."""
        return True

    def text_row(self, text: str) -> Any:
        """The words of a text, parted by space."""
        columns = self.saved.inputs.columns
        if len(columns) > 1:
            raise ParameterError(
                f"the model needs the columns {', '.join(map(repr, columns))} of every token: give "
                f"a CoNLL file ({text!r} is none)"
            )
        if not text.split():
            raise ParameterError("there are no words to label")
        words = TokenColumn.of([text.split()])
        return TokenSequences({next(iter(columns), "word"): words}, words.offsets)

    def explain(self, x: Any, every: bool, top: int | None) -> Trellis:
        """The trellis of one sequence."""
        most = 1_000_000  # of no sequence are there so many terms
        return explain_sequence(self.estimator, x, top=most if top is None else top)


def _encoded(estimator: Any, X: Any, work: Callable[[Any], list[Any]]) -> list[Any]:
    """What a method of the last step makes of raw input."""
    for _, step in getattr(estimator, "steps", [])[:-1]:
        X = step.transform(X)
    return work(X)


def _as_conll(pieces: Iterable[_Tagged]) -> Iterator[str]:
    separator = None
    for piece in pieces:
        if not isinstance(piece.data.X, TokenSequences):
            raise ParameterError("attributes have no columns to write; give --format csv or jsonl")
        columns = [*piece.data.X.columns.values(), TokenColumn.of(piece.labels)]
        if piece.shares is not None:
            columns.append(TokenColumn.of(_own_shares(piece, piece.shares)))
        if separator is None:
            spaced = any(
                not word or word.split() != [word]
                for column in columns
                for word in column.vocabulary
            )
            separator = "\t" if spaced or piece.data.format == "conllu" else " "
        for part in conll_text(columns, separator):
            yield part.decode()


def _own_shares(piece: _Tagged, shares: Sequence[Any]) -> Iterator[list[str]]:
    """For every sequence the probabilities of the labels that were chosen, as text."""
    for labels, row in zip(piece.labels, shares, strict=True):
        chosen = [piece.codes[label] for label in labels]
        yield [f"{value:.4f}" for value in row[np.arange(len(labels)), chosen]]


def _rows(pieces: Iterable[_Tagged]) -> Iterator[tuple[Any, ...]]:
    number = 0
    for piece in pieces:
        X = piece.data.X
        for at, labels in enumerate(piece.labels):
            tokens = X[at] if isinstance(X, TokenSequences) else [()] * len(labels)
            shares = [()] * len(labels) if piece.shares is None else piece.shares[at].tolist()
            number += 1
            for token, label, row in zip(tokens, labels, shares, strict=True):
                yield (number, *token, label, *row)
