"""Templates for tokens: which describe them best is tried out quickly."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from separatrix.data import Dataset
from separatrix.data.formats.conll import UNIVERSAL
from separatrix.errors import ConvergenceWarning
from separatrix.features.templates import PRESETS, Templates
from separatrix.features.templates.columns import needed_columns
from separatrix.features.templates.dictionaries import dictionary_lines
from separatrix.metrics import Metric
from separatrix.tasks.inputs import Inputs

__all__ = ["Tokens", "additions", "candidates", "choose_templates"]

#: Sequences that a quick perceptron learns from, and those that it is scored on; its passes.
_TRAIN, _SCORED, _PASSES = 4000, 2000, 3
#: The CRF that judges all wider views together: more attributes than it needs are for C to rein in.
_ROUGH_C, _ROUGH_TOL, _ROUGH_PASSES = 0.5, 1e-2, 80
#: The ends of a sequence are marked: a capital there says less.
_PADDING = "mark"
#: Least part of the mistakes that further templates must save.
_WORTH = 0.02
#: Views that help in some languages and kinds of text, and cost as much as a preset in others.
_WIDER = {
    "affixes of the neighbors": "prefix(lower(word), 3)[-1..1]\nsuffix(lower(word), 2..4)[-1..1]\n",
    "pairs with the case of the neighbors": (
        "lower(word) & case(word)[-1]\nlower(word) & case(word)[1]\n"
    ),
    "words around": "bag(lower(word)[-5..5])\n",
}


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
    """Templates that may suit tokens with these columns, cheap ones first: name, and text.

    Examples
    --------
    >>> [name for name, _ in candidates(["0"])], [name for name, _ in candidates(["0", "1"])]
    (['pos', 'ner'], ['chunking', 'ner'])
    """
    for name in ("chunking" if _further(columns) else "pos", "ner"):
        yield name, PRESETS[name]


def additions(columns: Sequence[str], dictionaries: Mapping[str, Any]) -> dict[str, str]:
    """What may be added to templates, by name: dictionaries, annotated columns, wider views.

    Examples
    --------
    >>> list(additions(["0", "1"], {"cities": ["Oslo"]}))[:2]
    ['cities', 'column 1']
    """
    found = {name: dictionary_lines({name: entries}) for name, entries in dictionaries.items()}
    for name in _further(columns):
        value = json.dumps(name, ensure_ascii=False)
        found[f"column {name}"] = f"{value}[-2..2]\nngrams({value}[-1..1], 2)\n"
    return found | _WIDER


def _further(columns: Sequence[str]) -> list[str]:
    """The columns behind the words.

    Those of CoNLL-U are annotations, which new sentences lack: only the words are used.
    """
    return [] if set(columns) <= set(UNIVERSAL) else list(columns)[1:]


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
        "auto" lets a quick perceptron try what suits the columns; so does `Templates("auto")`, with
        dictionaries.
    inputs : Inputs
        What of the data may be used.
    train, held_out : Dataset
        Sequences to learn from, and to choose by.
    metric : Metric
        What decides.
    seconds : float
        Time for the choice; what cannot be tried until then is not.
    """
    dictionaries: Mapping[str, Any] = {}
    if isinstance(templates, Templates):
        if templates.spec != "auto":
            return _tokens(templates, inputs, train, "as given")
        dictionaries = templates.dictionaries or {}
    elif templates != "auto":
        known = isinstance(templates, str) and templates in PRESETS
        how = f"preset {templates}" if known else "as given"
        return _tokens(Templates(templates), inputs, train, how)
    # Imported here so that other kinds of data need no learner on chains.
    from separatrix.learners.structured import CRF, StructuredPerceptron

    start = time.perf_counter()
    some = train.take(np.arange(min(len(train), _TRAIN)))
    others = held_out.take(np.arange(min(len(held_out), _SCORED)))
    X, X_others = inputs.take(some), inputs.take(others)

    def score(text: str, learner: Any = None) -> float | None:
        """The held-out score; None where there is no time left."""
        if scores and time.perf_counter() - start > seconds:
            return None
        tried = Templates(text, padding=_PADDING, dictionaries=dictionaries)
        quick = StructuredPerceptron(max_iter=_PASSES, random_state=0)
        found = clone(learner or quick).fit(tried.fit_transform(X), some.y)
        return metric(found, tried.transform(X_others), others.y)

    scores: dict[str, float] = {}
    best, best_text = "", ""
    # What comes first is taken as it is; more attributes must be worth their time.
    for name, text in candidates(inputs.columns):
        found = score(text)
        if found is None:
            break
        scores[name] = found
        if not best or _better(metric, found, scores[best]):
            best, best_text = name, text
    told = [f"{name} {one:.4f}" for name, one in scores.items()]
    reached, added = scores[best], []
    for name, text in additions(inputs.columns, dictionaries).items():
        found = score(best_text + text)
        if found is None:
            break
        told.append(f"with {name} {found:.4f}")
        if _better(metric, found, reached):
            best_text, reached = best_text + text, found
            added.append(name)
    rule = f"; later ones are taken where they save {100 * _WORTH:g} % of the mistakes"
    rule = rule if len(told) > 1 else ""
    # Many weak attributes help where weights are regularized, which a quick perceptron cannot tell.
    left = {name: text for name, text in _WIDER.items() if name not in added}
    rough = CRF(C=_ROUGH_C, tol=_ROUGH_TOL, max_iter=_ROUGH_PASSES, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = score(best_text, rough)
        wide = None if plain is None else score(best_text + "".join(left.values()), rough)
    regularized = ""
    if plain is not None and wide is not None:
        regularized = f"; of a rough CRF {plain:.4f}, with all wider views {wide:.4f}"
        if _better(metric, wide, plain):
            best_text += "".join(left.values())
            added += left
    chosen = " with ".join([best, ", ".join(added)] if added else [best])
    by = f"by the held-out {metric.title} of a quick perceptron"
    reason = f"{chosen}, {by} ({', '.join(told)}{regularized}{rule})"
    spec = best_text if added else best
    used = Templates(spec, padding=_PADDING, dictionaries=_used(dictionaries, added))
    return _tokens(used, inputs, train, reason)


def _better(metric: Metric, score: float, before: float) -> bool:
    """Whether a score saves enough of the mistakes."""
    return metric.gain(score) > metric.gain(before) + _WORTH * abs(1 - before)


def _used(dictionaries: Mapping[str, Any], added: Sequence[str]) -> dict[str, Any] | None:
    """Dictionaries that the templates read: others need not be in a model file."""
    return {name: dictionaries[name] for name in added if name in dictionaries} or None


def _tokens(templates: Templates, inputs: Inputs, train: Dataset, reason: str) -> Tokens:
    """Narrow the inputs down to what the templates read."""
    few = inputs.take(train.take([0]))
    read = clone(templates).fit(few).columns_
    needed = needed_columns(read, inputs.columns)
    unread = tuple((name, "not in the templates") for name in inputs.columns if name not in needed)
    narrow = replace(inputs, columns=needed, left_out=(*inputs.left_out, *unread))
    return Tokens(narrow, templates, reason)
