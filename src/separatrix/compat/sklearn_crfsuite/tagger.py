"""What `CRF.tagger_` answers: python-crfsuite's Tagger on a model of ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import AttributeSequences
from separatrix.data.sequences.attributes import as_attribute_sequences
from separatrix.errors import DataError
from separatrix.learners.structured import CRF
from separatrix.learners.structured.crfsuite_file import HEADER
from separatrix.learners.structured.crfsuite_model import crfsuite_model_of
from separatrix.learners.structured.crfsuite_write import crfsuite_bytes

__all__ = ["ModelInfo", "Tagger", "crfsuite_sequences"]

#: Fields of the header of a file -> names that `crfsuite dump` gives them.
_DUMPED = {
    "n_features": "num_features",
    "n_labels": "num_labels",
    "n_attributes": "num_attrs",
    "features": "off_features",
    "labels": "off_labels",
    "attributes": "off_attrs",
    "label_features": "off_labelrefs",
    "attribute_features": "off_attrrefs",
}


class UnknownLabelError(DataError, RuntimeError):
    """A label that the model does not have; python-crfsuite raises RuntimeError."""


def crfsuite_sequences(X: Any, model: CRF | None = None) -> AttributeSequences:
    """Items as python-crfsuite takes them: a str among them is an iterable of its letters.

    With a model, attributes that it does not know are left out.

    Examples
    --------
    >>> crfsuite_sequences([["ab", {"k": b"v"}]])[0]
    [{'a': 1.0, 'b': 1.0}, {'k:v': 1.0}]
    """
    names = None if model is None else model.features_.names
    return as_attribute_sequences(X, names, letters=True)


class ModelInfo:
    """What is inside a model, as python-crfsuite's `Tagger.info` tells it.

    Parameters
    ----------
    model : CRF
        A fitted model.
    """

    def __init__(self, model: CRF) -> None:
        self._model = model

    @cached_property
    def content(self) -> bytes:
        """The model as a file of CRFsuite."""
        return crfsuite_bytes(crfsuite_model_of(self._model))

    @cached_property
    def header(self) -> dict[str, str]:
        """The header of that file, in words."""
        row = np.frombuffer(self.content, dtype=HEADER, count=1)[0]
        told: dict[str, str] = {}
        for name in HEADER.names or ():
            value, shown = row[name], _DUMPED.get(name, name)
            text = value.decode() if isinstance(value, bytes) else str(int(value))
            told[shown] = f"0x{int(value):X}" if shown.startswith("off_") else text
        return told

    @cached_property
    def labels(self) -> dict[Any, str]:
        """Numbers of the labels."""
        return {label: str(at) for at, label in enumerate(self._model.classes_.tolist())}

    @cached_property
    def attributes(self) -> dict[str, str]:
        """Numbers of the attributes with a weight."""
        names = dict.fromkeys(name for name, _ in self.state_features)
        return {name: str(number) for number, name in enumerate(names)}

    @cached_property
    def state_features(self) -> dict[tuple[str, Any], float]:
        """Weights that are not zero, by (attribute, label)."""
        model, chain = self._model, self._model.features_
        names = chain.names
        weights = model.coef_[chain.sections["state"]]
        used = np.flatnonzero(weights)
        numbers = chain.state.attributes[used]
        words: Any = numbers.astype(str) if names is None else names.array[numbers]
        labels = model.classes_[chain.state.outputs[used]]
        pairs = zip(words.tolist(), labels.tolist(), strict=True)
        return dict(zip(pairs, weights[used].tolist(), strict=True))

    @cached_property
    def transitions(self) -> dict[tuple[Any, Any], float]:
        """Weights that are not zero, by (label before, label)."""
        model = self._model
        matrix = model.transition_weights_
        before, after = np.nonzero(matrix)
        pairs = zip(model.classes_[before].tolist(), model.classes_[after].tolist(), strict=True)
        return dict(zip(pairs, matrix[before, after].tolist(), strict=True))


class Tagger:
    """Labels and probabilities of one sequence at a time.

    Parameters
    ----------
    model : CRF
        A fitted model.
    """

    def __init__(self, model: CRF) -> None:
        self._model = model
        self._info = ModelInfo(model)
        self._tokens: AttributeSequences | None = None
        self._marginals: npt.NDArray[np.float64] | None = None

    def labels(self) -> list[Any]:
        """All labels."""
        labels: list[Any] = self._model.classes_.tolist()
        return labels

    def set(self, xseq: Sequence[Any]) -> None:
        """Take the sequence that the next questions are about."""
        self._tokens, self._marginals = crfsuite_sequences([xseq], self._model), None

    def _current(self) -> AttributeSequences:
        if self._tokens is None:
            raise DataError("there is no sequence yet; give one to `set` or `tag`")
        return self._tokens

    def tag(self, xseq: Sequence[Any] | None = None) -> list[Any]:
        """The best labels of a sequence."""
        if xseq is not None:
            self.set(xseq)
        labels: list[Any] = self._model.predict(self._current())[0]
        return labels

    def probability(self, yseq: Sequence[Any]) -> float:
        """p(labels | sequence)."""
        return float(np.exp(self._model.log_likelihood(self._current(), [list(yseq)])[0]))

    def marginal(self, y: Any, pos: int) -> float:
        """p(label at a position | sequence)."""
        if self._marginals is None:
            self._marginals = self._model.predict_proba(self._current())[0]
        found = np.flatnonzero(self._model.classes_ == y)
        if len(found) == 0:
            raise UnknownLabelError(f"label {y!r} is not among {self.labels()}")
        if not 0 <= pos < len(self._marginals):
            raise DataError(f"position {pos} is none of the {len(self._marginals)} of the sequence")
        return float(self._marginals[pos, found[0]])

    def info(self) -> ModelInfo:
        """Header, labels, attributes and the weights that are not zero."""
        return self._info

    def close(self) -> None:
        """Nothing to close: no file is open."""
