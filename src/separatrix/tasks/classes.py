"""One class for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from separatrix.bayes import CostMatrix
from separatrix.bayes.calibration import Calibrated
from separatrix.bayes.comparison import accuracy_interval
from separatrix.data import Dataset, LabelSets, TokenColumn, read
from separatrix.errors import DataError, ParameterError
from separatrix.metrics import (
    ClassReport,
    Metric,
    Outcome,
    calibration_bins,
    confusion_matrix,
    expected_calibration_error,
    log_loss,
    per_class_report,
)
from separatrix.report import parts as shown
from separatrix.report.parts import Finding, Part, Profile
from separatrix.tasks.feature_search import Fold, Search
from separatrix.tasks.feature_trials import search_features
from separatrix.tasks.findings import (
    alone_class,
    columns_of,
    common_findings,
    few_rows,
    imbalance,
    leaks,
)
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import Preparation
from separatrix.tasks.reasons import explanations, scorecard_part, weights_part
from separatrix.tasks.rows import Rows, row_text
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
    word,
)
from separatrix.validation import check_cost, distinct_values, number_values

__all__ = [
    "Classes",
    "best_threshold",
    "check_values",
    "match_labels",
    "probabilities",
    "read_costs",
]

Floats = npt.NDArray[np.float64]

#: Mistakes that a report shows, and right and wrong predictions that it explains.
_SHOWN, _EXPLAINED = 12, 2
#: Confusions of more classes are told in pairs, not in a matrix.
_MATRIX, _PAIRS = 12, 10
#: Classes that the page of the service ranks.
_RANKED = 8
#: Thresholds between two classes that are tried.
_THRESHOLDS = 400


def probabilities(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    """P(class | row); where a model has scores only, by the temperature that suits these rows best.

    The one number that is fitted to the rows to be scored is the same help for every such model.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    return Calibrated(model).calibrate(X, y).predict_proba(X)


def _right(predictions: Any, y: npt.NDArray[Any]) -> Floats:
    return np.asarray(predictions == y, dtype=np.float64)


def _balanced(predictions: Any, y: npt.NDArray[Any]) -> float:
    return float(
        np.mean([np.mean(predictions[y == label] == label) for label in distinct_values(y)[0]])
    )


def _macro_f1(predictions: Any, y: npt.NDArray[Any]) -> float:
    return per_class_report(y, predictions).macro.f1


def _log_losses(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    own = probabilities(model, X, y)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(np.maximum(own, np.finfo(np.float64).eps))


#: Metrics of the rarer of two classes.
_RARER = ("f1", "roc_auc", "average_precision")


def second_scores(model: Any, X: Any) -> Floats:
    """For two classes, how much speaks for the second: its probability, or the score."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return _right(model.predict(X), model.classes_[1])


def _of_rarer(metric: Metric, y: npt.NDArray[Any]) -> Metric:
    """F1, ROC or average precision of the rarer of two classes; of the second if they are even."""
    labels, counts = np.unique(y, return_counts=True)
    if len(labels) != 2:
        raise ParameterError(
            f"{metric.name} is for two classes, and there are {len(labels)}: take macro_f1, "
            "balanced_accuracy or log_loss"
        )
    rarer = labels[counts.argmin() if counts[0] != counts[1] else 1]
    title = metric.title.replace("the rarer class", f"class {word(rarer)}")
    if metric.name == "f1":
        return replace(metric, title=title, whole=partial(_f1, rarer=rarer))

    def output(model: Any, X: Any) -> Floats:
        scores = second_scores(model, X)
        return scores if model.classes_[1] == rarer else -scores

    whole = _roc_auc if metric.name == "roc_auc" else _average_precision
    return replace(metric, title=title, whole=partial(whole, rarer=rarer), output=output)


def _rarer(y: npt.NDArray[Any]) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    return labels[counts.argmin()]


def _f1(predictions: Any, y: npt.NDArray[Any], rarer: Any = None) -> float:
    rarer = _rarer(y) if rarer is None else rarer
    hits = np.count_nonzero((predictions == rarer) & (y == rarer))
    both = np.count_nonzero(predictions == rarer) + np.count_nonzero(y == rarer)
    return 2 * hits / both if both else 0.0


def _roc_auc(scores: Any, y: npt.NDArray[Any], rarer: Any = None) -> float:
    from sklearn.metrics import roc_auc_score  # few need it

    true = y == (_rarer(y) if rarer is None else rarer)
    return 0.5 if true.all() or not true.any() else float(roc_auc_score(true, scores))


def _average_precision(scores: Any, y: npt.NDArray[Any], rarer: Any = None) -> float:
    from sklearn.metrics import average_precision_score

    true = y == (_rarer(y) if rarer is None else rarer)
    return float(average_precision_score(true, scores)) if true.any() else 0.0


def best_threshold(model: Any, rows: Rows, metric: Metric) -> float | None:
    """The score of the second class above which to predict it, best by a metric of predictions.

    Thresholds lie between the scores of rows; many rows are looked at in steps.
    """
    assert metric.whole is not None
    scores = second_scores(model, rows.X)
    known = np.unique(scores)
    if len(known) < 2:
        return None
    middles = (known[1:] + known[:-1]) / 2
    steps = np.unique(np.linspace(0, len(middles) - 1, min(len(middles), _THRESHOLDS)).astype(int))
    gains = [
        metric.gain(metric.whole(np.where(scores > t, *model.classes_[::-1]), rows.y))
        for t in middles[steps]
    ]
    return float(middles[steps[int(np.argmax(gains))]])


class Classes(Task):
    """One class for every row."""

    kind = "classes"
    names = ("binary", "multiclass")
    aliases = ("classification",)
    title = "a classification"
    holds = "classes"
    predicts = "classes"
    calibrates = True
    folds = True
    compares_with_trees = True
    metrics: ClassVar[dict[str, Metric]] = {
        metric.name: metric
        for metric in (
            Metric("accuracy", "accuracy", judge=_right, percent=True),
            Metric(
                "balanced_accuracy", "mean recall of the classes", whole=_balanced, percent=True,
                thresholded=True,
            ),
            Metric(
                "macro_f1", "mean F1 of the classes", whole=_macro_f1, percent=True,
                thresholded=True,
            ),
            Metric("log_loss", "log loss", False, _log_losses),
            # Of the rarer of two classes, which `metric` finds.
            Metric("f1", "F1 of the rarer class", whole=_f1, percent=True, thresholded=True),
            Metric("roc_auc", "area under the ROC curve", whole=_roc_auc, percent=True),
            Metric(
                "average_precision", "average precision of the rarer class",
                whole=_average_precision, percent=True,
            ),
        )
    }  # fmt: skip

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """Any value per row that is not a quantity."""
        if isinstance(data.y, LabelSets | TokenColumn) or np.ndim(data.y) != 1:
            return None
        shown_name = check_values(data)
        distinct = distinct_values(data.y)[0]
        if len(distinct) < 2:
            raise DataError(
                f"{data.source or 'the data'}: all rows have the same label, "
                f"{distinct.tolist()[0]!r} in {shown_name}; there is nothing to tell apart"
            )
        if wanted == "binary" and len(distinct) > 2:
            raise ParameterError(
                f"binary was requested, but {shown_name} has {len(distinct)} classes"
            )
        reason = f"{shown_name} holds {len(distinct)} classes" if wanted == "auto" else "requested"
        return cls("binary" if len(distinct) == 2 else "multiclass", reason)

    def describe(self, n_labels: int | None) -> str:
        """The task in words."""
        return f"classification into {n_labels} classes"

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The classes."""
        return distinct_values(y)[0]

    def complete(self, some: Any, y: Any) -> bool:
        """Whether every class is there."""
        return len(distinct_values(some)[0]) == len(distinct_values(y)[0])

    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """Numbers of the classes."""
        return np.asarray(distinct_values(y)[1], dtype=np.intp)

    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Every class must be among the train rows."""
        own, known = (set(distinct_values(one.y)[0].tolist()) for one in (found, train))
        unknown = sorted(own - known, key=str)
        if unknown:
            raise DataError(
                f"{found.source or 'the data'}: class {unknown[0]!r} is among the {part} rows, but "
                f"not among the train rows ({rule}); leave it out, or split in another way"
            )
        return ()

    # -- the experiment --------------------------------------------------------------------------

    def metric(self, name: str, y: Any, cost: Floats | None) -> Metric:
        """The metric called `name`; "auto": the cost where there is one, or the accuracy."""
        if cost is None or name not in ("auto", "cost"):
            found = super().metric(name, y, cost)
            return found if found.name not in _RARER else _of_rarer(found, y)
        decide = CostMatrix(cost)

        def each(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
            """The cost of the Bayes action for every row."""
            actions = decide.risks(probabilities(model, X, y)).argmin(axis=1)
            paid: Floats = decide.cost[np.searchsorted(model.classes_, y), actions]
            return paid

        return Metric("cost", "mean cost of a decision", False, each)

    def decision(
        self, fitted: Any, held_out: Rows, metric: Metric, plain: Outcome
    ) -> Decision | None:
        """Of two classes, the threshold that suits the metric best, where it is better."""
        if not metric.thresholded or len(fitted.classes_) != 2 or metric.whole is None:
            return None
        threshold = best_threshold(fitted, held_out, metric)
        if threshold is None:
            return None
        decided = np.where(second_scores(fitted, held_out.X) > threshold, *fitted.classes_[::-1])
        outcome = Outcome(float(metric.whole(decided, held_out.y)), None, decided)
        if metric.gain(outcome.score) <= metric.gain(plain.score):
            return None
        return Decision(lambda model: model, outcome, "")

    def cost(self, source: Any, y: Any) -> Floats | None:
        """The matrix of costs, given as such or as a file."""
        if source is None:
            return None
        classes = distinct_values(y)[0]
        if isinstance(source, np.ndarray | list | tuple):
            return check_cost(np.asarray(source), len(classes))
        return read_costs(source, classes)

    def others(self, y: Any, predictions: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """The accuracy, where another metric decided."""
        accuracy = (("accuracy", float(np.mean(predictions == y))),)
        return () if metric.name == "accuracy" else accuracy

    def features(
        self,
        plain: Preparation,
        folds: Sequence[Fold],
        metric: Metric,
        seconds: float,
        n_jobs: int | None = None,
    ) -> tuple[Preparation, Search | None]:
        """Of tables and texts, those that serve a quick logistic regression best."""
        return search_features(plain, folds, metric, seconds, n_jobs, "classes")

    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """Columns, and how many rows every class has."""
        labels, codes = distinct_values(data.y)
        counts = np.bincount(codes)
        classes = sorted(zip(map(str, labels), map(int, counts), strict=True), key=lambda c: -c[1])
        return Profile(len(data), columns_of(data, inputs), tuple(classes))

    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """What all tables may have, leak suspects, rare classes and those with few rows."""
        told = "predicts the class of {share} of the held-out rows"
        found, checks = common_findings(inputs, train, held_out, test)
        found += leaks(inputs, train, held_out, alone_class, told)
        found += [*imbalance(train.y), *few_rows(train.y)]
        return found, (*checks, "columns that alone give away the target", "rare classes")

    def parts(
        self, champion: Champion, inputs: Inputs, test: Dataset, prepared: TestRows,
        predictions: Any, cost: Floats | None,
    ) -> tuple[Part, ...]:  # fmt: skip
        """Confusion, per-class scores, mistakes, calibration and weights of the champion."""
        model, plain = champion.model, champion.plain
        (final, X), y, classes = prepared(model), test.y, model.classes_
        names = tuple(str(label) for label in classes)
        chances = final.predict_proba(X) if hasattr(final, "predict_proba") else None
        parts: list[Part | None] = [
            shown.Confusion(names, confusion_matrix(y, predictions, labels=classes)),
            shown.PerClass.of(per_class_report(y, predictions)),
            _mistakes(test, inputs, y, predictions, chances, classes),
        ]
        if chances is not None:
            parts.append(_calibration(prepared(plain), chances, y, classes, champion.calibration))
        if cost is not None:
            parts.append(shown.Costs(names, names, cost))
        wrong = np.flatnonzero(predictions != y)[:_EXPLAINED]
        right = np.flatnonzero(predictions == y)[: 2 * _EXPLAINED - len(wrong)]
        rows = np.concatenate([wrong, right])
        parts += [
            weights_part(plain, champion.learner, inputs, test),
            scorecard_part(plain, inputs),
            explanations(
                self, model, champion.learner, inputs, test, prepared.X, predictions, rows
            ),
        ]
        return tuple(part for part in parts if part is not None)

    # -- predictions -----------------------------------------------------------------------------

    def offers(self, model: Fitted) -> dict[str, str]:
        """Probabilities, and what needs them."""
        none = "" if hasattr(model.estimator, "predict_proba") else (
            f"{model.learner_name} has no probabilities; calibrate the model"
        )  # fmt: skip
        quantity = "is for quantities, and this model predicts classes"
        return {
            "probabilities": none, "top": none, "cost": none, "reject": none, "explain": "",
            "level": quantity,
        }  # fmt: skip

    def check(self, model: Fitted, options: Options) -> None:
        """Costs must fit the classes."""
        super().check(model, options)
        n = len(model.classes if model.classes is not None else ())
        if options.cost is not None:
            if len(options.cost) != n:
                raise FieldError(f"must have a row for each of the {n} classes", "cost")
            for at, row in enumerate(options.cost):
                if len(row) != n:
                    told = f"must have a number for each of the {n} classes"
                    raise FieldError(told, f"cost[{at}]")
        elif options.reject is not None:
            raise FieldError("needs cost", "reject")

    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """Labels, and probabilities where one of the options needs them."""
        final, X = model.split(X)
        labels = np.asarray(final.predict(X))
        needed = any(one.probabilities or one.top or one.cost for one in options)
        return labels, np.asarray(final.predict_proba(X), dtype=np.float64) if needed else None

    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """The label, its probabilities, and the action of the least expected cost."""
        labels, chances = found
        classes = model.classes.tolist()  # type: ignore[union-attr]
        answers: list[dict[str, Any]] = [{"label": label} for label in labels[rows].tolist()]
        if chances is not None:
            chances = chances[rows]
        if options.probabilities:
            for answer, row in zip(answers, chances.tolist(), strict=True):
                answer["probabilities"] = row
        if options.top is not None:
            order = np.argsort(-chances, axis=1, kind="stable")[:, : options.top]
            for answer, best, row in zip(answers, order.tolist(), chances, strict=True):
                answer["top"] = [{"label": classes[k], "probability": float(row[k])} for k in best]
        if options.cost is not None:
            risks = CostMatrix(options.cost, options.reject).risks(chances)
            for answer, row in zip(answers, risks.tolist(), strict=True):
                best = row.index(min(row))
                rejected = best == len(classes)
                answer["action"] = {
                    "label": None if rejected else classes[best],
                    "rejected": rejected,
                    "expected_cost": row[best],
                }
        return answers

    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """The label, then a column per class."""
        labels, chances = found
        table: dict[str, Any] = {"label": labels[rows]}
        if options.probabilities:
            for at, label in enumerate(model.classes.tolist()):  # type: ignore[union-attr]
                table[f"P({label})"] = chances[rows, at]
        return table

    def wanted_by_page(self, model: Fitted) -> dict[str, Any]:
        """The best classes too."""
        ranked = {"probabilities": True, "top": min(_RANKED, len(model.classes))}  # type: ignore[arg-type]
        return super().wanted_by_page(model) | (ranked if not self.offers(model)["top"] else {})

    # -- scores ----------------------------------------------------------------------------------

    def piece(self, model: Fitted, X: Any, data: Dataset) -> Any:
        """Labels, predictions, probabilities and costs."""
        estimator, classes = model.estimator, model.classes
        assert classes is not None
        if isinstance(data.y, LabelSets):
            raise DataError(f"{data.source}: rows have sets of labels, and the model predicts one")
        truth = match_labels(data.y, classes)
        chances = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
        cost = _mean_cost(model, X, truth) if np.isin(truth, classes).all() else None
        return truth, estimator.predict(X), chances, cost

    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """Accuracy, each class, the confusions, and how far probabilities can be trusted."""
        truth, predictions, chances, costs = zip(*pieces, strict=True)
        paid = [
            (cost, len(part)) for cost, part in zip(costs, truth, strict=True) if cost is not None
        ]
        n_paid = sum(n for _, n in paid)
        return score_classes(
            np.concatenate(truth),
            np.concatenate(predictions),
            None if chances[0] is None else np.concatenate(chances),
            model.classes,  # type: ignore[arg-type]
            sum(mean * n for mean, n in paid) / n_paid if n_paid else None,
        )


def check_values(data: Dataset) -> str:
    """The target in words; DataError unless every row has a value, all of one type."""
    y, where = data.y, data.source or "the data"
    name = repr(data.target_name) if data.target_name else "the target"
    missing = np.zeros(len(y), dtype=bool)
    known: dict[Any, int] = {}
    if y.dtype.kind == "f":
        missing = np.isnan(y)
    elif y.dtype == object:
        codes, known = number_values(y)
        missing = np.array([value is None or value != value for value in known], dtype=bool)[codes]
    if missing.any():
        rows = int(missing.sum())
        raise DataError(
            f"{where}: row {int(np.argmax(missing)) + 1} has no value in {name}"
            + (f", and {rows - 1} more" if rows > 1 else "")
            + "; leave such rows out (--drop-missing-target)"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmin(np.isfinite(y)))
        raise DataError(f"{where}: row {row + 1} holds {y[row]} in {name}")
    kinds = sorted({type(value).__name__ for value in known})
    if len(kinds) > 1:
        raise DataError(f"{where}: {name} holds values of several types: {', '.join(kinds)}")
    return name


def match_labels(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels of a file as the model writes them: 1, 1.0 and "1" are the same class.

    Parameters
    ----------
    labels : array of shape (n,)
    classes : array of shape (K,)
        Those of the model.

    Returns
    -------
    array of shape (n,)
        Of the type of `classes` where every label is one of them, else of objects.

    Examples
    --------
    >>> match_labels(np.array([1.0, 0.0]), np.array(["0", "1"])).tolist()
    ['1', '0']
    """
    known = {word(label): label for label in classes.tolist()}
    matched = [known.get(word(label), label) for label in labels.tolist()]
    if all(word(label) in known for label in labels.tolist()):
        return np.array(matched, dtype=classes.dtype)
    found = np.empty(len(matched), dtype=object)
    found[:] = matched
    return found


def _mean_cost(model: Fitted, X: Any, truth: npt.NDArray[Any]) -> float | None:
    """Mean cost of the decisions of a model; None if it knows no costs."""
    final, X = model.split(X)
    return float(final.mean_cost(X, truth)) if hasattr(final, "mean_cost") else None


def score_classes(
    truth: npt.NDArray[Any],
    predictions: npt.NDArray[Any],
    chances: Floats | None,
    classes: npt.NDArray[Any],
    mean_cost: float | None = None,
) -> Scores:
    """Score predicted labels, those of the file matched with those of the model.

    Parameters
    ----------
    truth, predictions : array of shape (n,)
    chances : array of shape (n, K) or None
        Probabilities.
    classes : array of shape (K,)
        Labels of the model.
    mean_cost : float or None
        Where the model decides by costs.
    """
    known = set(classes.tolist())
    rows = np.array([label in known for label in truth.tolist()], dtype=bool)
    loss = error = None
    if chances is not None and rows.any():
        told, held = truth[rows].astype(classes.dtype), chances[rows]
        loss = float(log_loss(told, held, labels=classes))
        error = float(expected_calibration_error(told, held, labels=classes))
    unknown = tuple(dict.fromkeys(truth[~rows].tolist()))
    if unknown or any(label not in known for label in predictions.tolist()):
        # Labels of different kinds cannot be sorted; as words they can.
        truth, predictions = truth.astype(str), predictions.astype(str)
        classes = np.unique(np.concatenate([truth, predictions, classes.astype(str)]))
    report, accuracy = per_class_report(truth, predictions), accuracy_interval(truth, predictions)
    confusion = confusion_matrix(truth, predictions, labels=classes)
    headings = ("class", "precision", "recall", "F1", "support")
    table = class_rows(report)
    figures = {"log loss": loss, "calibration error": error, "mean cost": mean_cost}
    lines = [str(accuracy)]
    lines += [f"{name} {value:.4f}" for name, value in figures.items() if value is not None]
    if unknown:
        named = listed([repr(label) for label in unknown])
        lines.append(f"labels that the model does not know, counted as mistakes: {named}")
    # The report's last line says the accuracy again.
    lines += ["", *str(report).splitlines()[:-1], "", *_confusion_lines(classes, confusion)]
    record = {
        "n_rows": accuracy.n_rows,
        "accuracy": report.accuracy,
        "interval": list(accuracy.interval),
        "interval_kind": accuracy.name,
        "level": accuracy.level,
        **{name.replace(" ", "_"): value for name, value in figures.items()},
        "classes": [dict(zip(headings, row, strict=True)) for row in table],
        "confusion": {"labels": classes.tolist(), "counts": confusion.tolist()},
        "unknown_labels": list(unknown),
    }
    return Scores("\n".join(lines), record, headings, table)


def class_rows(report: ClassReport) -> list[tuple[Any, ...]]:
    """Label, precision, recall, F1 and support of every class."""
    columns = (report.labels, report.precision, report.recall, report.f1, report.support)
    return list(zip(*(part.tolist() for part in columns), strict=True))


def _confusion_lines(classes: npt.NDArray[Any], confusion: npt.NDArray[Any]) -> list[str]:
    labels = [str(label) for label in classes]
    if len(labels) <= _MATRIX:
        cells = [["truth \\ prediction", *labels]]
        cells += [
            [name, *map(str, row)] for name, row in zip(labels, confusion.tolist(), strict=True)
        ]
        widths = [max(len(row[c]) for row in cells) for c in range(len(labels) + 1)]
        return [
            "  ".join(
                cell.ljust(width) if c == 0 else cell.rjust(width)
                for c, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        ]
    wrong = confusion * (1 - np.eye(len(labels), dtype=confusion.dtype))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_PAIRS]
    lines = ["most frequent confusions"]
    for true, taken in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[true, taken]:
            lines.append(f"  {labels[true]} taken for {labels[taken]}: {wrong[true, taken]}")
    return lines if len(lines) > 1 else ["no confusions"]


def _mistakes(
    test: Dataset,
    inputs: Inputs,
    y: npt.NDArray[Any],
    predictions: npt.NDArray[Any],
    chances: Floats | None,
    classes: npt.NDArray[Any],
) -> shown.Mistakes:
    wrong = np.flatnonzero(predictions != y)
    if chances is not None:
        sure = chances[wrong, np.searchsorted(classes, predictions[wrong])]
        wrong = wrong[np.argsort(-sure, kind="stable")]
    found = []
    for row in wrong[:_SHOWN].tolist():
        text, picture = row_text(test, inputs, row)
        confidence = truth = float("nan")
        if chances is not None:
            confidence = float(chances[row, np.searchsorted(classes, predictions[row])])
            truth = float(chances[row, np.searchsorted(classes, y[row])])
        names = str(y[row]), str(predictions[row])
        found.append(shown.Mistake(f"test row {row}", text, *names, confidence, truth, picture))
    return shown.Mistakes(tuple(found), len(wrong), len(y))


def _calibration(
    uncalibrated: tuple[Any, Any],
    chances: Floats,
    y: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    words: str,
) -> shown.Calibration:
    curves, (plain, X) = [("probabilities", chances)], uncalibrated
    before = plain.predict_proba(X) if hasattr(plain, "predict_proba") else None
    if before is not None and not np.array_equal(before, chances):
        curves = [("before calibration", before), ("after calibration", chances)]
    found = []
    for name, held in curves:
        bins = calibration_bins(y, held, labels=classes, n_bins=10)
        loss = float(log_loss(y, held, labels=classes))
        found.append(
            shown.Reliability(name, bins.confidence, bins.frequency, bins.mass, bins.error, loss)
        )
    return shown.Calibration(tuple(found), method=words)


def read_costs(source: Any, classes: npt.NDArray[Any]) -> Floats:
    r"""The cost matrix in a CSV file, its rows and columns in the order of `classes`.

    The first row names the predicted classes, the first column the true ones:

        truth,ham,spam
        ham,0,10
        spam,1,0

    Parameters
    ----------
    source : path, bytes or object with ``read``
        The file.
    classes : array of shape (K,)
        The classes, sorted.

    Returns
    -------
    ndarray of shape (K, K)
        cost[i, j] is paid when class i is predicted to be class j.

    Examples
    --------
    >>> read_costs(b"truth,spam,ham\nham,10,0\nspam,0,1\n", np.array(["ham", "spam"]))
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    # As a target the first column keeps its words: yes and no are names here.
    table = read(source, "csv", header=True, target=0, text=None)
    columns, truths = list(table.X), [word(value) for value in table.y.tolist()]
    names = [word(label) for label in classes.tolist()]
    for role, found in (("row", truths), ("column", columns)):
        unknown = sorted(set(found) - set(names)) or sorted(set(names) - set(found))
        if unknown or len(found) != len(names):
            which = unknown[0] if unknown else found[-1]
            raise DataError(
                f"{table.source}: costs need one {role} for each class ({', '.join(names)}); "
                f"{which!r} is {'not one' if which in found else 'missing'}"
            )
    rows = [truths.index(name) for name in names]
    try:
        cost = np.array([table.X[name][rows].astype(np.float64) for name in names]).T
    except (TypeError, ValueError):
        raise DataError(f"{table.source}: costs must be numbers") from None
    checked = check_cost(cost, len(names))
    assert checked is not None  # a matrix was given
    return checked
