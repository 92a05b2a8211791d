"""Sets of features that are tried, of tables and of texts, the cheap ones first."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.metrics import Metric
from separatrix.registry import MANY_CLASSES
from separatrix.tasks.feature_search import Fold, Scored, Search, Trial, some_rows
from separatrix.tasks.preparation import Matrices, Preparation, Tables, Texts
from separatrix.validation import distinct_values, is_sparse

__all__ = ["best_pairs", "search_features", "table_trials", "text_trials"]

#: Letters of the texts that a search learns from, and the fewest texts; texts whose length is seen.
_LETTERS, _TEXTS_NEEDED, _PROBED = 4_000_000, 2000, 200
#: Strength for texts, whose rows have length one: which terms serve best shows at any near it.
_TEXT_GRID = (10.0,)
#: Fewest train rows of a search: with fewer the plain features stay, since nothing can be seen.
_ROWS_NEEDED = 100
#: Pairs of columns that are tried, few before many.
_PAIRS = (4, 16)
#: Most columns whose pairs are looked at, those whose bins or categories tell most first.
_PAIRED = 40
#: gamma of radial functions times the number of columns: the middle, then to the better side.
_GAMMAS = (1.0, 0.3, 3.0)
#: Widest rows, and fewest, that radial functions are tried on; strengths for them.
_WIDEST, _FEWEST = 300, 200
_RADIAL_GRID = (1.0, 10.0, 100.0, 1000.0)


def search_features(
    plain: Preparation,
    folds: Sequence[Fold],
    metric: Metric,
    seconds: float,
    n_jobs: int | None,
    target: str,
) -> tuple[Preparation, Search | None]:
    """The features that serve a quick model best, and what was tried; see `Task.features`."""
    train = folds[0].train
    if len(train.y) < _ROWS_NEEDED:
        return plain, None
    if target == "classes" and len(distinct_values(train.y)[0]) >= MANY_CLASSES:
        return plain, None  # a quick model of so many is not quick
    if isinstance(plain, Texts):
        if target != "classes":
            return plain, None
        search = Search(_short(folds), metric, seconds, n_jobs=n_jobs)
        best = search.run(text_trials(plain, search))
        return best.trial.preparation, search
    if isinstance(plain, Matrices) and (is_sparse(train.X) or plain.inputs.kind == "images"):
        return plain, None
    if not isinstance(plain, Tables | Matrices):
        return plain, None
    search = Search(folds, metric, seconds, quantity=target == "quantities", n_jobs=n_jobs)
    best = search.run(table_trials(plain, search, target))
    return best.trial.preparation, search


def text_trials(plain: Texts, search: Search) -> Generator[Trial, Scored]:
    """Sets of features of texts: sequences of words, case, characters, the log-count ratio."""
    best = yield Trial(plain.name, plain, _TEXT_GRID)

    def tried(**changed: Any) -> Trial:
        wanted = replace(best.trial.preparation, **changed)
        return Trial(wanted.name, wanted, _TEXT_GRID)

    two = len(distinct_values(search.folds[0].train.y)[0]) == 2
    changes: list[dict[str, Any]] = [{"words": (1, 2)}, {"characters": (2, 5)}]
    changes += [{"lowercase": False}] + [{"log_ratio": True}] * two
    for changed in changes:
        if set(changed) & set(plain.asked):
            continue
        found = yield tried(**changed)
        if search.leads(found, best):
            best = found


def _short(folds: Sequence[Fold]) -> list[Fold]:
    """Folds with so many of their texts that their letters are not too many."""
    some = folds[0].train.X[:_PROBED]
    length = max(1.0, float(np.mean([len(str(text)) for text in some])))
    n = max(_TEXTS_NEEDED, int(_LETTERS / length))
    return [Fold(some_rows(f.train, n), some_rows(f.held_out, n)) for f in folds]


def table_trials(plain: Tables | Matrices, search: Search, target: str) -> Generator[Trial, Scored]:
    """Sets of features of a table, the cheap ones first; each is told the score of the last.

    Parameters
    ----------
    plain : Tables or Matrices
        The plain features.
    search : Search
        Compares sets.
    target : {"classes", "quantities"}
        What the target holds.
    """
    tables = Tables(plain.inputs, target=target)
    first = best = binned = yield Trial("plain", plain)
    encoded = best if isinstance(plain, Tables) else None
    scale = "standard"
    kinds = getattr(best.transformer, "kinds_", {"all": "number"})
    if {"number", "duration"} & set(kinds.values()):
        found = yield Trial("numbers by arsinh", replace(tables, numbers="robust"))
        if search.leads(found, best):
            best, encoded, scale = found, found, "robust"
        found = binned = yield Trial("bins", replace(tables, numbers="bins"))
        if search.leads(found, best):
            best = encoded = found
        found = yield Trial("numbers by arsinh and bins", replace(tables, numbers="both"))
        if search.leads(found, best):
            best = encoded = found
        found = yield Trial("splines", replace(tables, numbers="splines"))
        if search.leads(found, best):
            best = encoded = found
    base = (encoded or binned).trial
    ranked = best_pairs(binned, search)
    for n in _PAIRS:
        pairs = tuple(ranked[:n])
        if not pairs:
            break
        name = f"{base.name} and {len(pairs)} pairs of columns"
        found = yield Trial(name, replace(base.preparation, pairs=pairs, target=target))
        if not search.leads(found, best):
            break
        best = found
        if n >= len(ranked):
            break
    width = int(first.model.n_features_in_)
    if width > _WIDEST or len(search.folds[0].train.y) < _FEWEST:
        return
    top = -math.inf
    for gamma in _GAMMAS:
        wanted = replace(tables, numbers=scale, gamma=gamma / width)
        trial = Trial(f"radial functions, gamma = {gamma / width:.2g}", wanted, _RADIAL_GRID)
        if gamma == 1 and not search.worth_trying(trial, best):
            return
        found = yield trial
        score = search.metric.gain(found.outcome.score)
        if gamma == 1 and not search.leads(found, best):
            return
        if gamma < 1 and score > top:
            return  # wider is better: narrower is not tried
        top = max(top, score)


def best_pairs(binned: Scored, search: Search) -> list[tuple[str, str]]:
    """Pairs of columns whose cells tell most of what a sum over columns leaves, best first.

    For each pair the train rows are put into the cells of their two bins or categories. What the
    residuals r of the sum have in common within cells, the sum over cells of |sum r|^2 / n, less
    what chance alone would give (the mean of |r|^2 per cell), is what a weight for each cell could
    save.
    """
    train = search.folds[0].train
    codes = binned.transformer.codes(train.X)
    residuals = _residuals(binned, train.X, train.y)
    chance = float((residuals**2).sum(axis=1).mean())

    def saved(code: npt.NDArray[np.intp], n_cells: int) -> float:
        counts = np.bincount(code, minlength=n_cells)
        held = counts > 0
        total = 0.0
        for column in residuals.T:
            sums = np.bincount(code, column, minlength=n_cells)
            total += float((sums[held] ** 2 / counts[held]).sum())
        return total - chance * int(held.sum())

    # What has no column is a value of its own here.
    values = {name: code + 1 for name, code in codes.items()}
    sizes = {name: int(code.max()) + 1 for name, code in values.items()}
    strength = {name: _spread(binned, name) for name in values}
    names = sorted(values, key=lambda name: -strength[name])[:_PAIRED]
    gains = {
        (a, b): saved(values[a] * sizes[b] + values[b], sizes[a] * sizes[b])
        for a, b in combinations(names, 2)
    }
    ranked = sorted(gains, key=lambda pair: -gains[pair])
    return [pair for pair in ranked if gains[pair] > 0]


def _spread(binned: Scored, name: str) -> float:
    """How far the weights of a column reach."""
    kinds = binned.transformer.feature_kinds()
    own = [at for at, (source, _) in enumerate(kinds) if source == name]
    weights = np.atleast_2d(np.asarray(binned.model.coef_))[:, own]
    return float(np.ptp(weights, axis=1).sum()) if own else 0.0


def _residuals(binned: Scored, X: Any, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """What the sum over columns leaves of the target: shape (n, 1), or (n, K) of classes."""
    features = binned.transformer.transform(X)
    if not hasattr(binned.model, "classes_"):
        return np.asarray(y - binned.model.predict(features), dtype=np.float64)[:, None]
    left = -np.asarray(binned.model.predict_proba(features), dtype=np.float64)
    left[np.arange(len(y)), np.searchsorted(binned.model.classes_, y)] += 1
    return left
