"""Why a model gives the tokens of a sequence their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.errors import ParameterError
from separatrix.explanation.models import see_through

__all__ = ["Step", "Trellis", "explain_sequence"]

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
    """

    steps: tuple[Step, ...]
    score: float
    second_score: float
    log_probability: float
    second_log_probability: float

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "score": self.score,
            "second_score": self.second_score,
            "log_probability": self.log_probability,
            "second_log_probability": self.second_log_probability,
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
        return "\n".join([*lines, self.verdict()])


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
