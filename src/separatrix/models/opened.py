"""A saved model at work, the same for Python, the command line and the service."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from separatrix.data import Dataset
from separatrix.errors import DataError, ModelFileError, SeparatrixError
from separatrix.models.file.model import ModelInfo, Verify, load_described
from separatrix.models.readers import Reader, reader_of
from separatrix.tasks import FieldError, Fitted, Options, Task, task_of_kind
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.table import TASKS

__all__ = ["Model", "open"]

#: Features above which the input of a learner is sparse: few of them are there in a row.
_DENSE_WIDTH = 1 << 14


class Model(Fitted):
    """A model file that was opened: what it is fed, what it answers, and why.

    Attributes
    ----------
    name : str
        That of the file without its ending.
    path : Path
    info : ModelInfo
        What the header of the file says: sizes, versions, training.
    task : Task
        The kind of its output.
    inputs : Inputs
        What it is fed of a data set.
    estimator : estimator
    version : str
        Beginning of the checksum of the file.
    loaded : float
        When, in seconds since 1970.
    """

    def __init__(self, path: Path, estimator: Any, info: ModelInfo) -> None:
        super().__init__(estimator, Inputs.from_dict(info.input))
        if info.task not in TASKS:
            what = "nothing" if info.task is None else info.task
            raise ModelFileError(
                f"{path}: {type(estimator).__name__} predicts {what} that can be used here"
            )
        kind, name = task_of_kind(info.task), info.summary.get("task")
        self.path, self.info, self.name = path, info, path.stem
        self.task: Task = kind(name if name in kind.names else kind.names[-1])
        self.version, self.loaded = info.checksum[:12], time.time()

    # -- rows ------------------------------------------------------------------------------------

    @cached_property
    def reader(self) -> Reader:
        """What checks rows as JSON has them."""
        try:
            return reader_of(self)
        except DataError as error:
            raise ModelFileError(f"{self.path}: {error}") from None

    @cached_property
    def width(self) -> int:
        """Numbers of one prediction: features of the learner, where dense, and classes."""
        n_classes = 0 if self.classes is None else len(self.classes)
        sparse = self.reader.kind in ("text", "sequences")
        n_features = 0 if sparse else getattr(self.learner, "n_features_in_", 0) or 0
        return max(1, n_classes + (n_features if n_features <= _DENSE_WIDTH else 0))

    def take(self, data: Dataset) -> Any:
        """What the model is fed of a data set."""
        return self.inputs.take(data)

    # -- answers ---------------------------------------------------------------------------------

    def with_labels(self, labels: Sequence[Any] | Mapping[Any, str]) -> Model:
        """The model with further labels, which training never saw.

        Parameters
        ----------
        labels : sequence, or mapping of label to str
            New labels, known by their names, or by the texts that describe them.

        Raises
        ------
        FieldError
            The model does not know labels by their features, or not by those that these have.
        """
        if not hasattr(self.learner, "with_labels"):
            raise FieldError(
                f"{self.learner_name} knows no labels but those that it was trained with; train "
                "--learner joint_features, which knows labels by their words",
                "labels",
            )
        names = {**labels} if isinstance(labels, Mapping) else None
        try:
            learner = self.learner.with_labels(list(labels), names=names)
        except DataError as error:
            raise FieldError(str(error), "labels") from None
        result = copy(self)
        for name in ("classes", "width", "offers"):
            result.__dict__.pop(name, None)
        result.estimator, result.learner = learner, learner
        if self.estimator is not self.learner:
            result.estimator = copy(self.estimator)
            if not hasattr(self.estimator, "steps") or self.estimator[-1] is not self.learner:
                raise FieldError("its probabilities are calibrated for the labels known", "labels")
            result.estimator.steps = [*self.estimator.steps[:-1], ("learner", learner)]
        return result

    def predict(
        self,
        rows: Sequence[Any],
        *,
        labels: Sequence[Any] | Mapping[Any, str] | None = None,
        **options: Any,
    ) -> list[dict[str, Any]]:
        """Answers for rows as JSON has them: texts, objects of columns, arrays, tokens.

        Parameters
        ----------
        rows : list
        labels : sequence, or mapping of label to str, optional
            Further labels, as in `with_labels`.
        **options
            Those of `separatrix.tasks.Options`: probabilities, top, cost, reject, explain, level.

        Returns
        -------
        list of dict
            As the service answers.

        Raises
        ------
        FieldError
            A row, or an option, does not fit the model.

        Examples
        --------
        >>> import tempfile
        >>> from separatrix import MajorityClass, models, save
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(MajorityClass().fit([[0], [1], [2]], ["a", "b", "b"]), f"{folder}/model.sx")
        ...     models.open(f"{folder}/model.sx").predict([[7.0]])
        [{'label': 'b'}]
        """
        if labels is not None:
            return self.with_labels(labels).predict(rows, **options)
        wanted = Options(**options)
        self.task.check(self, wanted)
        checked, _ = self.reader.check(list(rows))
        found = self.task.predict(self, self.reader.join(checked), [wanted])
        return self.answers(found, slice(0, len(checked)), checked, wanted)

    def answers(
        self, found: Any, places: slice, rows: Sequence[Any], options: Options
    ) -> list[dict[str, Any]]:
        """Answers for the rows at some places of what `task.predict` found."""
        answers = self.task.answers(self, found, places, options)
        if options.explain is not None:
            for answer, row in zip(answers, rows, strict=True):
                answer["explanation"] = self._reasons(row, options.explain)
        return answers

    def explain(self, x: Any, top: int | None = None, every: bool = False) -> Any:
        """The sum behind the prediction for one row of model input; `print` shows it."""
        return self.task.explain(self, x, self.task.terms if top is None else top or None, every)

    def _reasons(self, row: Any, top: int) -> dict[str, Any]:
        try:
            return self.task.reasons(self, self.reader.single(row), top)
        except SeparatrixError as error:
            raise FieldError(str(error), "explain") from None

    @cached_property
    def offers(self) -> frozenset[str]:
        """Options that can be had: "probabilities", "top", "cost", "reject", "level", "explain"."""
        found = {name for name, why in self.task.offers(self).items() if not why}
        if "explain" in found:
            try:
                self.predict([self.reader.example()], explain=1)
            except SeparatrixError:
                found.discard("explain")
        return frozenset(found)

    def check(self) -> None:
        """Raise ModelFileError unless the model predicts an example of its rows."""
        with _only_file_errors(self.path, "the model does not predict"):
            self.predict([self.reader.example()])
            _ = self.offers
            self.card()

    # -- what is known ---------------------------------------------------------------------------

    @property
    def labels(self) -> list[Any] | None:
        """The classes as plain values; None where there are none."""
        return None if self.classes is None else self.classes.tolist()

    def short(self) -> dict[str, Any]:
        """The lines of the card that a list of models shows."""
        return {
            "name": self.name,
            "version": self.version,
            "task": self.task.kind,
            "input": self.reader.kind,
            "learner": self.learner_name,
            "n_classes": None if self.classes is None else len(self.classes),
            "probabilities": "probabilities" in self.offers,
            "explains": "explain" in self.offers,
        }

    def card(self) -> dict[str, Any]:
        """All that is known of the model."""
        summary = self.info.summary
        known = ("classes", "n_classes", "metric", "held_out", "test", "task", "command")
        return {
            **self.short(),
            "file": self.path.name,
            "n_bytes": self.info.n_bytes,
            "checksum": self.info.checksum,
            "library_version": self.info.library_version,
            "loaded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.loaded)),
            "classes": self.labels,
            "features": self.features(),
            "training": {k: v for k, v in summary.items() if k not in known},
            "score": {name: summary.get(name) for name in ("metric", "held_out", "test")},
            "example": self.reader.example(),
            "row_schema": self.reader.schema(),
        }

    def features(self) -> dict[str, Any]:
        """What a row holds; of texts, how many terms are known."""
        found = self.reader.features(self)
        n_features = self.info.summary.get("n_features")
        return found or ({} if n_features is None else {"n_terms": n_features})


def open(path: str | os.PathLike[str], *, verify: Verify = "auto", mmap: bool = False) -> Model:
    """Open a model file; it is parsed once.

    Parameters
    ----------
    path : str or path
        As `save` and `separatrix compare --save` write it.
    verify : bool or "auto"
        Whether to compare the checksum with all bytes of the file; "auto" does so below 64 MB.
    mmap : bool
        Map a file of 256 MB or more instead of copying it, as `separatrix.load` does.

    Returns
    -------
    Model

    Raises
    ------
    ModelFileError
        The file is damaged, is no model file, or holds what predicts nothing.
    OSError
        The file cannot be read.
    """
    path = Path(path)
    estimator, info = load_described(path, verify, mmap=mmap)
    with _only_file_errors(path, "the file does not say how its model is used"):
        return Model(path, estimator, info)


@contextmanager
def _only_file_errors(path: Path, what: str) -> Iterator[None]:
    """Whatever a forged file leads to, in any class, is a ModelFileError with its name."""
    try:
        yield
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"{path}: {what}: {type(error).__name__}: {error}") from error
