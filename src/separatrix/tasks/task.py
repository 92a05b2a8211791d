"""What experiments, commands, the service and the report ask of a kind of output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from separatrix.data import Dataset
from separatrix.errors import DataError, ParameterError
from separatrix.explanation import Explanation, explain, see_through
from separatrix.metrics import Metric, Outcome
from separatrix.registry import Learner
from separatrix.report.parts import Finding, Part, Profile
from separatrix.tasks.feature_search import Fold, Search
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import PREPARATIONS, Preparation
from separatrix.tasks.rows import Rows
from separatrix.tasks.words import word_shares

__all__ = ["Champion", "FieldError", "Fitted", "Options", "Scores", "Task", "listed", "word"]

Floats = npt.NDArray[np.float64]

#: Labels that a remark names.
_NAMED = 5


class FieldError(DataError):
    """A request whose `field` cannot be used; `code` tells kinds of errors of the service apart."""

    def __init__(self, message: str, field: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.message, self.field, self.code = message, field, code

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


@dataclass(frozen=True)
class Options:
    """What is wanted of predictions, beside themselves.

    Parameters
    ----------
    probabilities : bool
        The probability of every class; of a sequence, of every label of every token.
    top : int or None
        So many of the most probable classes; of a sequence, of the best labellings.
    cost : list of list of float or None
        ``cost[true][predicted]``: also the action of the least expected cost.
    reject : float or None
        Cost of refusing to decide, as a further action.
    explain : int or None
        Terms of the explanation, the most telling ones.
    level : float
        Mass of the interval of a regression.
    """

    probabilities: bool = False
    top: int | None = None
    cost: list[list[float]] | None = None
    reject: float | None = None
    explain: int | None = None
    level: float = 0.95


class Fitted:
    """A fitted model that takes raw rows, and what it is fed.

    Parameters
    ----------
    estimator : estimator
        A learner, or a Pipeline that begins with what reads raw input.
    inputs : Inputs
    """

    def __init__(self, estimator: Any, inputs: Inputs) -> None:
        self.estimator, self.inputs = estimator, inputs
        self.steps, self.learner = see_through(estimator)

    @property
    def learner_name(self) -> str:
        """Class of the learner behind all wrappers."""
        return type(self.learner).__name__

    @cached_property
    def classes(self) -> npt.NDArray[Any] | None:
        """The labels, shape (K,); None where there are none."""
        found = getattr(self.estimator, "classes_", getattr(self.learner, "classes_", None))
        return None if found is None else np.asarray(found)

    def split(self, X: Any) -> tuple[Any, Any]:
        """The last part of the pipeline, and what the parts before it make of X."""
        return TestRows(X)(self.estimator)

    def encoded(self, X: Any) -> Any:
        """What the learner is fed of X."""
        for step in self.steps:
            X = step.transform(X)
        return X


class TestRows:
    """Rows as models are fed with them, each step of the models made once.

    Parameters
    ----------
    X : matrix, texts, dict of columns or sequences
        Raw rows.
    """

    __test__ = False  # no class of tests, whatever pytest makes of its name

    def __init__(self, X: Any) -> None:
        self.X = X
        self._made: dict[tuple[int, ...], Any] = {(): X}

    def __call__(self, model: Any) -> tuple[Any, Any]:
        """The last part of a model, and what it is fed; models that share steps share that."""
        done: tuple[int, ...] = ()
        while hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                if step not in (None, "passthrough"):
                    before, done = done, (*done, id(step))
                    if done not in self._made:
                        self._made[done] = step.transform(self._made[before])
            model = model.steps[-1][1]
        return model, self._made[done]


@dataclass(frozen=True)
class Scores:
    """How good predictions are: in words, as plain values, and as a table.

    Attributes
    ----------
    text : str
        For people.
    record : dict
        Plain values, for JSON.
    headings, rows
        One row per class, label or figure.
    """

    text: str
    record: dict[str, Any]
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def __str__(self) -> str:
        return self.text


class Champion(Protocol):
    """A model that was tested: with calibration and costs, and without, and its learner's name."""

    @property
    def model(self) -> Any:
        """With calibration and costs."""

    @property
    def plain(self) -> Any:
        """Without."""

    @property
    def calibration(self) -> str:
        """What was calibrated, in words."""

    @property
    def learner(self) -> str:
        """Name of its learner."""


class Decision(NamedTuple):
    """Another way to decide: from a fit to one that does, its held-out score, and it in words."""

    change: Callable[[Any], Any]
    outcome: Outcome
    words: str


@dataclass(frozen=True)
class Task(ABC):
    """One kind of output; an object of it is the task of one target or one model.

    Parameters
    ----------
    name : str
        What learners of the registry call it: "binary", "regression".
    reason : str
        How it was found, in words.

    Attributes
    ----------
    kind : str
        Its key in the table of tasks and in model files.
    names, aliases : tuple of str
        What it is called, and further words for it on the command line.
    title : str
        What it is, in words with an article.
    holds, predicts : str
        What a target holds in the plural, and what a model predicts for one row.
    units, counted : str
        What a prediction is made for, and what frequencies of labels count.
    evenly : str
        What a random split keeps even, in words; empty if nothing.
    calibrates : bool
        Whether scores are made probabilities on held-out rows.
    metrics : dict of str to Metric
        The first is the default.
    terms : int
        Terms that an explanation shows.
    folds : bool
        Whether rows can be dealt out to folds one by one.
    compares_with_trees : bool
        Whether boosted trees can learn it too, for reference.
    """

    name: str
    reason: str = ""

    kind: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    aliases: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str]
    holds: ClassVar[str]
    predicts: ClassVar[str]
    units: ClassVar[str] = "rows"
    counted: ClassVar[str] = "rows"
    evenly: ClassVar[str] = "stratified by the target"
    calibrates: ClassVar[bool] = False
    metrics: ClassVar[dict[str, Metric]]
    terms: ClassVar[int] = 30
    folds: ClassVar[bool] = False
    compares_with_trees: ClassVar[bool] = False

    # -- the target ------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def recognize(cls, data: Dataset, wanted: str) -> Self | None:
        """The task if the target is of this kind, or can be where it is `wanted` by name."""

    @abstractmethod
    def describe(self, n_labels: int | None) -> str:
        """The task in words."""

    def labels(self, y: Any) -> npt.NDArray[Any] | None:
        """The labels, sorted; None where there are none."""
        classes: npt.NDArray[Any] = y.classes
        return classes

    def complete(self, some: Any, y: Any) -> bool:
        """Whether `some` of the targets `y` are enough to learn from."""
        return True

    @abstractmethod
    def strata(self, y: Any) -> npt.NDArray[np.intp]:
        """For every row the number of the stratum that a random split parts evenly."""

    def repeated(self, inputs: Inputs, train: Dataset, held_out: Dataset) -> npt.NDArray[np.bool_]:
        """Which held-out rows are not held out since they stand among the train rows too."""
        return np.zeros(0, dtype=bool)

    @abstractmethod
    def check_part(self, part: str, found: Dataset, train: Dataset, rule: str) -> tuple[str, ...]:
        """Complain now rather than after the search about rows that cannot be scored.

        Returns
        -------
        tuple of str
            What else should be known about them.
        """

    def unknown_labels(
        self, part: str, found: Dataset, train: Dataset, units: str, n_odd: Any
    ) -> tuple[str, ...]:
        """A remark on labels that no train row has; an error where all are such.

        `n_odd` counts, of a set of labels, what has one of them.
        """
        odd = set(found.y.classes.tolist()) - set(train.y.classes.tolist())
        if not odd:
            return ()
        named = listed(sorted(odd, key=str))
        if len(odd) == len(found.y.classes):
            raise DataError(
                f"{found.source or 'the data'}: none of the labels of the {part} {self.units} is "
                f"among the train labels ({named}); is {train.target_name!r} the right target?"
            )
        return (
            f"{n_odd(odd)} of the {part} {units} have labels that no train "
            f"{self.units.removesuffix('s')} has ({named}): no learner can get them right.",
        )

    # -- the experiment --------------------------------------------------------------------------

    def metric(self, name: str, y: Any, cost: Floats | None) -> Metric:
        """The metric called `name`; "auto" is the one that suits the target `y`."""
        if name == "cost":
            if cost is None:
                raise ParameterError("the metric cost needs a cost matrix")
            raise ParameterError(f"cost scores classes, but the target holds {self.holds}")
        if name == "auto":
            return self.default_metric(y)
        if name in self.metrics:
            return self.metrics[name]
        from separatrix.tasks.table import all_metrics, tasks

        for task in tasks():
            if name in task.metrics:
                raise ParameterError(
                    f"{name} scores {task.holds}, but the target holds {self.holds}"
                )
        raise ParameterError(
            f"there is no metric {name!r}; there are cost, {', '.join(all_metrics())}"
        )

    def default_metric(self, y: Any) -> Metric:
        """The metric that suits the target `y`."""
        return next(iter(self.metrics.values()))

    def cost(self, source: Any, y: Any) -> Floats | None:
        """The matrix of costs of decisions; None where none was given."""
        if source is None:
            return None
        raise ParameterError(f"costs are for classes, but this is {self.title}: {self.reason}")

    def preparation(
        self,
        templates: Any,
        inputs: Inputs,
        train: Dataset,
        held_out: Dataset,
        metric: Metric,
        seconds: float,
    ) -> Preparation:
        """How raw rows become features; what is to be chosen is chosen by held-out score."""
        if not isinstance(templates, str) or templates != "auto":
            raise ParameterError(f"templates are for sequences, but this is {self.title}")
        return PREPARATIONS[inputs.kind](inputs)

    def features(
        self,
        plain: Preparation,
        folds: Sequence[Fold],
        metric: Metric,
        seconds: float,
        n_jobs: int | None = None,
    ) -> tuple[Preparation, Search | None]:
        """The features that serve a quick model best on held-out rows, and what was tried.

        Parameters
        ----------
        plain : Preparation
            The plain features, which stay where nothing is clearly better.
        folds : sequence of Fold
            Raw rows to learn from and to score.
        metric : Metric
            What decides.
        seconds : float
            Time for the search.
        n_jobs : int, optional
            Threads.
        """
        return plain, None

    def suits(self, learner: Learner, rows: Rows) -> bool:
        """Whether a learner is tried on raw rows, unless it is requested by name."""
        return True

    def adapted(self, learner: Learner, metric: Metric) -> Learner:
        """A line of the registry with what it needs to know of the metric."""
        return learner

    def decision(
        self, fitted: Any, held_out: Rows, metric: Metric, plain: Outcome
    ) -> Decision | None:
        """How a learner should decide so that its predictions score better; None if as it does.

        Parameters
        ----------
        fitted : estimator
            Fitted on the train rows.
        held_out : Rows
            Rows that it has not seen, to choose by.
        metric : Metric
            What decides.
        plain : Outcome
            Its score on these rows.
        """
        return None

    def check_previous(self, model: Any, y: Any) -> None:
        """Complain about a previous model of another kind, or that does not know all labels."""
        from separatrix.tasks.table import kind_of, task_of_kind

        kind = kind_of(model)
        if kind is None or not isinstance(self, task_of_kind(kind)):
            what = "nothing" if kind is None else task_of_kind(kind).predicts
            raise ParameterError(f"the previous model predicts {what}, which is another task")
        known = getattr(see_through(model)[1], "classes_", None)
        labels = self.labels(y)
        if known is not None and labels is not None:
            unknown = sorted(set(labels.tolist()) - set(np.asarray(known).tolist()), key=str)
            if unknown:
                raise ParameterError(f"the previous model does not know class {unknown[0]!r}")

    def others(self, y: Any, predictions: Any, metric: Metric) -> tuple[tuple[str, float], ...]:
        """Further test scores that need nothing but the predictions."""
        return ()

    @abstractmethod
    def profile(self, data: Dataset, inputs: Inputs) -> Profile:
        """The data, summed up."""

    @abstractmethod
    def findings(
        self, inputs: Inputs, train: Rows, held_out: Rows, test: Rows
    ) -> tuple[list[Finding], tuple[str, ...]]:
        """What about the raw rows should make one suspicious, and what was looked for."""

    @abstractmethod
    def parts(
        self,
        champion: Champion,
        inputs: Inputs,
        test: Dataset,
        prepared: TestRows,
        predictions: Any,
        cost: Floats | None,
    ) -> tuple[Part, ...]:
        """Parts of the report about the champion's predictions for the test rows."""

    # -- predictions -----------------------------------------------------------------------------

    @abstractmethod
    def offers(self, model: Fitted) -> dict[str, str]:
        """For each option of predictions why it cannot be had; empty where it can.

        The options are "probabilities", "top", "cost", "reject", "level" and "explain".
        """

    def check(self, model: Fitted, options: Options) -> None:
        """Raise the FieldError of options that the model does not have."""
        for field, why in self.offers(model).items():
            if why and field != "level" and getattr(options, field) not in (None, False):
                raise FieldError(why, field)

    @abstractmethod
    def predict(self, model: Fitted, X: Any, options: Sequence[Options]) -> Any:
        """What all rows need for these options, in as few calls as can be."""

    @abstractmethod
    def answers(
        self, model: Fitted, found: Any, rows: slice, options: Options
    ) -> list[dict[str, Any]]:
        """Predictions of some of the rows as plain values, one object per row."""

    @abstractmethod
    def columns(self, model: Fitted, found: Any, rows: slice, options: Options) -> dict[str, Any]:
        """The same as columns of a table; the first is the prediction."""

    def table(
        self, model: Fitted, found: Any, data: Dataset, options: Options, before: int
    ) -> dict[str, Any]:
        """Columns of files of predictions; `before` counts the rows written already."""
        columns = self.columns(model, found, slice(None), options)
        return dict(zip(("prediction", *list(columns)[1:]), columns.values(), strict=True))

    def text(self, pieces: Iterator[tuple[Any, Dataset]], options: Options) -> Iterator[str] | None:
        """Predictions in the format of the files that the model reads; None: as a table."""
        return None

    def words(self, prediction: Any) -> str:
        """One prediction, or true value, in words."""
        return str(prediction)

    # -- scores ----------------------------------------------------------------------------------

    @abstractmethod
    def piece(self, model: Fitted, X: Any, data: Dataset) -> Any:
        """What `scores` needs of a piece of the rows."""

    @abstractmethod
    def scores(self, model: Fitted, pieces: Sequence[Any]) -> Scores:
        """Figures of all pieces together."""

    # -- reasons ---------------------------------------------------------------------------------

    def explain(self, model: Fitted, x: Any, top: int | None, every: bool = False) -> Any:
        """The sum behind the prediction for one row; of `every` class, or of the best two."""
        inputs = model.inputs
        # Names of the columns of a matrix, where the model file tells them.
        named = inputs.kind == "matrix" and inputs.columns
        return explain(
            model.estimator,
            x,
            classes="all" if every and model.classes is not None else None,
            top=top,
            feature_names=list(inputs.columns) if named else None,
        )

    def reasons(self, model: Fitted, x: Any, top: int) -> dict[str, Any]:
        """The sum behind the answer for a row, seen from its label, as plain values."""
        return told(self.explain(model, x, None), model, x, top)

    def wanted_by_page(self, model: Fitted) -> dict[str, Any]:
        """Options that the page of the service asks for."""
        return {"explain": True, "terms": 12} if not self.offers(model)["explain"] else {}


def told(found: Explanation, model: Fitted, x: Any, top: int) -> dict[str, Any]:
    """An explanation as plain values: what speaks for the prediction, and against what."""
    labels = found.labels.tolist()
    sign = 1.0
    if len(labels) > 1 and found.prediction == found.labels[1]:
        labels, sign = labels[1::-1], -1.0
    total = float(sign * _apart(found).sum())
    content: dict[str, Any] = {
        "for": labels[0] if labels else None,
        "against": labels[1] if len(labels) > 1 else None,
        "total": total if np.isfinite(total) else None,
        "unknown": list(found.unknown),
        "calibrated": found.calibrated,
    }
    parts = (
        [one for _, one in getattr(model.steps[0], "transformer_list", ())] if model.steps else []
    )
    parts = parts or model.steps  # a vectorizer, or a union of some
    if (
        isinstance(x, str)
        and len(model.steps) == 1
        and all(hasattr(part, "build_analyzer") for part in parts)
    ):
        adds = dict(zip(found.names[1:], (sign * _apart(found))[1:].tolist(), strict=True))
        content["words"] = word_shares(model.steps[0], x, adds)
    kept = found.top(top)
    columns = [-1] * len(kept.names) if kept.columns is None else kept.columns.tolist()
    values = [None] * len(kept.names) if kept.values is None else kept.values.tolist()
    content["terms"] = [
        {
            "name": name,
            "adds": add if np.isfinite(add) else None,
            "value": value if value is not None and np.isfinite(value) else None,
            "column": column if column >= 0 else None,
        }
        for name, add, value, column in zip(
            kept.names, (sign * _apart(kept)).tolist(), values, columns, strict=True
        )
    ]
    return content


def _apart(found: Explanation) -> Any:
    """What each term adds for the first class against the second."""
    addends = found.addends
    if addends.shape[1] == 1:
        return addends[:, 0]
    with np.errstate(invalid="ignore"):
        return addends[:, 0] - addends[:, 1]


def listed(labels: Sequence[Any]) -> str:
    """Some labels in words, cut where there are many."""
    return ", ".join(map(str, labels[:_NAMED])) + ", …" * (len(labels) > _NAMED)


def word(label: Any) -> str:
    """A label as files write it: 3, not 3.0.

    Examples
    --------
    >>> word(3.0), word(True), word("a")
    ('3', 'true', 'a')
    """
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
