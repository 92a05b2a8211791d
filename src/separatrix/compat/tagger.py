"""What `CRF.tagger_` answers: python-crfsuite's Tagger on a model of ours."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.errors import DataError
from separatrix.structured import CRF

__all__ = ["Tagger", "state_features", "transition_features"]


def state_features(model: CRF) -> dict[tuple[str, Any], float]:
    """Weights that are not zero, by (attribute, label)."""
    chain = model.features_
    names = chain.names
    weights = model.coef_[chain.sections["state"]]
    used = np.flatnonzero(weights)
    numbers = chain.state.attributes[used]
    words: Any = numbers.astype(str) if names is None else names.array[numbers]
    labels = model.classes_[chain.state.outputs[used]]
    pairs = zip(words.tolist(), labels.tolist(), strict=True)
    return dict(zip(pairs, weights[used].tolist(), strict=True))


def transition_features(model: CRF) -> dict[tuple[Any, Any], float]:
    """Weights that are not zero, by (label before, label)."""
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
        self._tokens: list[Any] | None = None
        self._marginals: npt.NDArray[np.float64] | None = None

    def labels(self) -> list[Any]:
        """All labels."""
        labels: list[Any] = self._model.classes_.tolist()
        return labels

    def set(self, xseq: Sequence[Any]) -> None:
        """Take the sequence that the next questions are about."""
        self._tokens, self._marginals = list(xseq), None

    def _current(self) -> list[Any]:
        if self._tokens is None:
            raise DataError("there is no sequence yet; give one to `set` or `tag`")
        return self._tokens

    def tag(self, xseq: Sequence[Any] | None = None) -> list[Any]:
        """The best labels of a sequence."""
        if xseq is not None:
            self.set(xseq)
        labels: list[Any] = self._model.predict([self._current()])[0]
        return labels

    def probability(self, yseq: Sequence[Any]) -> float:
        """p(labels | sequence)."""
        return float(np.exp(self._model.predict_log_proba([self._current()], [list(yseq)])[0]))

    def marginal(self, y: Any, pos: int) -> float:
        """p(label at a position | sequence)."""
        if self._marginals is None:
            self._marginals = self._model.predict_marginals([self._current()])[0]
        found = np.flatnonzero(self._model.classes_ == y)
        if len(found) == 0:
            raise DataError(f"label {y!r} is not among {self.labels()}")
        return float(self._marginals[pos, found[0]])

    def info(self) -> SimpleNamespace:
        """Labels, attributes and the weights that are not zero."""
        states = state_features(self._model)
        attributes = dict.fromkeys(name for name, _ in states)
        return SimpleNamespace(
            labels={label: str(number) for number, label in enumerate(self.labels())},
            attributes={name: str(number) for number, name in enumerate(attributes)},
            state_features=states,
            transitions=transition_features(self._model),
        )
