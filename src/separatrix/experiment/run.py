"""The experiment: tune learners on held-out rows, refit the best, open the test set once."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from separatrix.bayes import BayesDecision
from separatrix.errors import ParameterError, SeparatrixError
from separatrix.experiment.calibrating import N_FOLDS, calibrate, check_calibration
from separatrix.experiment.candidates import Wanted, candidates
from separatrix.experiment.clock import Clock
from separatrix.experiment.curves import learning_curves, training_curves
from separatrix.experiment.folding import (
    folds_of,
    number_of_folds,
    over_folds,
    pooled_targets,
)
from separatrix.experiment.ranking import (
    efforts_of,
    finalists_of,
    preferred,
    result_findings,
    row_of,
    row_of_previous,
)
from separatrix.experiment.reference import reference_row
from separatrix.experiment.repeating import check_repeats, summed_up
from separatrix.experiment.result import LeaderboardRow, Result
from separatrix.experiment.source import as_dataset, fingerprint
from separatrix.experiment.split import Stratified, check_shares
from separatrix.experiment.splitting import make_parts
from separatrix.experiment.testing import Finalist, open_test
from separatrix.experiment.thinning import within_budget
from separatrix.experiment.tuning import Tuned, most_settings, refit, tune
from separatrix.metrics import Metric
from separatrix.registry import LEARNERS, Learner, load
from separatrix.report.content import ROLES, Role
from separatrix.report.parts import Findings, Part
from separatrix.tasks import Task, find_task
from separatrix.tasks.classes import best_threshold
from separatrix.tasks.feature_search import Fold
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import Prepared, Texts
from separatrix.tasks.rows import Rows
from separatrix.validation import check_choice

__all__ = ["Experiment", "Progress"]

CALIBRATIONS = ("auto", "none", "temperature", "sigmoid", "isotonic")


_LINES = {line.name: line for line in LEARNERS}


@dataclass(frozen=True)
class Progress:
    """What a running experiment reports.

    Attributes
    ----------
    learner : str
        The learner at work; empty between learners.
    step, n_steps : int
        Settings tried, of at most how many; 0 when the learner starts.
    setting : str
        The last setting tried.
    held_out : float
        Its held-out score.
    row : LeaderboardRow or None
        The learner's line, when it is done.
    stage : str
        What goes on while no learner is at work.
    """

    learner: str = ""
    step: int = 0
    n_steps: int = 1
    setting: str = ""
    held_out: float = float("nan")
    row: LeaderboardRow | None = None
    stage: str = ""


class Experiment:
    """From data to a champion: an honest comparison of learners, and one look at the test set.

    Rows are split into train, held-out and test. The baselines run first. Every learner is fitted
    on the train rows for all its settings (C along a warm-started path, passes with early
    stopping) and its setting is chosen by held-out score; so are champion and runner-up. Their
    probabilities are calibrated on the held-out rows where they need it, both are fitted again on
    train and held-out rows, and only then is the test set opened, once, for both.

    Parameters
    ----------
    data : path, Dataset, DataFrame, dict of columns, or (X, y)
        What to learn from. Files are read by `separatrix.data.read`.
    target : str or int, default="auto"
        The column to predict.
    learners : "auto" or sequence of str, default="auto"
        Names of the registry; "auto" takes those that suit the task and the size.
    metric : str, default="auto"
        "accuracy", "balanced_accuracy", "macro_f1", "log_loss", "cost"; "rmse", "log_density" for
        regression; "chunk_f1", "token_accuracy", "sequence_accuracy" for sequences;
        "subset_accuracy", "hamming_loss", "example_f1" for label sets, whose predictions are then
        the best for it; "pixel_accuracy", "mean_overlap" for label images. "auto": cost where
        `cost` is given, else accuracy or rmse; of sequences chunk F1 where the labels tell chunks
        (BIO, IOB, BIOES), else the accuracy of the tokens; of label sets the share of whole sets;
        of label images the accuracy of the pixels.
    split : three floats, Stratified, Grouped, ByTime or Given, default=(0.6, 0.2, 0.2)
        How rows are split; shares stand for `Stratified`, or for `ByDocument` where a file of
        sequences marks documents.
    budget : float, optional
        Seconds for everything. One learner is tried in any case, the most dependable one; what
        cannot be tried in time is left out, and rows beyond those that can be learned from, and
        both is said.
    cost : path or array of shape (K, K), optional
        Costs of decisions (see `separatrix.experiment.costs`): the metric, and what predictions
        of the champion minimize.
    task : str
        "binary", "multiclass", "classification", "regression", "tagging", "label_sets",
        "label_images" or "auto"; "auto" finds it from the target.
    drop : sequence of str
        Columns to leave out.
    templates : str or list, default="auto"
        For sequences, what tokens are described by: a preset of `Templates` or their text; "auto"
        takes the preset that serves a quick perceptron best on the held-out sequences.
    features : {"auto", "plain"}, default="auto"
        Whether features are searched: of tables arsinh of the numbers, bins cut by the target,
        splines, pairs of columns, radial functions; of texts sequences of words and characters,
        case, and the log-count ratio. Those that serve a quick linear model better than the plain
        ones on held-out rows, by more than the noise, are taken; radial functions only where they
        keep up on 5,000 rows.
    ngrams, characters : (int, int), None or "auto"
        Of texts, least and largest number of words, and of characters inside words, in a term;
        None for no such terms. "auto": searched, where `features` is, from single words on.
    folds : int, optional
        Folds of the train and held-out rows by which features and settings are chosen, every row
        held out once; the test rows stay outside. None: 5 where there are fewer than 2,000 such
        rows, split at random, and no budget, else 1 for the held-out rows alone.
    repeats : int, default=1
        Seeds with which the whole experiment is run, each splitting and tuning anew; the result is
        that of the first, and tells the mean of the test scores with an interval.
    champion : str, optional
        Name of the learner that is to be the champion, whatever the held-out rows say.
    previous : estimator, optional
        A fitted model that takes raw rows, as a strong baseline.
    reference : bool, optional
        Whether scikit-learn's HistGradientBoosting stands in the leaderboard, to see what linearity
        costs; it is never champion. None: of tables where `learners` is "auto" and it does not take
        long.
    class_weight : "balanced" or dict of class -> float, optional
        Weights of the rows of each class, for the learners that take them; "balanced" gives every
        class the same. Learners that take none are left out, and the result says so.
    calibration : {"auto", "none", "temperature", "sigmoid", "isotonic"}
        How the champion's probabilities are calibrated. Where it has none and `cost` needs them,
        "none" stands for "temperature".
    random_state : int, default=0
        Seed of the split and the learners.
    n_jobs : int, optional
        Threads.
    name, command : str
        Name of the data and the command that repeats the experiment, for the report.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import Experiment
    >>> experiment = Experiment(
    ...     load_iris(return_X_y=True), learners=["linear_svm", "logistic_regression"]
    ... )
    >>> result = experiment.run()
    >>> [row.learner for row in result.leaderboard][-2:]
    ['majority_class', 'prior_sampling']
    >>> result.test_score > 0.9
    True
    """

    def __init__(
        self,
        data: Any,
        target: Any = "auto",
        *,
        learners: Wanted = "auto",
        metric: str = "auto",
        split: Any = (0.6, 0.2, 0.2),
        budget: float | None = None,
        cost: Any = None,
        task: str = "auto",
        drop: Sequence[str] = (),
        templates: Any = "auto",
        features: str = "auto",
        ngrams: Any = "auto",
        characters: Any = "auto",
        folds: int | None = None,
        repeats: int = 1,
        champion: str | None = None,
        previous: Any = None,
        reference: bool | None = None,
        class_weight: Any = None,
        calibration: str = "auto",
        random_state: int = 0,
        n_jobs: int | None = None,
        name: str = "",
        command: str = "",
    ) -> None:
        check_choice("calibration", calibration, CALIBRATIONS)
        self.data, self.target = data, target
        self.learners, self.metric = learners, metric
        self.split = split if hasattr(split, "rows") else Stratified(check_shares(split))
        self.budget, self.cost, self.task = budget, cost, task
        self.reference, self.class_weight = reference, class_weight
        self.drop, self.previous, self.calibration = tuple(drop), previous, calibration
        check_choice("features", features, ("auto", "plain"))
        terms = {"words": ngrams, "characters": characters}
        self.terms = {name: value for name, value in terms.items() if value != "auto"}
        self.champion, self.templates, self.features = champion, templates, features
        self.folds = folds
        self.repeats = check_repeats(repeats, self.split, budget)
        self.random_state, self.n_jobs = random_state, n_jobs
        self.name, self.command = name, command

    def __repr__(self) -> str:
        given = {"learners": self.learners, "metric": self.metric, "task": self.task}
        told = [f"{name}={value!r}" for name, value in given.items() if value != "auto"]
        return f"Experiment({', '.join([self.name or type(self.data).__name__, *told])})"

    def _repr_html_(self) -> str:
        """The experiment in a notebook: what it is about, and that it has to be run."""
        shown = getattr(self.data, "_repr_html_", lambda: "")()
        return f"<p><code>{escape(repr(self))}</code>; <code>run()</code> runs it.</p>{shown}"

    def run(
        self, progress: Callable[[Progress], None] | None = None, *, keep_data: bool = True
    ) -> Result:
        """Run the experiment.

        Parameters
        ----------
        progress : callable, optional
            Called with a `Progress` when a stage or learner starts, after each setting, and when a
            learner is done.
        keep_data : bool, default=True
            False lets go of the data as soon as their rows are split, which saves memory; the
            experiment cannot be run again then.

        Returns
        -------
        Result
            `print` shows it as a table; `save` and `to_html` write model and report.
        """
        if self.repeats > 1:
            return self._repeated(progress)
        tell = progress or (lambda _: None)
        clock = Clock(self.budget)
        tell(Progress(stage="looking at the data"))
        data = as_dataset(self.data, self.target)
        if not keep_data:
            self.data = None
        task = find_task(data, self.task)
        name, mark = self.name or data.source, fingerprint(data)
        data, thinned = within_budget(data, task, self.drop, clock)
        cost = task.cost(self.cost, data.y)
        metric = task.metric(self.metric, data.y, cost)
        n_rows = len(data)
        parts, inputs, remarks = make_parts(
            data, self.split, task, self.drop, self.random_state, reuse=not keep_data
        )

        tell(Progress(stage="preparing the features"))
        preparation = task.preparation(
            self.templates, inputs, parts.train, parts.held_out, metric, clock.for_search(4)
        )
        # What the model will need; a previous one may need more, so that rows keep all they have.
        needed = preparation.inputs
        described = task.profile(data, needed)
        # From here on nothing but the seal can reach the test rows.
        del data
        raw = Rows(inputs.take(parts.train), parts.train.y)
        raw_held_out = Rows(inputs.take(parts.held_out), parts.held_out.y)
        plain, search = Texts.with_terms(preparation, **self.terms), None
        preparation = plain
        everything = raw.joined(raw_held_out)
        n_folds = number_of_folds(
            self.folds, len(everything.y), self.split, task, metric, self.budget is not None
        )
        folds = folds_of(raw, raw_held_out, task, n_folds, self.random_state)
        if self._searches_features():
            preparation, search = task.features(
                plain, folds, metric, clock.for_search(4), self.n_jobs
            )
        check_calibration(self.calibration, everything.y, task)
        ways = (preparation,) if preparation is plain else (preparation, plain)
        first = [way.fit(raw.X, raw.y, self.n_jobs) for way in ways]
        train: Any = Prepared.of(raw, *first)
        held_out = Prepared.of(raw_held_out, *first)
        further = [Prepared.fold(fold, ways, self.n_jobs) for fold in folds[1:]]
        seen = pooled_targets(folds)

        classes = task.labels(raw.y)
        n_classes = 0 if classes is None else len(classes)
        lines = tuple(
            task.adapted(line, metric)
            for line in candidates(
                self.learners,
                task,
                train.n_features,
                len(raw.y),
                n_classes,
                None if train.plain is None else train.plain.n_features,
            )
            if task.suits(line, raw) or (self.learners != "auto" and not line.baseline)
        )
        lines, unweighted = self._weighted(lines, classes)
        pairs = ((train, held_out), *further)
        tuned, notes = self._search(lines, pairs, task, metric, clock, tell)
        notes += (*thinned, *remarks, *unweighted)
        if further:
            tell(Progress(stage=f"{len(folds)} folds"))
        tuned = self._over_folds(tuned, pairs, metric)
        rows = [row_of(one) for one in tuned]
        if self.previous is not None:
            scored = everything if further else raw_held_out
            rows.append(row_of_previous(self.previous, scored, metric, task))
        leaderboard = _ordered(rows, metric)
        by_name = {one.learner.name: one for one in tuned}
        front = preferred(leaderboard, by_name, metric, seen)
        chosen = finalists_of(leaderboard, self.champion, notes, front)
        if chosen[0] is not leaderboard[0]:
            why = "" if self.champion else ", but within the noise, and its solver was cut short"
            better = f"{leaderboard[0].learner} does better on the held-out {task.units}"
            notes += (f"{better}{why}.",)
        beside = None
        wanted = self.learners == "auto" if self.reference is None else self.reference
        if wanted and task.compares_with_trees and needed.kind in ("table", "matrix"):
            tell(Progress(stage="boosted trees, for reference"))
            beside = reference_row(pairs, metric, task, clock.for_refit(3), self.random_state)
        del further, pairs
        if beside is not None:
            leaderboard = _ordered((*leaderboard, beside), metric)

        names = [row.learner for row in chosen]
        roles: dict[str, Role] = dict(zip(names, ROLES, strict=False))
        leaderboard = tuple(replace(row, role=roles.get(row.learner, "")) for row in leaderboard)
        chosen = tuple(row for name in roles for row in leaderboard if row.learner == name)

        last = [by_name[row.learner] for row in chosen if row.learner in by_name]
        # About a setting each.
        refits = sum(one.seconds / max(1, len(one.curve)) for one in last)
        champion = by_name.get(chosen[0].learner)
        pictures: list[Part] = [training_curves(tuned, leaderboard)]
        if champion is not None and clock.spare(
            refits + 2 * champion.seconds / max(1, len(champion.curve))
        ):
            tell(Progress(stage="learning from fewer rows"))
            curve = learning_curves(
                champion, train.for_learner(champion.learner),
                held_out.for_learner(champion.learner), metric, self.random_state, self.n_jobs,
                clock.for_refit(1 + len(last)), task,
            )  # fmt: skip
            pictures.append(curve)

        tell(Progress(stage="fitting the best again"))
        # A last fit that is cut short is worse than one on fewer rows.
        if clock.spare(refits):
            if all(one.estimator is not None for one in last):
                train = None  # memory for the rows of the last fits
            again = [way.fit(everything.X, everything.y, self.n_jobs) for way in ways]
            all_rows = Prepared.of(everything, *again)
        else:
            all_rows = train
            notes += (f"No time was left to fit the best again: they know the train {task.units}.",)
        finalists = []
        for number, row in enumerate(chosen):
            if row.learner not in by_name:
                finalists.append(Finalist(row, self.previous, self.previous, "", 0.0))
                continue
            finalist = self._finish(
                row, by_name[row.learner], train, held_out, all_rows, cost, task, metric,
                clock.for_refit(len(chosen) - number),
            )  # fmt: skip
            finalists.append(finalist)

        # The last fits are done: only the raw rows are still needed.
        n_features, classes = all_rows.n_features, task.labels(everything.y)
        del train, held_out, all_rows
        tell(Progress(stage="testing"))
        test = parts.test.open(" and ".join(repr(row.learner) for row in chosen))
        raw_test = Rows(inputs.take(test), test.y)
        opened = open_test(finalists, inputs, test, raw_test.X, task, metric, cost)
        suspicious, checks = task.findings(needed, raw, raw_held_out, raw_test)
        suspicious += result_findings(chosen, leaderboard, by_name, opened.report, metric, seen)
        findings = tuple(sorted(suspicious, key=lambda one: not one.serious))
        looked_for = (*checks, "a champion no better than a baseline")
        efforts = efforts_of(leaderboard, finalists, opened.microseconds, clock.budget, metric)
        sizes = {"train": len(raw.y), "held-out": len(raw_held_out.y), "test": len(test.y)}
        sizes["features"] = n_features
        if classes is not None:
            sizes["classes"] = len(classes)
        return Result(
            leaderboard=leaderboard,
            champion=chosen[0],
            runner_up=chosen[1] if len(chosen) > 1 else None,
            metric=metric,
            task=task,
            inputs=needed,
            test=opened.report,
            sizes=sizes,
            split=parts.rule,
            steps=(
                preparation.describe(),
                *(() if search is None else (search.words(),)),
                *_by_folds(folds, task),
                *_left_out(needed),
            ),
            features=() if search is None else tuple(search.tried),
            notes=(*notes, finalists[0].calibration) if finalists[0].calibration else notes,
            findings=findings,
            parts=(
                opened.report,
                *opened.parts,
                *pictures,
                efforts,
                Findings(findings, looked_for),
                described,
            ),
            source=name or f"{n_rows} rows",
            fingerprint=mark,
            seconds=clock.seconds,
            random_state=self.random_state,
            model=finalists[0].model,
            command=self.command,
        )

    def _repeated(self, progress: Callable[[Progress], None] | None) -> Result:
        """The result of the first seed, with the test scores of all."""
        seeds = tuple(range(self.random_state, self.random_state + self.repeats))
        first: Result | None = None
        champions, scores = [], []
        for seed in seeds:
            one = copy.copy(self)
            one.random_state, one.repeats = seed, 1
            found = one.run(progress)
            first = first or found
            champions.append(found.champion.learner)
            scores.append(found.test_score)
        assert first is not None
        over = summed_up(seeds, tuple(champions), tuple(scores), first.sizes)
        note = over.words(first.metric.title)
        return replace(first, repeats=over, notes=(*first.notes, note))

    def _weighted(
        self, lines: tuple[Learner, ...], classes: Any
    ) -> tuple[tuple[Learner, ...], tuple[str, ...]]:
        """The learners with the weights of the classes, and who takes none in words."""
        given = self.class_weight
        if given is None:
            return lines, ()
        if classes is None:
            raise ParameterError("class_weight is for classes, and the target holds none")
        if given != "balanced":
            by_name = {str(label): label for label in classes.tolist()}
            unknown = [str(label) for label in given if str(label) not in by_name]
            if unknown:
                raise ParameterError(
                    f"class_weight names {unknown[0]!r}, which is no class; there are "
                    f"{', '.join(by_name)}"
                )
            given = {by_name[str(label)]: float(weight) for label, weight in given.items()}
        able = [
            line.baseline or "class_weight" in signature(load(line.target)).parameters
            for line in lines
        ]
        kept = tuple(
            line if line.baseline else replace(line, params=(*line.params, ("class_weight", given)))
            for line, takes in zip(lines, able, strict=True)
            if takes
        )
        without = [line.name for line, takes in zip(lines, able, strict=True) if not takes]
        if all(line.baseline for line in kept):
            raise ParameterError(f"{', '.join(without)} cannot weigh classes")
        words = f"Left out, since they cannot weigh classes: {', '.join(without)}."
        return kept, (words,) if without else ()

    def _searches_features(self) -> bool:
        """Whether a learner takes features that are searched."""
        if self.features == "plain":
            return False
        if isinstance(self.learners, str):
            return True
        lines = [one if isinstance(one, Learner) else _LINES.get(one) for one in self.learners]
        return any(line is not None and not (line.plain or line.raw) for line in lines)

    def _search(
        self,
        lines: tuple[Learner, ...],
        folds: Sequence[tuple[Prepared, Prepared]],
        task: Task,
        metric: Metric,
        clock: Clock,
        tell: Callable[[Progress], None],
    ) -> tuple[list[Tuned], tuple[str, ...]]:
        tuned: list[Tuned] = []
        notes: list[str] = []
        failed: Exception | None = None
        if math.isfinite(clock.budget):
            lines = tuple(sorted(lines, key=lambda line: (not line.baseline, not line.dependable)))
        first = next((line for line in lines if not line.baseline), None)
        for number, learner in enumerate(lines):
            seconds = clock.for_search(len(lines) - number)
            if learner is first:
                seconds = clock.for_first()
            elif seconds == 0 and not learner.baseline:
                notes.append(f"{learner.name} was not tried: the time was up.")
                continue
            n_steps = most_settings(learner, folds[0][0].for_learner(learner))
            tell(Progress(learner.name, 0, n_steps))
            step = 0

            def report(
                at: int, setting: str, score: float, name: str = learner.name, n: int = n_steps
            ) -> None:
                nonlocal step
                step = at
                tell(Progress(name, at, n, setting, score))

            try:
                train, held_out = (part.for_learner(learner) for part in folds[0])
                one = tune(
                    learner, train, held_out, metric,
                    random_state=self.random_state, n_jobs=self.n_jobs, seconds=seconds,
                    report=report, keep=len(folds) > 1,
                )  # fmt: skip
            except (SeparatrixError, ValueError) as error:
                if self.learners != "auto" or learner.baseline:
                    raise
                failed = error
                notes.append(f"{learner.name} cannot learn from these rows: {error}")
                continue
            one = one.decided(task, held_out, metric)
            tuned.append(one)
            if not one.complete:
                notes.append(f"{learner.name} tried {len(one.curve)} settings before time was up.")
            row = row_of(one)
            tell(Progress(learner.name, step, n_steps, row.setting, row.held_out, row))
        if failed is not None and all(one.learner.baseline for one in tuned):
            raise failed
        return tuned, tuple(notes)

    def _over_folds(
        self, tuned: list[Tuned], folds: Sequence[tuple[Prepared, Prepared]], metric: Metric
    ) -> list[Tuned]:
        """The learners with their scores over all folds."""
        if len(folds) == 1:
            return tuned
        found = []
        for one in tuned:
            rows = [Fold(*(p.for_learner(one.learner) for p in fold)) for fold in folds]
            given: Any = {"random_state": self.random_state, "n_jobs": self.n_jobs}
            whole = over_folds(one, rows, metric, **given)
            curve = tuple(point._replace(outcome=None) for point in whole.curve)
            found.append(replace(whole, curve=curve))
        return found

    def _finish(
        self,
        row: LeaderboardRow,
        one: Tuned,
        train: Prepared | None,
        held_out: Prepared,
        everything: Prepared,
        cost: npt.NDArray[np.float64] | None,
        task: Task,
        metric: Metric,
        seconds: float,
    ) -> Finalist:
        """Calibrate on the held-out rows, fit on all rows, and put the raw input before it."""
        method = self.calibration
        n_fits = 1 + (one.estimator is None) + (N_FOLDS if method == "isotonic" else 0)

        def fit(rows: Rows, begun: Any = None) -> Any:
            return refit(
                one.learner, one.value, rows, random_state=self.random_state,
                n_jobs=self.n_jobs, seconds=seconds / n_fits, begun=begun,
            )  # fmt: skip

        start = time.perf_counter()
        rows = everything.for_learner(one.learner)
        kept = everything is train and one.estimator is not None
        plain = one.estimator if kept else fit(rows, one.estimator)
        refit_seconds = time.perf_counter() - start
        final, words = plain, ""
        if one.decide is not None:
            final, words = one.decide(plain), one.decision
        if task.calibrates and not one.learner.baseline:
            fitted = one.estimator
            if fitted is None:
                assert train is not None  # kept where an estimator was not
                fitted = fit(train.for_learner(one.learner))
            decides = cost is not None or one.decide is not None
            if decides and method == "none" and not hasattr(plain, "predict_proba"):
                method = "temperature"  # without probabilities there is no expected cost
            found, words = calibrate(fitted, held_out.for_learner(one.learner), method, fit, rows)
            final = plain if found is None else found.carried_over(plain)
            if one.decide is not None and cost is None:
                # The threshold is one of probabilities: a decision under costs, which is saved so.
                scored = fitted if found is None else found
                threshold = best_threshold(scored, held_out.for_learner(one.learner), metric)
                if threshold is not None:
                    cost = np.array([[0.0, threshold], [1 - threshold, 0.0]])
                    words += f" Predicts {plain.classes_[1]} where its probability is above "
                    words += f"{threshold:.3g}, the best by held-out {metric.title}."
        if cost is not None:
            decision = BayesDecision(FrozenEstimator(final), cost).fit(rows.X, rows.y)
            decision.estimator, decision.estimator_ = clone(final), final
            final = decision
        return Finalist(
            row,
            everything.model(one.learner, final),
            everything.model(one.learner, plain),
            words,
            refit_seconds,
        )


def _ordered(rows: Sequence[LeaderboardRow], metric: Metric) -> tuple[LeaderboardRow, ...]:
    """Best first; ties keep the order of the registry."""
    return tuple(sorted(rows, key=lambda row: -metric.gain(row.held_out)))


def _by_folds(folds: Sequence[Fold], task: Task) -> tuple[str, ...]:
    if len(folds) == 1:
        return ()
    rows = f"train and held-out {task.units}"
    return (f"Settings: by {len(folds)} folds of the {rows}, the test {task.units} apart.",)


def _left_out(inputs: Inputs) -> tuple[str, ...]:
    if not inputs.left_out:
        return ()
    reasons: dict[str, list[str]] = {}
    for name, why in inputs.left_out:
        reasons.setdefault(why, []).append(repr(name))
    words = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    return (f"Columns left out: {words}.",)
