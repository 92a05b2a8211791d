"""Contenders on chains: CRFsuite by python-crfsuite, and ours; their objective in numpy."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.data import Data, IntArray
from benchmarks.objectives import FloatArray, Loss, Objective
from benchmarks.sequences import Split, conll2000, n_attributes, n_labels
from benchmarks.spec import Outcome


def chain_likelihood(scores: FloatArray, y: IntArray) -> FloatArray:
    """Name the loss for the record; it is not a function of the scores of single rows."""
    raise NotImplementedError


@dataclass(frozen=True)
class ChainObjective(Objective):
    """P(w) = 1/2 |w|^2 + C sum_i (log Z_i - score_i), by a forward pass over all sentences at once.

    The weights are a sparse matrix (n_attributes, K) and transitions (K, K).
    """

    loss: Loss = chain_likelihood
    C: float = 1.0
    penalize_intercept: bool = True

    def __call__(self, coef: Any, intercept: Any, X: Any, y: IntArray) -> float:
        """P at the weights on the training sentences numbered by X."""
        state, transitions = coef, intercept
        split = conll2000()[0].head(len(X))
        nodes = np.asarray(split.matrix.astype(np.float64) @ state.toarray())
        lengths, labels = split.lengths, split.labels
        starts = np.cumsum(lengths) - lengths
        inner = np.ones(len(labels), dtype=bool)
        inner[starts] = False
        score = nodes[np.arange(len(labels)), labels].sum()
        at = np.flatnonzero(inner)
        score += transitions[labels[at - 1], labels[at]].sum()
        order = np.argsort(-lengths, kind="stable")
        starts, lengths = starts[order], lengths[order]
        most = transitions.max()
        E = np.exp(transitions - most)
        log_z, alpha = 0.0, np.zeros((0, 0))
        for t in range(int(lengths[0])):
            active = int((lengths > t).sum())
            node = nodes[starts[:active] + t]
            top = node.max(axis=1, keepdims=True)
            alpha = np.exp(node - top) * (1.0 if t == 0 else alpha[:active] @ E)
            total = alpha.sum(axis=1, keepdims=True)
            alpha /= total
            log_z += float(np.log(total).sum() + top.sum()) + (active * most if t else 0.0)
        squares = float((state.data**2).sum() + (transitions**2).sum())
        return self.C * (log_z - float(score)) + 0.5 * squares


def chain_hinge(scores: FloatArray, y: IntArray) -> FloatArray:
    """Name the loss for the record; it is not a function of the scores of single rows."""
    raise NotImplementedError


@dataclass(frozen=True)
class CertifiedGap(Objective):
    """1 + (P(w) - bound) / P(w) of a structured SVM with Hamming costs, bound <= min P.

    P(w) = 1/2 |w|^2 + C sum_i max over y' of (tokens that differ + score(y') - score(y_i)). The
    weights are a sparse matrix (n_attributes, K), and transitions (K, K) with the bound.
    """

    loss: Loss = chain_hinge
    C: float = 1.0
    penalize_intercept: bool = True

    def __call__(self, coef: Any, intercept: Any, X: Any, y: IntArray) -> float:
        """The value on the training sentences numbered by X."""
        state, (transitions, bound) = coef, intercept
        split = conll2000()[0].head(len(X))
        labels = split.labels
        nodes = np.asarray(split.matrix.astype(np.float64) @ state.toarray())
        own = nodes[np.arange(len(labels)), labels].sum()
        nodes += 1.0
        nodes[np.arange(len(labels)), labels] -= 1.0
        order = np.argsort(-split.lengths, kind="stable")
        lengths = split.lengths[order]
        starts = (np.cumsum(split.lengths) - split.lengths)[order]
        best, alpha = 0.0, np.zeros((0, 0))
        for t in range(int(lengths[0])):
            active = int((lengths > t).sum())
            at = starts[:active] + t
            best += float(alpha[active:].max(axis=1).sum()) if t else 0.0
            if t:
                own += transitions[labels[at - 1], labels[at]].sum()
                alpha = (alpha[:active, :, None] + transitions).max(axis=1) + nodes[at]
            else:
                alpha = nodes[at]
        best += float(alpha.max(axis=1).sum())
        squares = float((state.data**2).sum() + (transitions**2).sum())
        value = self.C * (best - float(own)) + 0.5 * squares
        return 1.0 + (value - float(bound)) / value


def _splits(data: Data) -> tuple[Split, Split]:
    train, test, _ = conll2000()
    return train.head(len(data.X_train)), test.head(len(data.X_test))


def _score(data: Data, predictions: Iterable[list[str]]) -> float:
    """F1 of the chunks of the test sentences."""
    from separatrix.metrics import chunk_f1

    return chunk_f1(_splits(data)[1].tags(), list(predictions))


# --- ours ---


def prepare_ours(data: Data) -> Any:
    """Encoded attributes and labels."""
    from separatrix.data import AttributeSequences

    train, test = _splits(data)
    return (
        data,
        AttributeSequences.of(train.matrix, train.lengths),
        train.tags(),
        AttributeSequences.of(test.matrix, test.lengths),
    )


def fit_ours(prepared: Any, cls: str, **params: Any) -> Any:
    """Fit on the training sentences."""
    _, X, y, _ = prepared
    separatrix = importlib.import_module("separatrix")
    chain = separatrix.Chain(boundaries=False, transitions="observed")
    model = getattr(separatrix, cls)(chain, random_state=0, **params)
    return model.fit(X, y)


def read_ours(prepared: Any, model: Any) -> Outcome:
    """State weights, transitions and F1."""
    data, _, _, X_test = prepared
    chain = model.features_
    K = n_labels()
    numbers = np.array([conll2000()[2].index(label) for label in model.classes_.tolist()])
    weights = model.coef_[chain.sections["state"]]
    cells = (chain.state.attributes, numbers[chain.state.outputs])
    state: Any = sparse.csr_matrix((weights, cells), shape=(n_attributes(), K))
    transitions = np.zeros((K, K))
    transitions[np.ix_(numbers, numbers)] = model.transition_weights_
    score = _score(data, model.predict(X_test))
    return Outcome(((state, transitions),), model.solution_.n_passes, score=score)


def read_memory(prepared: Any, model: Any) -> Outcome:
    """State weights, transitions and F1 of a fit that loaded its own data."""
    return read_ours(prepare_ours(prepared[0]), model)


def read_hinge(prepared: Any, model: Any) -> Outcome:
    """State weights, transitions with the lower bound, and F1."""
    outcome = read_ours(prepared, model)
    ((state, transitions),) = outcome.models
    return outcome._replace(models=((state, (transitions, model.dual_bound_)),))  # type: ignore[arg-type]


def prepare_nothing(data: Data) -> Any:
    """The data, with its arrays of attributes and labels loaded."""
    _splits(data)
    return (data,)


def load_and_fit_ours(prepared: Any) -> Any:
    """Make sequences of the arrays, and fit a CRF."""
    return fit_ours(prepare_ours(prepared[0]), "CRF", C=0.5)


def prepare_ours_fitted(data: Data) -> Any:
    """A tagger, and the test sentences that it is to label."""
    prepared = prepare_ours(data)
    return prepared[0], prepared[3], fit_ours(prepared, "StructuredPerceptron", max_iter=3)


def tag_ours(prepared: Any) -> Any:
    """Label the test sentences."""
    _, X, model = prepared
    return model.predict(X)


def read_tags(prepared: Any, tags: Any) -> Outcome:
    """F1 of the labels."""
    return Outcome(score=_score(prepared[0], tags))


# --- CRFsuite ---


def _trainer(data: Data, algorithm: str) -> Any:
    trainer = importlib.import_module("pycrfsuite").Trainer(verbose=False)
    trainer.select(algorithm)
    train, _ = _splits(data)
    for tokens, tags in zip(train.each_of_strings(), train.tags(), strict=True):
        trainer.append(tokens, tags)
    return trainer


def prepare_lbfgs(data: Data) -> Any:
    """CRFsuite with the sentences loaded."""
    return data, _trainer(data, "lbfgs")


def prepare_perceptron(data: Data) -> Any:
    """CRFsuite with the sentences loaded."""
    return data, _trainer(data, "ap")


def train_crfsuite(prepared: Any, **params: Any) -> str:
    """Train; returns the path of the model."""
    trainer = prepared[1]
    trainer.set_params(params)
    handle, path = tempfile.mkstemp(suffix=".crfsuite")
    os.close(handle)
    trainer.train(path)
    return path


def open_tagger(path: str) -> Any:
    """A tagger of a model file."""
    tagger = importlib.import_module("pycrfsuite").Tagger()
    tagger.open(path)
    return tagger


def read_crfsuite(prepared: Any, path: str) -> Outcome:
    """State weights, transitions and F1 of a model file."""
    data = prepared[0]
    tagger = open_tagger(path)
    info = tagger.info()
    names = {name: number for number, name in enumerate(conll2000()[2])}
    K = n_labels()
    rows = [int(attribute) for attribute, _ in info.state_features]
    columns = [names[label] for _, label in info.state_features]
    values = list(info.state_features.values())
    state: Any = sparse.csr_matrix((values, (rows, columns)), shape=(n_attributes(), K))
    transitions = np.zeros((K, K))
    for (before, label), weight in info.transitions.items():
        transitions[names[before], names[label]] = weight
    score = _score(data, [tagger.tag(tokens) for tokens in _splits(data)[1].strings()])
    os.unlink(path)
    return Outcome(((state, transitions),), score=score)


def load_and_train_crfsuite(prepared: Any) -> str:
    """Make lists of strings of all sentences, as sklearn-crfsuite takes them, and train."""
    data = prepared[0]
    trainer = importlib.import_module("pycrfsuite").Trainer(verbose=False)
    trainer.select("lbfgs")
    train, _ = _splits(data)
    X, y = list(train.strings()), train.tags()
    for tokens, tags in zip(X, y, strict=True):
        trainer.append(tokens, tags)
    return train_crfsuite((data, trainer), c1=0.0, c2=1.0)


def prepare_crfsuite_fitted(data: Data) -> Any:
    """A tagger, and the test sentences that it is to label, in its own form."""
    path = train_crfsuite(prepare_perceptron(data), max_iterations=3)
    crfsuite = importlib.import_module("pycrfsuite")
    items = [crfsuite.ItemSequence(tokens) for tokens in _splits(data)[1].strings()]
    return data, items, open_tagger(path)


def tag_crfsuite(prepared: Any) -> Any:
    """Label the test sentences."""
    _, items, tagger = prepared
    return [tagger.tag(item) for item in items]
