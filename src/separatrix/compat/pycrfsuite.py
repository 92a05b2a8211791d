"""Drop-in for python-crfsuite: code goes on working when its import changes.

``from separatrix.compat import pycrfsuite`` stands in for ``import pycrfsuite``. Learning is that
of `separatrix.compat.sklearn_crfsuite.CRF`; model files are those of CRFsuite, both ways.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from separatrix.atomic import replacing
from separatrix.compat.sklearn_crfsuite import CRF
from separatrix.compat.sklearn_crfsuite.parameters import ALGORITHMS, settings_of
from separatrix.compat.sklearn_crfsuite.tagger import ModelInfo, crfsuite_sequences
from separatrix.compat.sklearn_crfsuite.tagger import Tagger as ModelTagger
from separatrix.compat.sklearn_crfsuite.training import TrainingLog
from separatrix.data import Vocabulary
from separatrix.errors import DataError, ParameterError, SeparatrixError
from separatrix.learners.structured import CRF as ChainCRF
from separatrix.learners.structured.crfsuite_file import FEATURES, CrfsuiteModel
from separatrix.learners.structured.crfsuite_write import crfsuite_bytes

__all__ = ["CRFSuiteError", "ItemSequence", "Tagger", "Trainer"]

#: Names of python-crfsuite -> parameters of `sklearn_crfsuite.CRF`, where they differ.
_NAMES = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}
_CALIBRATION = "calibration"
#: Titles of the algorithms in messages.
_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "ap": "Averaged perceptron",
    "pa": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
_ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
_HELP = {"c1": "Weight of the L1 penalty.", "c2": "Weight of the L2 penalty."}


class CRFSuiteError(Exception):
    """What python-crfsuite raises where training fails; here errors have types of their own."""


class ItemSequence:
    """Items as attributes with values.

    Parameters
    ----------
    pylist : sequence of items
        Dicts, or iterables of str.

    Examples
    --------
    >>> ItemSequence([{"word": "cat", "size": {"long": 0.5}}, ["a", "b"]]).items()
    [{'word:cat': 1.0, 'size:long': 0.5}, {'a': 1.0, 'b': 1.0}]
    """

    def __init__(self, pylist: Sequence[Any]) -> None:
        self._items: list[dict[str, float]] = list(crfsuite_sequences([pylist])[0])

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<ItemSequence ({len(self)} items)>"

    def items(self) -> list[dict[str, float]]:
        """A dict of attribute to value for every item."""
        return [dict(item) for item in self._items]


def _plain(xseq: Any) -> list[Any]:
    """Items of a sequence, whatever its form."""
    return xseq.items() if isinstance(xseq, ItemSequence) else list(xseq)


def _python_name(parameter: str) -> str:
    """The name of a parameter of `sklearn_crfsuite.CRF`."""
    return _NAMES.get(parameter, parameter.replace(f"{_CALIBRATION}.", f"{_CALIBRATION}_"))


def _crfsuite_name(parameter: str) -> str:
    """The name that python-crfsuite has for a parameter."""
    for name, ours in _NAMES.items():
        if ours == parameter:
            return name
    return parameter.replace(f"{_CALIBRATION}_", f"{_CALIBRATION}.")


class _ToldCRF(CRF):
    """A CRF that tells of every pass to a function."""

    tell: Callable[[dict[str, Any]], None]

    def _show(self, entry: dict[str, Any]) -> None:
        self.tell(entry)


class Trainer:
    """Trains a model from sequences that are appended one by one.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        "lbfgs" by default.
    params : dict, optional
        Parameters, as for `set_params`.
    verbose : bool
        Whether messages are printed.

    Attributes
    ----------
    logparser : TrainingLog or None
        What the last training noted.

    Examples
    --------
    >>> import tempfile
    >>> trainer = Trainer("ap", {"max_iterations": 5}, verbose=False)
    >>> trainer.append([{"word": "the"}, {"word": "cat"}], ["D", "N"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer.train(f"{folder}/model.crfsuite")
    ...     Tagger().open(f"{folder}/model.crfsuite").tag([{"word": "the"}])
    ['D']
    """

    logparser: TrainingLog | None
    verbose: bool
    _algorithm: str
    _params: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Begin with defaults: classes derived from python-crfsuite's need not call `__init__`."""
        trainer = super().__new__(cls)
        trainer._algorithm, trainer._params, trainer.verbose = "lbfgs", {}, True
        trainer.logparser = None
        trainer.clear()
        return trainer

    def __init__(
        self,
        algorithm: str | None = None,
        params: dict[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        self.verbose = verbose
        if algorithm is not None:
            self.select(algorithm)
        self.set_params(params or {})

    def clear(self) -> None:
        """Forget all sequences."""
        self._X: list[Any] = []
        self._y: list[list[str]] = []
        self._groups: list[int] = []

    def append(self, xseq: Any, yseq: Sequence[str], group: int = 0) -> None:
        """Take a sequence of items and its labels; `group` may be held out in `train`."""
        items, labels = _plain(xseq), list(yseq)
        if len(items) != len(labels):
            raise DataError(
                f"The numbers of items and labels differ: |x| = {len(items)}, |y| = {len(labels)}"
            )
        self._X.append(items)
        self._y.append(labels)
        self._groups.append(group)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; parameters that it does not have are forgotten."""
        name = _ALIASES.get(algorithm.lower(), algorithm.lower())
        if name not in ALGORITHMS or type != "crf1d":
            raise ParameterError(
                f"algorithm must be one of {', '.join(ALGORITHMS)} and type 'crf1d', got "
                f"{algorithm!r} and {type!r}"
            )
        self._algorithm = name
        known = ALGORITHMS[name]
        self._params = {key: value for key, value in self._params.items() if key in known}

    def params(self) -> list[str]:
        """Names of the algorithm's parameters."""
        return [_crfsuite_name(name) for name in ALGORITHMS[self._algorithm]]

    def _known(self, name: str) -> str:
        found = _python_name(name)
        if found not in ALGORITHMS[self._algorithm]:
            raise ParameterError(
                f"Parameter not found: {name}; {self._algorithm} has {', '.join(self.params())}"
            )
        return found

    def set(self, name: str, value: Any) -> None:
        """Give a parameter a value."""
        known = self._known(name)
        settings_of({"algorithm": self._algorithm, known: value})
        self._params[known] = value

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        known = self._known(name)
        return settings_of({"algorithm": self._algorithm, **self._params})[1][known]

    def set_params(self, params: dict[str, Any]) -> None:
        """Give parameters values."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Values of all parameters."""
        return {name: self.get(name) for name in self.params()}

    def help(self, name: str) -> str:
        """What a parameter is for."""
        known = self._known(name)
        if known in _HELP:
            return _HELP[known]
        text = inspect.getdoc(CRF) or ""
        found = re.search(rf"^(?:.*, )?{known}(?:, .*)? : .*\n((?:    .+\n)+)", text, re.MULTILINE)
        return " ".join(found[1].split()) if found else ""

    def message(self, message: str) -> None:
        """Called with every line that CRFsuite would print; prints it where `verbose`."""
        if self.verbose:
            print(message, end="")

    def _tell(self, *lines: str) -> None:
        for line in lines:
            self.message(f"{line}\n")

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Learn, and write the model.

        Parameters
        ----------
        model : str or path
            The file.
        holdout : int
            The group that is only scored after every pass; -1: none.
        """
        settings = settings_of({"algorithm": self._algorithm, **self._params})[1]
        if holdout >= 0:
            self._tell(f"Holdout group: {holdout + 1}", "")
        self._tell("Feature generation", "type: CRF1d")
        self._tell(*(f"{_crfsuite_name(name)}: {value}" for name, value in settings.items()))
        rows: dict[bool, list[int]] = {False: [], True: []}
        for row, group in enumerate(self._groups):
            rows[group == holdout].append(row)
        X, X_dev = ([self._X[row] for row in rows[held]] for held in (False, True))
        y, y_dev = ([self._y[row] for row in rows[held]] for held in (False, True))
        if not any(y):
            self._tell("Number of features: 0", "")
            _write_empty(model)
            return
        crf = _ToldCRF(self._algorithm, **self._params)
        told = _TITLES[self._algorithm]

        def tell(entry: dict[str, Any]) -> None:
            if entry["num"] == 1:
                self._tell("", told)
            self._tell(*_lines_of(entry))

        crf.tell = tell
        crf.fit(X, y, *((X_dev, y_dev) if X_dev else ()))
        self.logparser = log = crf.training_log_
        assert log is not None
        self._tell(
            f"Number of features: {log.featgen_num_features}",
            f"Total seconds required for training: {log.training_seconds:.3f}",
            "",
            "Storing the model",
        )
        crf.model_.to_crfsuite(model)


def _lines_of(entry: dict[str, Any]) -> Iterator[str]:
    """A pass in CRFsuite's words."""
    yield f"***** Iteration #{entry['num']} *****"
    titles = {"loss": "Loss", "feature_norm": "Feature norm", "active_features": "Active features"}
    for name, title in titles.items():
        if name in entry:
            shown = f"{entry[name]:d}" if name == "active_features" else f"{entry[name]:f}"
            yield f"{title}: {shown}"
    yield f"Seconds required for this iteration: {entry['time']:.3f}"
    if "avg_f1" in entry:
        yield "Performance by label (#match, #model, #ref) (precision, recall, F1):"
        for label, one in entry["scores"].items():
            shares = ("******" if x is None else f"{x:.4f}" for x in one[3:])
            yield f"    {label}: ({one.match}, {one.model}, {one.ref}) ({', '.join(shares)})"
        means = ", ".join(f"{entry[f'avg_{name}']:f}" for name in ("precision", "recall", "f1"))
        yield f"Macro-average precision, recall, F1: ({means})"
        yield f"Item accuracy: {entry['item_accuracy_float']:.4f}"
        yield f"Instance accuracy: {entry['instance_accuracy_float']:.4f}"
    yield ""


def _write_empty(path: str | os.PathLike[str]) -> None:
    """A model without labels, as CRFsuite leaves it where there was nothing to learn from."""
    none = np.zeros(0, dtype=FEATURES)
    with replacing(path) as file:
        file.write(crfsuite_bytes(CrfsuiteModel([], Vocabulary.of([]), none, none)))


class TaggerClosedError(SeparatrixError, ValueError, RuntimeError):
    """There is no model; python-crfsuite raises ValueError here and RuntimeError there."""


class Tagger:
    """Labels sequences by a model file.

    Examples
    --------
    >>> Tagger().labels()
    Traceback (most recent call last):
    separatrix.compat.pycrfsuite.TaggerClosedError: the tagger is not opened; call open(path)
    """

    def __init__(self) -> None:
        self._inner: ModelTagger | None = None

    def open(self, name: str | os.PathLike[str]) -> Self:
        """Open a model file; in a `with` statement it is closed at the end."""
        self._inner = ModelTagger(ChainCRF.from_crfsuite(name))
        return self

    def open_inmemory(self, value: bytes) -> Self:
        """Open a model from the bytes of its file."""
        self._inner = ModelTagger(ChainCRF.from_crfsuite(value))
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Forget the model."""
        self._inner = None

    def _model(self) -> ModelTagger:
        if self._inner is None:
            raise TaggerClosedError("the tagger is not opened; call open(path)")
        return self._inner

    def labels(self) -> list[str]:
        """All labels."""
        return self._model().labels()

    def set(self, xseq: Any) -> None:
        """Take the sequence that the next questions are about."""
        self._model().set(_plain(xseq))

    def tag(self, xseq: Any = None) -> list[str]:
        """The best labels of a sequence."""
        return self._model().tag(None if xseq is None else _plain(xseq))

    def probability(self, yseq: Sequence[str]) -> float:
        """p(labels | sequence)."""
        return self._model().probability(yseq)

    def marginal(self, y: str, pos: int) -> float:
        """p(label at a position | sequence)."""
        return self._model().marginal(y, pos)

    def info(self) -> ModelInfo:
        """Header, labels, attributes and the weights that are not zero."""
        return self._model().info()

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the model as text; without a name, print it."""
        text = "\n".join(_dumped(self.info()))
        if filename is None:
            print(text)
            return
        with replacing(filename) as file:
            file.write(text.encode())


def _dumped(info: ModelInfo) -> Iterator[str]:
    def block(title: str, lines: list[str]) -> Iterator[str]:
        yield f"{title} = {{"
        yield from lines
        yield "}\n"

    yield from block("FILEHEADER", [f"  {name}: {value}" for name, value in info.header.items()])
    for title, numbers in (("LABELS", info.labels), ("ATTRIBUTES", info.attributes)):
        yield from block(title, [f"{number:>7}: {name}" for name, number in numbers.items()])
    weights = (("TRANSITIONS", 1, info.transitions), ("STATE_FEATURES", 0, info.state_features))
    for title, kind, found in weights:
        lines = [f"  ({kind}) {a} --> {b}: {weight:f}" for (a, b), weight in found.items()]
        yield from block(title, lines)
