"""Why a model gives the tokens of a sequence their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from separatrix.errors import ParameterError
from separatrix.explanation.models import see_through

__all__ = ["Span", "Step", "Trellis", "explain_sequence"]

#: Backgrounds of the types of chunks, by their first use.
_COLORS = ("bright_cyan", "bright_yellow", "bright_green", "bright_magenta", "bright_blue")
#: Names of the column that holds the words.
_WORDS = ("word", "form", "token", "text")


@dataclass(frozen=True)
class Step:
    """One token on its way through the trellis.

    Attributes
    ----------
    token : str
        The word.
    label : object
        Its label in the best labelling.
    probability : float
        P(label | sequence), over all labellings; NaN where the model has no probabilities.
    second : object
        Its label in the second-best labelling; None where there is none.
    terms : tuple of (str, float)
        What speaks most for or against the label here, the strongest first: attributes of the
        token and the transition to the label, with their weights.
    rest : float
        Sum of all other terms.
    """

    token: str
    label: Any
    probability: float
    second: Any
    terms: tuple[tuple[str, float], ...]
    rest: float


@dataclass(frozen=True)
class Span:
    """A chunk of tokens that the best labelling holds.

    Attributes
    ----------
    start, end : int
        Its first token, and the one behind its last.
    type : str
        Such as "PER".
    text : str
        Its words, with spaces between them.
    probability : float
        Of the least sure of its labels; NaN where the model has no probabilities.
    """

    start: int
    end: int
    type: str
    text: str
    probability: float


@dataclass(frozen=True)
class Trellis:
    """The best labelling of a sequence, the second-best, and what is behind them; prints itself.

    Attributes
    ----------
    steps : tuple of Step
        One per token.
    score, second_score : float
        Of the two labellings; the second is NaN where there is only one.
    log_probability, second_log_probability : float
        Their log-probabilities; NaN where the model has none.
    spans : tuple of Span
        The chunks, where labels are those of chunks and a task was there to say so.
    """

    steps: tuple[Step, ...]
    score: float
    second_score: float
    log_probability: float
    second_log_probability: float
    spans: tuple[Span, ...] = ()

    @property
    def has_probabilities(self) -> bool:
        """Whether the model has probabilities."""
        return math.isfinite(self.log_probability)

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of `rows`."""
        share = ("probability",) if self.has_probabilities else ()
        return ("token", "label", *share, "second path", "weights behind the label")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """One row per token; the second path is told where it differs."""
        return [
            (
                step.token,
                step.label,
                *((round(step.probability, 4),) if self.has_probabilities else ()),
                "" if step.second == step.label or step.second is None else step.second,
                ", ".join(f"{value:+.2f} {name}" for name, value in step.terms),
            )
            for step in self.steps
        ]

    def verdict(self) -> str:
        """Scores and probabilities of the two paths, in a sentence."""
        words = f"best path: score {self.score:.4g}"
        if self.has_probabilities:
            words += f", probability {100 * math.exp(self.log_probability):.1f} %"
        if math.isfinite(self.second_score):
            words += f"; second path: {self.score - self.second_score:.4g} less"
            if self.has_probabilities:
                words += f", probability {100 * math.exp(self.second_log_probability):.1f} %"
        return words

    def with_spans(self, bounds: Iterable[tuple[int, int, str]]) -> Trellis:
        """The same with chunks as (start, end, type).

        Examples
        --------
        >>> steps = tuple(Step(word, "B", 0.5, None, (), 0.0) for word in ("New", "York"))
        >>> trellis = Trellis(steps, 1.0, float("nan"), -1.0, float("nan"))
        >>> trellis.with_spans([(0, 2, "LOC")]).span_lines()
        ['LOC  New York  0.5000']
        """
        spans = []
        for start, end, kind in bounds:
            steps = self.steps[start:end]
            text = " ".join(str(step.token) for step in steps)
            spans.append(Span(start, end, kind, text, min(step.probability for step in steps)))
        return replace(self, spans=tuple(spans))

    def colored(self) -> list[list[tuple[str, str]]]:
        """For terminals, the words as one line of (text, style), every type on its color."""
        if not self.spans:
            return []
        types = list(dict.fromkeys(span.type for span in self.spans))
        line: list[tuple[str, str]] = []
        at = 0
        for span in self.spans:
            line += [(f"{step.token} ", "") for step in self.steps[at : span.start]]
            sure = f" {100 * span.probability:.0f} %" if self.has_probabilities else ""
            color = _COLORS[types.index(span.type) % len(_COLORS)]
            line += [(f" {span.text} {span.type}{sure} ", f"black on {color}"), (" ", "")]
            at = span.end
        return [[*line, *((f"{step.token} ", "") for step in self.steps[at:])]]

    def span_lines(self) -> list[str]:
        """A line for every chunk: its type, its words, and how sure the least sure label is."""
        return [
            "  ".join(
                [
                    span.type or "chunk",
                    span.text,
                    *([f"{span.probability:.4f}"] if self.has_probabilities else []),
                ]
            )
            for span in self.spans
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "score": self.score,
            "second_score": self.second_score,
            "log_probability": self.log_probability,
            "second_log_probability": self.second_log_probability,
            "spans": [asdict(span) for span in self.spans],
            "tokens": [
                {
                    "token": step.token,
                    "label": step.label,
                    "probability": step.probability,
                    "second": step.second,
                    "weights": dict(step.terms),
                    "rest": step.rest,
                }
                for step in self.steps
            ],
        }

    def __str__(self) -> str:
        cells = [
            [f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row]
            for row in [self.headings, *self.rows]
        ]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.headings))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *self.span_lines(), self.verdict()])


def explain_sequence(model: Any, tokens: Any, *, top: int = 3) -> Trellis:
    """What is behind the labels that a model on chains gives to one sequence.

    Parameters
    ----------
    model : estimator
        Fitted: `CRF` or another learner on chains, with `Templates` or other steps before it.
    tokens : list of tokens, or TokenSequences of one sequence
        As the model takes them: words, tuples of columns, or dicts.
    top : int, default=3
        Terms to show for each token.

    Returns
    -------
    Trellis
        `print` shows it as a table.

    Raises
    ------
    ParameterError
        The model does not label sequences, or there is not one sequence.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import CRF, Templates, explain_sequence
    >>> model = make_pipeline(Templates("word[-1..0]"), CRF(tol=1e-10, random_state=0))
    >>> sentences = [["the", "cat"], ["a", "dog", "sleeps"]]
    >>> model = model.fit(sentences, [["D", "N"], ["D", "N", "V"]])
    >>> print(explain_sequence(model, ["the", "dog", "sleeps"], top=1))
    token   label  probability  second path  weights behind the label
    the     D      0.7269                    +0.56 start → D
    dog     N      0.6842                    +0.82 D → N
    sleeps  V      0.6308       N            +0.41 N → V
    best path: score 3.616, probability 39.2 %; second path: 1.453 less, probability 9.2 %
    """
    steps, learner = see_through(model)
    if not hasattr(learner, "explain_sequence"):
        raise ParameterError(f"{type(learner).__name__} has no trellis; a learner on chains has")
    if top < 1:
        raise ParameterError(f"top must be positive, got {top}")
    X = tokens if hasattr(tokens, "columns") else [tokens]
    if len(X) != 1:
        raise ParameterError(f"explain_sequence takes one sequence, got {len(X)}")
    words = _words_of(X)
    for step in steps:
        X = step.transform(X)
    found: Trellis = learner.explain_sequence(X, words, top=top)
    return found


def _words_of(X: Any) -> list[str]:
    if hasattr(X, "columns"):
        name = next((name for name in _WORDS if name in X.columns), next(iter(X.columns)))
        words: list[str] = X.columns[name][0]
        return words
    return [_word(token) for token in X[0]]


def _word(token: Any) -> str:
    if isinstance(token, Mapping):
        named = (token[name] for name in _WORDS if name in token)
        return str(next(named, next(iter(token.values()), "")))
    return str(token[0]) if isinstance(token, list | tuple) and token else str(token)
