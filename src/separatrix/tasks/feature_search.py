"""Which features serve a quick linear model best on rows that it has not seen."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from separatrix.errors import ConvergenceWarning
from separatrix.metrics import Metric, Outcome
from separatrix.results import time_limit
from separatrix.tasks.rows import Rows
from separatrix.validation import distinct_values, drawn_rows

__all__ = ["Fold", "Scored", "Search", "Searched", "Trial", "some_rows"]

#: Strengths of the quick logistic regression, from strong to weak regularization.
QUICK_GRID = (0.1, 1.0, 10.0, 100.0)
#: Its relative gap: features that are better show it long before the optimum.
_ROUGH = 1e-2
#: Strengths in a row, no better than the best, after which the first fold leaves the grid.
_WORSE = 2
#: Most train rows it learns from, and most entries of its matrix of scores (rows x classes).
_ROWS, _SCORES = 20_000, 1_000_000
#: Rows on which a costly set is first compared with the best.
_PROBED = 5000


class Fold(NamedTuple):
    """Raw rows to learn from, and others to score."""

    train: Rows
    held_out: Rows


@dataclass(frozen=True)
class Searched:
    """One set of features with its score, for terminal, JSON and report.

    Attributes
    ----------
    name : str
        The features in a few words.
    held_out : float
        Score of the quick model.
    seconds : float
        Time for it.
    chosen : bool
    """

    name: str
    held_out: float
    seconds: float
    chosen: bool = False


class Trial(NamedTuple):
    """A set of features to be tried: its name, how rows become features, and strengths to try."""

    name: str
    preparation: Any
    grid: Sequence[float] = QUICK_GRID


class Scored(NamedTuple):
    """What a trial gave: its held-out outcome, and the best quick model of the first fold.

    `folds` holds an outcome for each fold, fewer than there are where it was far behind.
    """

    trial: Trial
    outcome: Outcome
    model: Any
    transformer: Any
    folds: tuple[Outcome, ...]
    C: float


class Search:
    """Tries sets of features, the cheap ones first, and keeps the best.

    A later set is taken where it leads by more than one standard error of the difference on the
    held-out rows, so that plain features stay unless others are really better.

    Parameters
    ----------
    folds : sequence of Fold
        Where to learn and where to score; scores of several are pooled.
    metric : Metric
        What decides.
    seconds : float
        Time; no set is begun when it is up, nor one that would take longer than what is left.
    quantity : bool
        Whether the target is a quantity.
    n_jobs : int, optional
        Threads.
    """

    def __init__(
        self,
        folds: Sequence[Fold],
        metric: Metric,
        seconds: float = math.inf,
        *,
        quantity: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.metric, self.seconds, self.quantity, self.n_jobs = metric, seconds, quantity, n_jobs
        n_classes = 1 if quantity else len(distinct_values(folds[0].train.y)[0])
        most = max(1000, min(_ROWS, _SCORES // n_classes))
        self.folds = [Fold(some_rows(f.train, most), some_rows(f.held_out, most)) for f in folds]
        self.y = _joined([fold.held_out.y for fold in self.folds])
        self.start = time.perf_counter()
        self.tried: list[Searched] = []
        self._counted: dict[tuple[int, str], list[Any]] = {}

    def run(self, trials: Generator[Trial, Scored]) -> Scored:
        """Score what the generator yields; it is told each result."""
        best: Scored | None = None
        trial = next(trials)
        while True:
            begun = time.perf_counter()
            with time_limit(self.seconds - (begun - self.start)):
                scored = self.score(trial, best)
            took = time.perf_counter() - begun
            self.tried.append(Searched(trial.name, scored.outcome.score, took))
            if best is None or self.leads(scored, best):
                best = scored
            if time.perf_counter() - self.start + took > self.seconds:
                break
            try:
                trial = trials.send(scored)
            except StopIteration:
                break
        assert best is not None
        chosen = best.trial.name
        self.tried = [replace(one, chosen=one.name == chosen) for one in self.tried]
        return best

    def leads(self, one: Scored, other: Scored) -> bool:
        """Whether a later set is better by more than the noise."""
        if len(one.folds) < len(other.folds):
            return False
        lead = self.metric.gain(one.outcome.score) - self.metric.gain(other.outcome.score)
        return lead > self.metric.noise(one.outcome, other.outcome, self.y)

    def score(self, trial: Trial, best: Scored | None = None) -> Scored:
        """The held-out score of a quick model on some features, at its best strength.

        Folds are left out when the first shows that it is behind `best` by more than the noise, or
        several that it does not lead.
        """
        outcomes: dict[float, list[Outcome]] = {}
        models: dict[float, Any] = {}
        grid, first = trial.grid, None
        for number, fold in enumerate(self.folds):
            transformer, train, held_out = self._features(trial.preparation, number, fold)
            first = transformer if number == 0 else first
            top, n_worse = -math.inf, 0
            for C, model in self._models(train, fold.train.y, grid):
                outcome = self.metric.outcome(model, held_out, fold.held_out.y)
                outcomes.setdefault(C, []).append(outcome)
                if number == 0:
                    models[C] = model
                    # Weaker regularization takes longer with every step, and seldom helps again.
                    gain = self.metric.gain(outcome.score)
                    n_worse = n_worse + 1 if gain <= top else 0
                    top = max(top, gain)
                    if n_worse == _WORSE:
                        break
            grid = tuple(models)
            # A strength that time did not allow on every fold cannot be compared.
            whole = {C: own for C, own in outcomes.items() if len(own) == number + 1}
            pooled = {C: self._pooled(own) for C, own in whole.items()}
            chosen = max(pooled, key=lambda C: (self.metric.gain(pooled[C].score), -C))
            found = Scored(
                trial, pooled[chosen], models[chosen], first, tuple(whole[chosen]), chosen
            )
            if best is not None and self._is_behind(found, best):
                break
        return found

    def _features(self, preparation: Any, number: int, fold: Fold) -> tuple[Any, Any, Any]:
        """The fitted preparation, and what it makes of the rows of a fold.

        Texts are counted once for each kind of terms, whichever others stand beside them.
        """
        if not hasattr(preparation, "vectorizers"):
            transformer = preparation.fit(fold.train.X, fold.train.y, self.n_jobs)
            parts = [transformer.transform(rows.X) for rows in fold]
            return transformer, parts[0], parts[1]
        blocks = []
        for _, vectorizer in preparation.vectorizers(len(fold.train.y), self.n_jobs):
            key = (number, repr(vectorizer))
            if key not in self._counted:
                vectorizer.fit(fold.train.X, fold.train.y)
                self._counted[key] = [vectorizer.transform(rows.X) for rows in fold]
            blocks.append(self._counted[key])
        if len(blocks) == 1:
            return None, *blocks[0]
        return None, *(sp.hstack(both, format="csr") for both in zip(*blocks, strict=True))

    def worth_trying(self, trial: Trial, best: Scored) -> bool:
        """Whether a costly set is not behind the best on a few of the rows, both learned there."""
        if len(self.folds[0].train.y) <= _PROBED:
            return True
        some = [
            Fold(some_rows(f.train, _PROBED), some_rows(f.held_out, _PROBED)) for f in self.folds
        ]
        few = Search(some[:1], self.metric, quantity=self.quantity, n_jobs=self.n_jobs)
        begun = time.perf_counter()
        base, found = few.score(best.trial), few.score(trial)
        lag = self.metric.gain(base.outcome.score) - self.metric.gain(found.outcome.score)
        if lag <= self.metric.noise(base.outcome, found.outcome, few.y):
            return True
        name = f"{trial.name} ({_PROBED} rows, {base.trial.name} {base.outcome.score:.4f} there)"
        self.tried.append(Searched(name, found.outcome.score, time.perf_counter() - begun))
        return False

    def _is_behind(self, one: Scored, best: Scored) -> bool:
        n = min(len(one.folds), len(best.folds))
        own, other = self._pooled(one.folds[:n]), self._pooled(best.folds[:n])
        lag = self.metric.gain(other.score) - self.metric.gain(own.score)
        if n > 1 and lag >= 0:
            return True
        return lag > self.metric.noise(own, other, _joined([f.held_out.y for f in self.folds[:n]]))

    def _models(self, X: Any, y: Any, grid: Sequence[float]) -> Any:
        """Fitted quick models, with their strengths."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.quantity:
                from separatrix.bayes import BayesianLinearRegression

                yield 1.0, BayesianLinearRegression().fit(X, y)
                return
            from separatrix.learners.linear import LogisticRegression, follow_path

            # The same choice in every run, whichever solver is taken.
            template = LogisticRegression(
                tol=_ROUGH, max_iter=200, random_state=0, n_jobs=self.n_jobs
            )
            for model in follow_path(template, X, y, grid):
                yield float(model.C), model

    def _pooled(self, outcomes: Sequence[Outcome]) -> Outcome:
        if len(outcomes) == 1:
            return outcomes[0]
        seen = [fold.held_out.y for fold in self.folds[: len(outcomes)]]
        return self.metric.pooled(outcomes, _joined(seen))

    def words(self) -> str:
        """The choice in words."""
        told = ", ".join(f"{one.name} {one.held_out:.4f}" for one in self.tried)
        chosen = next(one.name for one in self.tried if one.chosen)
        model = "linear" if self.quantity else "logistic"
        how = f" over {len(self.folds)} folds" if len(self.folds) > 1 else ""
        return (
            f"Features: {chosen}, by the held-out {self.metric.title} of a quick {model} "
            f"regression{how} ({told}); later ones are taken where they lead by more than the "
            "noise."
        )


def some_rows(rows: Rows, most: int) -> Rows:
    """At most so many rows, drawn with a fixed seed, in their order."""
    n = len(rows.y)
    return rows if n <= most else rows.take(drawn_rows(n, most))


def _joined(targets: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return targets[0] if len(targets) == 1 else np.concatenate(targets)
