"""Templates for tokens: which describe them best is tried out quickly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.data import Dataset
from separatrix.data.formats.conll import UNIVERSAL
from separatrix.features.templates import PRESETS, Templates
from separatrix.features.templates.columns import needed_columns
from separatrix.metrics import Metric
from separatrix.tasks.inputs import Inputs

__all__ = ["Tokens", "candidates", "choose_templates"]

#: Sequences that a quick perceptron learns from, and those that it is scored on; its passes.
_TRAIN, _SCORED, _PASSES = 2000, 1000, 2
#: The ends of a sequence are marked: a capital there says less.
_PADDING = "mark"
#: Least part of the mistakes that further templates must save.
_WORTH = 0.02


@dataclass(frozen=True)
class Tokens:
    """Tokens become attributes by templates.

    Attributes
    ----------
    inputs : Inputs
        The columns that the templates read.
    templates : Templates
        Not fitted.
    reason : str
        How they were chosen, in words.
    """

    inputs: Inputs
    templates: Templates
    reason: str

    def fit(self, X: Any, y: Any, n_jobs: int | None = None) -> Any:
        """Templates, fitted on the sequences to learn from."""
        return clone(self.templates).set_params(n_jobs=n_jobs).fit(X)

    def describe(self) -> str:
        """What it does, in words."""
        return f"Tokens are described by templates: {self.reason}."


def candidates(columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Templates that may suit tokens with these columns: their name, and preset or text.

    The columns of CoNLL-U are annotations, which new sentences lack: only the words are used.

    Examples
    --------
    >>> [name for name, _ in candidates(["0"])]
    ['pos', 'ner']
    >>> [name for name, _ in candidates(["0", "1"])]
    ['chunking', 'ner', 'ner with column 1']
    """
    further = [] if set(columns) <= set(UNIVERSAL) else list(columns)[1:]
    if not further:
        yield "pos", "pos"
        yield "ner", "ner"
        return
    yield "chunking", "chunking"
    yield "ner", "ner"
    quoted = [json.dumps(name, ensure_ascii=False) for name in further]
    lines = [f"{name}[-2..2]\nngrams({name}[-1..1], 2)\n" for name in quoted]
    many = "s" if len(further) > 1 else ""
    yield f"ner with column{many} {', '.join(further)}", PRESETS["ner"] + "".join(lines)


def choose_templates(
    templates: Any,
    inputs: Inputs,
    train: Dataset,
    held_out: Dataset,
    metric: Metric,
    seconds: float,
) -> Tokens:
    """The templates that were given, or those with the best held-out score.

    Parameters
    ----------
    templates : Templates, str or list
        "auto" lets a quick perceptron try what suits the columns.
    inputs : Inputs
        What of the data may be used.
    train, held_out : Dataset
        Sequences to learn from, and to choose by.
    metric : Metric
        What decides.
    seconds : float
        Time for the choice; what cannot be tried until then is not.
    """
    if isinstance(templates, Templates):
        return _tokens(templates, inputs, train, "as given")
    if not isinstance(templates, str) or templates != "auto":
        known = isinstance(templates, str) and templates in PRESETS
        how = f"preset {templates}" if known else "as given"
        return _tokens(Templates(templates), inputs, train, how)
    # Imported here so that other kinds of data need no learner on chains.
    from separatrix.learners.structured import StructuredPerceptron

    start = time.perf_counter()
    scores: dict[str, float] = {}
    some = train.take(np.arange(min(len(train), _TRAIN)))
    others = held_out.take(np.arange(min(len(held_out), _SCORED)))
    X, X_others = inputs.take(some), inputs.take(others)
    texts = dict(candidates(inputs.columns))
    for name, text in texts.items():
        if scores and time.perf_counter() - start > seconds:
            break
        tried = Templates(text, padding=_PADDING)
        quick = StructuredPerceptron(max_iter=_PASSES, random_state=0)
        quick.fit(tried.fit_transform(X), some.y)
        scores[name] = metric(quick, tried.transform(X_others), others.y)
    best = next(iter(scores))
    for name, score in scores.items():
        # More attributes must be worth their time.
        if metric.gain(score) > metric.gain(scores[best]) + _WORTH * abs(1 - scores[best]):
            best = name
    told = ", ".join(f"{name} {score:.4f}" for name, score in scores.items())
    rule = f"; later ones are taken where they save {100 * _WORTH:g} % of the mistakes"
    rule = rule if len(scores) > 1 else ""
    reason = f"{best}, by the held-out {metric.title} of a quick perceptron ({told}{rule})"
    return _tokens(Templates(texts[best], padding=_PADDING), inputs, train, reason)


def _tokens(templates: Templates, inputs: Inputs, train: Dataset, reason: str) -> Tokens:
    """Narrow the inputs down to what the templates read."""
    few = inputs.take(train.take([0]))
    read = clone(templates).fit(few).columns_
    needed = needed_columns(read, inputs.columns)
    unread = tuple((name, "not in the templates") for name in inputs.columns if name not in needed)
    narrow = replace(inputs, columns=needed, left_out=(*inputs.left_out, *unread))
    return Tokens(narrow, templates, reason)
