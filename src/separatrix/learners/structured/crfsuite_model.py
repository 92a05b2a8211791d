"""Models of CRFsuite as chains with weights, and back."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from separatrix.atomic import replacing
from separatrix.data import Vocabulary
from separatrix.errors import ParameterError
from separatrix.learners.structured.base import StructuredLearner
from separatrix.learners.structured.crfsuite_file import (
    FEATURES,
    CrfsuiteModel,
    read_crfsuite_model,
)
from separatrix.learners.structured.crfsuite_write import crfsuite_bytes
from separatrix.results import Solution, StopReason, Trace
from separatrix.structures import Chain
from separatrix.structures.chain.structure import ChainFeatures, Pattern

__all__ = ["CrfsuiteFormat", "chain_of", "crfsuite_model_of"]

Floats = npt.NDArray[np.float64]


def chain_of(model: CrfsuiteModel) -> tuple[ChainFeatures, npt.NDArray[Any], Floats]:
    """Features, labels and weights of a model of CRFsuite."""
    K = len(model.labels)
    sources = np.arange(len(model.attributes) + 1)
    starts = np.searchsorted(model.states["source"], sources).astype(np.int64)
    pattern = Pattern(starts, model.states["label"].astype(np.int64))
    pairs = np.zeros((K, K), dtype=bool)
    pairs[model.transitions["source"], model.transitions["label"]] = True
    weights = np.concatenate([model.transitions["weight"], model.states["weight"]])
    chain = ChainFeatures(K, pattern, pairs, boundaries=False, names=model.attributes)
    return chain, np.array(model.labels), weights.astype(np.float64)


def crfsuite_model_of(model: StructuredLearner) -> CrfsuiteModel:
    """What a file of CRFsuite can hold of a fitted model; ParameterError where that is not all."""
    model._offered("transition_matrix", "files of CRFsuite")
    chain = model.features_
    names = chain.names
    unknown = {
        "a chain of second order": chain.triples is not None,
        "weights of starts and ends (fit with boundaries=False)": chain.boundaries,
        "attributes of edges": chain.edges is not None,
    }
    for what, there in unknown.items():
        if there:
            raise ParameterError(f"CRFsuite's model files cannot hold {what}")
    labels = model.classes_.tolist()
    words = names[:] if names is not None else []
    for what, found in (("label", labels), ("attribute", words)):
        for word in found:
            if not isinstance(word, str) or "\0" in word:
                raise ParameterError(
                    f"CRFsuite's model files cannot hold the {what} {word!r}: they hold strings "
                    "without the character zero"
                )
    if names is None:
        names = Vocabulary.of(map(str, range(chain.n_attributes)))
    transitions = np.zeros(int(chain.transitions.sum()), dtype=FEATURES)
    transitions["type"] = 1
    transitions["source"], transitions["label"] = np.nonzero(chain.transitions)
    transitions["weight"] = model.coef_[chain.sections["transitions"]]
    states = np.zeros(len(chain.state.outputs), dtype=FEATURES)
    states["source"], states["label"] = chain.state.attributes, chain.state.outputs
    states["weight"] = model.coef_[chain.sections["state"]]
    return CrfsuiteModel(labels, names, states, transitions)


class CrfsuiteFormat(StructuredLearner):
    """A learner whose weights can come from CRFsuite's model files, and go there."""

    @classmethod
    def from_crfsuite(cls, path: str | os.PathLike[str] | bytes) -> Self:
        """The model of a CRFsuite file, ready to predict; its labels keep their order.

        Parameters
        ----------
        path : str, path or bytes
            A file that CRFsuite, python-crfsuite or `to_crfsuite` wrote, or its content.

        Returns
        -------
        CRF
            Fitted.

        Raises
        ------
        ModelFileError
            The file is not such a model, or is damaged; the message says where.
        """
        model = cls(Chain(transitions="observed", boundaries=False))
        origin = "memory" if isinstance(path, bytes) else os.fspath(path)
        model._hold(*chain_of(read_crfsuite_model(path)), f"read from {origin}")
        return model

    def to_crfsuite(self, path: str | os.PathLike[str]) -> None:
        """Write the weights as a model file for CRFsuite, whole or not at all.

        It takes a model of first order with ``boundaries=False``, without attributes of edges, and
        with strings for labels.

        Parameters
        ----------
        path : str or path
        """
        data = crfsuite_bytes(crfsuite_model_of(self))
        with replacing(path) as file:
            file.write(data)

    def _hold(
        self, features: ChainFeatures, classes: npt.NDArray[Any], w: Floats, origin: str
    ) -> None:
        """Take over weights that another program or solver found."""
        solution = Solution(
            w=w[:, None],
            n_passes=0.0,
            gap=float("inf"),
            stopped=StopReason.BUDGET,
            trace=Trace(),
            objective=float("nan"),
            certificate="none",
            solver=origin,
        )
        self._keep(features, classes, w, solution)
