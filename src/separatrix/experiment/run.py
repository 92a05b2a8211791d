"""Compare learners: tune each on held-out rows, refit the best, open the test set once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.validation import check_array

from separatrix.errors import ParameterError
from separatrix.experiment.comparison import Comparison, LeaderboardRow, credible_interval
from separatrix.experiment.split import Rows, Split, split_rows
from separatrix.experiment.tuning import refit, tune
from separatrix.registry import LEARNERS, Learner, Task, get
from separatrix.validation import check_frame, encode_labels

__all__ = ["Progress", "compare"]

SCALING = "Features are divided by their largest absolute value on the train rows."


@dataclass(frozen=True)
class Progress:
    """What a running comparison reports.

    Attributes
    ----------
    learner : str
        The learner at work.
    step, n_steps : int
        Settings tried, of at most how many; 0 when the learner starts.
    setting : str
        The last setting tried.
    held_out : float
        Its held-out accuracy.
    row : LeaderboardRow or None
        The learner's line, when it is done.
    """

    learner: str
    step: int
    n_steps: int
    setting: str = ""
    held_out: float = float("nan")
    row: LeaderboardRow | None = None


def compare(
    X: Any,
    y: Any,
    *,
    learners: Literal["auto"] | Sequence[str | Learner] = "auto",
    split: tuple[float, float, float] = (0.6, 0.2, 0.2),
    random_state: int = 0,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare learners honestly and score the best one on a sealed test set.

    Rows are split at random into train, held-out and test, each class in the same shares. The
    baselines run first. Every learner is fitted on the train rows for all its settings, and its
    setting is chosen by held-out accuracy: C along a warm-started path, or the number of passes by
    early stopping. The learner with the best held-out accuracy is the champion; ties go to the
    simpler setting and the learner that stands first in the registry. The champion is fitted again
    on train and held-out rows with the same setting, and only then is the test set opened, once.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n, d)
        Numeric features; each is divided by its largest absolute value on the train rows.
    y : array-like of shape (n,)
        Labels of any type, at least two classes.
    learners : "auto" or sequence of str, default="auto"
        Names of the registry (or `Learner` lines); "auto" takes those that can learn the
        task, but for the slow ones.
        Baselines always run.
    split : tuple of three floats, default=(0.6, 0.2, 0.2)
        Shares of train, held-out and test.
    random_state : int, default=0
        Seed of the split and of the learners.
    progress : callable, optional
        Called with a `Progress` when a learner starts, after each setting, and when it is done.

    Returns
    -------
    Comparison
        Leaderboard, champion and its test accuracy; `print` shows it as a table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = compare(X, y, learners=["linear_svm", "logistic_regression"])
    >>> [row.learner for row in result.leaderboard][-2:]
    ['majority_class', 'prior_sampling']
    >>> result.test_accuracy > 0.9
    True
    """
    start = time.perf_counter()
    X, y = _check(X, y)
    n_classes = len(np.unique(y))
    entries = _entries(learners, "binary" if n_classes == 2 else "multiclass", X.shape[1])
    parts = split_rows(X, y, split, random_state)
    # From here on nothing but the seal can reach the test rows.
    del X, y
    scaler = MaxAbsScaler().fit(parts.train.X)
    train = Rows(scaler.transform(parts.train.X), parts.train.y)
    held_out = Rows(scaler.transform(parts.held_out.X), parts.held_out.y)

    rows = [_tune_one(entry, train, held_out, random_state, progress) for entry in entries]
    leaderboard = tuple(sorted(rows, key=lambda row: -row.held_out))  # stable: ties keep order
    champion = leaderboard[0]
    chosen = next(entry for entry in entries if entry.name == champion.learner)
    estimator = refit(chosen, champion.value, _join(train, held_out), random_state)
    model = make_pipeline(scaler, estimator)

    n_right = _score_once(model, parts, champion.learner)
    n_test = parts.test.n_rows
    return Comparison(
        leaderboard=leaderboard,
        champion=champion,
        test_accuracy=n_right / n_test,
        test_interval=credible_interval(n_right, n_test),
        test_correct=n_right,
        n_train=len(train.y),
        n_held_out=len(held_out.y),
        n_test=n_test,
        n_features=int(train.X.shape[1]),
        n_classes=n_classes,
        steps=(SCALING,),
        seconds=time.perf_counter() - start,
        random_state=random_state,
        model=model,
    )


def _check(X: Any, y: Any) -> tuple[Any, npt.NDArray[Any]]:
    check_frame(X)
    X = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), order="C")
    classes, codes = encode_labels(y, X.shape[0])
    return X, classes[codes]


def _entries(
    learners: Literal["auto"] | Sequence[str | Learner], task: Task, n_features: int
) -> tuple[Learner, ...]:
    """Baselines first, then the learners asked for, in the order of the registry."""
    if isinstance(learners, str):
        if learners != "auto":
            raise ParameterError(f'learners must be "auto" or a list of names, got {learners!r}.')
        return tuple(
            entry
            for entry in LEARNERS
            if task in entry.tasks and (entry.widest is None or n_features <= entry.widest)
        )
    asked: dict[str, Learner] = {}
    for item in learners:
        try:
            entry = item if isinstance(item, Learner) else get(item)
        except KeyError as error:
            raise ParameterError(error.args[0]) from None
        if task not in entry.tasks:
            raise ParameterError(
                f"{entry.name} learns two classes only, and y has more; leave it out."
            )
        asked[entry.name] = entry
    known = tuple(entry for entry in LEARNERS if entry.baseline or asked.get(entry.name) == entry)
    return known + tuple(entry for entry in asked.values() if entry not in known)


def _tune_one(
    entry: Learner,
    train: Rows,
    held_out: Rows,
    random_state: int,
    progress: Callable[[Progress], None] | None,
) -> LeaderboardRow:
    if progress is None:
        return tune(entry, train, held_out, random_state)
    n_steps = max(1, len(entry.grid))
    step = 0
    progress(Progress(entry.name, 0, n_steps))

    def report(number: int, setting: str, score: float) -> None:
        nonlocal step
        step = number
        progress(Progress(entry.name, number, n_steps, setting, score))

    row = tune(entry, train, held_out, random_state, report)
    progress(Progress(entry.name, step, n_steps, row.setting, row.held_out, row))
    return row


def _join(first: Rows, second: Rows) -> Rows:
    y = np.concatenate([first.y, second.y])
    blocks: Any = [first.X, second.X]
    if sp.issparse(first.X):
        return Rows(sp.vstack(blocks, format="csr"), y)
    return Rows(np.vstack(blocks), y)


def _score_once(model: Any, parts: Split, champion: str) -> int:
    test = parts.test.open(champion)
    return int(np.count_nonzero(model.predict(test.X) == test.y))
