"""A model file at work: what reads its rows, what predicts, and what is known of it."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import is_regressor

from separatrix.errors import ModelFileError, SeparatrixError
from separatrix.experiment.inputs import Inputs
from separatrix.explanation import see_through
from separatrix.features.templates.columns import positions
from separatrix.models import ModelInfo, describe, load
from separatrix.serve.asking import Ask
from separatrix.serve.predictors import Predictor, make_predictor
from separatrix.serve.problems import Problem
from separatrix.serve.readers import MatrixReader, Reader, TableReader, TextReader
from separatrix.serve.sequence_reader import SequenceReader
from separatrix.serve.settings import Settings

__all__ = ["ServedModel", "open_served"]

#: Most values of a category that the card and the page list.
_LISTED = 200
#: Learners whose predictions have no form in the service.
_NOT_SERVED = {
    "FrequentLabels": "label sets",
    "MultiLabel": "label sets",
    "Segmenter": "label images",
}


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A loaded model.

    Attributes
    ----------
    name : str
        Name in requests: that of the file without its ending.
    path : Path
        The file.
    version : str
        Beginning of the checksum of the file.
    loaded : float
        When, in seconds since 1970.
    estimator : estimator
    info : ModelInfo
        What the header of the file says.
    reader : Reader
    predictor : Predictor
    explains : bool
        Whether the answers can be explained.
    """

    name: str
    path: Path
    version: str
    loaded: float
    estimator: Any
    info: ModelInfo
    reader: Reader
    predictor: Predictor
    explains: bool

    @property
    def task(self) -> str:
        """What is predicted: "classes", "quantity" or "sequences"."""
        if self.reader.kind == "sequences":
            return "sequences"
        return "quantity" if is_regressor(self.estimator) else "classes"

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities can be asked for."""
        return bool(getattr(self.predictor, "has_probabilities", False))

    @property
    def classes(self) -> list[Any] | None:
        """The labels; None for a quantity."""
        return getattr(self.predictor, "classes", None)

    def card(self) -> dict[str, Any]:
        """What the service tells of the model."""
        summary = self.info.summary
        known = ("input", "classes", "n_classes", "metric", "held_out", "test", "task", "command")
        return {
            **self.short(),
            "file": self.path.name,
            "n_bytes": self.info.n_bytes,
            "checksum": self.info.checksum,
            "library_version": self.info.library_version,
            "loaded": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.loaded)),
            "classes": self.classes,
            "features": features_of(self),
            "training": {k: v for k, v in summary.items() if k not in known},
            "score": {
                "metric": summary.get("metric"),
                "held_out": summary.get("held_out"),
                "test": summary.get("test"),
            },
            "example": self.reader.example(),
            "row_schema": self.reader.schema(),
        }

    def short(self) -> dict[str, Any]:
        """The lines of the card that a list of models shows."""
        return {
            "name": self.name,
            "version": self.version,
            "task": self.task,
            "input": self.reader.kind,
            "learner": type(see_through(self.estimator)[1]).__name__,
            "n_classes": None if self.classes is None else len(self.classes),
            "probabilities": self.has_probabilities,
            "explains": self.explains,
        }


def open_served(path: Path, name: str, settings: Settings) -> ServedModel:
    """Load a model file and try it on one row.

    The file is copied first, and the copy, whose name is gone at once, mapped into memory: who
    overwrites the file in place cannot change a model that is in use. Every byte is compared with
    the checksum.

    Raises
    ------
    ModelFileError
        The file is damaged, is no model file, or holds a model that cannot be served.
    OSError
        The file cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="separatrix-serve-") as folder:
        copy = Path(folder) / "model.sx"
        shutil.copyfile(path, copy)
        try:
            estimator, info = load(copy, verify=True), describe(copy)
        except ModelFileError as error:
            raise ModelFileError(str(error).replace(str(copy), str(path))) from None
    if not hasattr(estimator, "predict"):
        raise ModelFileError(f"{path}: {type(estimator).__name__} predicts nothing")
    name_of_learner = type(see_through(estimator)[1]).__name__
    if name_of_learner in _NOT_SERVED:
        what = _NOT_SERVED[name_of_learner]
        raise ModelFileError(f"{path}: {name_of_learner} predicts {what}, which are not served")
    reader = _reader(estimator, info, settings, path)
    predictor = make_predictor(estimator, reader)
    explains = _tried(path, reader, predictor)
    return ServedModel(
        name, path, info.checksum[:12], time.time(), estimator, info, reader, predictor, explains
    )


def _reader(estimator: Any, info: ModelInfo, settings: Settings, path: Path) -> Reader:
    steps, learner = see_through(estimator)
    if hasattr(learner, "predict_kbest"):
        wanted = [name for step in steps for name in getattr(step, "columns_", ())]
        inputs = Inputs.for_model(estimator, info.summary)
        columns = inputs.columns or positions(wanted)
        unnamed = not steps and learner.attributes_ is None
        n_attributes = learner.n_attributes_in_ if unnamed else None
        return SequenceReader(bool(steps), columns, wanted, n_attributes, settings.max_tokens)
    inputs = Inputs.for_model(estimator, info.summary)
    if inputs.kind == "text":
        return TextReader()
    if inputs.kind == "table":
        first = steps[0] if steps else learner
        kinds = getattr(first, "kinds_", None)
        return TableReader(inputs.columns, kinds, getattr(first, "categories_", None))
    if inputs.kind in ("matrix", "images"):
        n_features = inputs.n_features or getattr(estimator, "n_features_in_", None)
        if n_features is None:
            raise ModelFileError(f"{path}: the file does not tell how many numbers a row has")
        return MatrixReader(inputs.kind, int(n_features))
    raise ModelFileError(f"{path}: models of {inputs.kind} are not served")


def _tried(path: Path, reader: Reader, predictor: Predictor) -> bool:
    """Predict an example; tell whether the answer can be explained."""
    rows, _ = reader.check([reader.example()])
    ask = Ask()
    try:
        predictor.answers(predictor.compute(reader.join(rows), [ask]), 0, 1, rows, ask)
    except (SeparatrixError, ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{path}: the model does not predict: {error}") from error
    try:
        ask = Ask(explain=1)
        predictor.check(ask)
        predictor.answers(predictor.compute(reader.join(rows), [ask]), 0, 1, rows, ask)
    except Problem:
        return False
    return True


def features_of(model: ServedModel) -> dict[str, Any]:
    """What a row of the model holds, in the words of the card."""
    reader = model.reader
    if isinstance(reader, TableReader):
        steps, _ = see_through(model.estimator)
        moments = getattr(steps[0], "moments_", {}) if steps else {}
        columns = []
        for name in reader.columns:
            column: dict[str, Any] = {"name": name, "kind": reader.kinds.get(name, "category")}
            if name in moments:
                column["mean"], column["deviation"] = map(float, moments[name])
            if reader.categories.get(name):
                column["values"] = list(reader.categories[name][:_LISTED])
            columns.append(column)
        return {"columns": columns}
    if isinstance(reader, MatrixReader):
        return {"n_features": reader.n_features, "largest": _largest(model.estimator)}
    if isinstance(reader, SequenceReader):
        return {"templates": reader.with_templates, "token_columns": list(reader.columns)}
    n_features = model.info.summary.get("n_features")
    return {"n_terms": n_features} if n_features is not None else {}


def _largest(estimator: Any) -> float | None:
    """The largest number of the training rows, where a scaler knows it."""
    steps, _ = see_through(estimator)
    for name in ("max_abs_", "data_max_"):
        if steps and hasattr(steps[0], name):
            return float(max(getattr(steps[0], name)))
    return None
