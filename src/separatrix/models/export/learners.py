"""Learners as ONNX operators: from features to scores and probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.bayes import BayesianLinearRegression, LaplaceLogisticRegression
from separatrix.bayes.laplace.weight_covariance import FullCovariance
from separatrix.errors import NotSavableError
from separatrix.learners.baselines import MajorityClass, MeanValue, MedianValue
from separatrix.learners.generative import GaussianDiscriminant, NaiveBayes
from separatrix.learners.generative.columns import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL
from separatrix.learners.linear import (
    MIRA,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    Perceptron,
)
from separatrix.learners.reductions import AllPairs, OneVsAll, OutputCode
from separatrix.models.export.graph import Graph, refused

__all__ = ["Answer", "add_learner", "check_flat", "precision_of"]

#: Exactly these classes: a subclass may predict in another way.
_FLAT = (LogisticRegression, LinearSVM, LinearClassifier, Perceptron, MIRA)


@dataclass(frozen=True)
class Answer:
    """What a learner tells of each row, by the names of results.

    Attributes
    ----------
    decision : str
        Shape (n, K): the label of the largest is predicted, the first of equals. Of quantities
        the predictions, of shape (n,).
    logs : str or None
        Log-probabilities, shape (n, K).
    proba : str or None
        Probabilities, shape (n, K).
    scores : str or None
        Scores without probabilities, shape (n, K).
    margins : str or None
        The one score s of two classes, shape (n, 1), where that is all there is.
    """

    decision: str
    logs: str | None = None
    proba: str | None = None
    scores: str | None = None
    margins: str | None = None


def check_flat(model: Any) -> None:
    """Raise NotSavableError unless `model` predicts by W x + b and nothing else."""
    if type(model) not in _FLAT:
        known = ", ".join(cls.__name__ for cls in _FLAT)
        raise NotSavableError(
            f"{type(model).__qualname__} cannot be exported: only flat linear classifiers can "
            f"({known}); save it as a model file instead"
        )
    check_is_fitted(model)
    if hasattr(model, "vote_"):
        raise NotSavableError(
            "a voted model has many weight vectors and cannot be exported; use averaging='average'"
        )


def precision_of(model: Any) -> np.dtype[Any]:
    """Precision of the numbers of a model: that of the weights of a flat one."""
    single = type(model) in _FLAT and model.coef_.dtype == np.float32
    return np.dtype(np.float32 if single else np.float64)


def add_learner(graph: Graph, model: Any, X: str) -> Answer:
    """The answers of a fitted learner to the features X."""
    if type(model) in _FLAT:
        check_flat(model)
        margins = _affine(graph, X, model.coef_.T, model.intercept_)
        return _of_margins(graph, margins, len(model.classes_), hasattr(model, "predict_proba"))
    add = _LEARNERS.get(type(model))
    if add is None:
        known = ", ".join(one.__name__ for one in (*_FLAT, *_LEARNERS))
        raise refused(type(model).__qualname__, f"of learners there are {known}")
    return add(graph, model, X)


def _affine(graph: Graph, X: str, weights: Any, intercepts: Any) -> str:
    """X W + b."""
    intercepts = np.broadcast_to(np.asarray(intercepts), weights.shape[1:])
    return graph.add("Gemm", X, graph.constant(weights), graph.constant(intercepts))


def _of_margins(graph: Graph, margins: str, n_classes: int, likely: bool) -> Answer:
    """The answer for one score of two classes, or for K scores."""
    two = n_classes == 2
    # The first label wins a tie, in argmax as in `predict`: s > 0 is the second class.
    pairs = graph.joined([graph.add("Neg", margins), margins]) if two else margins
    if not likely:
        return Answer(pairs, scores=pairs, margins=margins if two else None)
    shared = graph.add("Mul", pairs, graph.constant(0.5)) if two else pairs
    logs = graph.add("LogSoftmax", shared, axis=1)
    proba = graph.add("Sigmoid", pairs) if two else graph.add("Softmax", pairs, axis=1)
    return Answer(pairs, logs=logs, proba=proba)


def _of_joint(graph: Graph, joint: str) -> Answer:
    """The answer for log P(x, y), shape (n, K)."""
    logs = graph.add("LogSoftmax", joint, axis=1)
    return Answer(joint, logs=logs, proba=graph.add("Softmax", joint, axis=1))


# -- models of the classes -------------------------------------------------------------------


def _naive_bayes(graph: Graph, model: NaiveBayes, X: str) -> Answer:
    """log P(y) + sum_j log P(x_j | y); what is missing adds nothing."""
    likelihood, kinds = model._likelihood, model.counts_.kinds
    if (kinds == CATEGORICAL).any():
        raise refused("NaiveBayes with categorical columns", "they are looked up in tables")
    if likelihood._zeros() is not None:
        raise refused("NaiveBayes without smoothing", "some of its probabilities are zero")
    terms = likelihood._terms()
    start = np.where(np.isneginf(likelihood.log_prior), -np.inf, terms.start)
    joint = graph.constant(terms.start if model.complement else start)
    gone = graph.add("IsNaN", X)
    there = graph.add("Sub", graph.constant(1.0), graph.cast(gone))
    values = graph.add("Where", gone, graph.constant(0.0), X)

    def added(joint: str, rows: str, weights: Any) -> str:
        product = graph.add("MatMul", rows, graph.constant(weights.T))
        return graph.add("Add", joint, product)

    for kind in (MULTINOMIAL, BERNOULLI, GAUSSIAN):
        own = np.flatnonzero(kinds == kind)
        if not len(own):
            continue
        rows, present = graph.taken(values, own), graph.taken(there, own)
        weight = terms.weight[:, own]
        if kind == BERNOULLI:
            on = graph.add("Greater", rows, graph.constant(float(model.binarize)))
            rows = graph.add("Mul", graph.cast(on), present)
        if kind == GAUSSIAN:
            # -w/2 (x - m)^2 = -w/2 x^2 + w m x - w/2 m^2, around the mean of the classes' means
            # so that large values do not cancel.
            center = terms.mean[:, own].mean(axis=0)
            mean = terms.mean[:, own] - center
            rows = graph.add("Mul", graph.add("Sub", rows, graph.constant(center)), present)
            joint = added(joint, graph.add("Mul", rows, rows), -0.5 * weight)
            joint = added(joint, present, -0.5 * weight * mean**2)
            weight = weight * mean
        joint = added(joint, rows, weight)
        if kind != MULTINOMIAL:
            joint = added(joint, present, terms.base[:, own])
    return _of_joint(graph, joint)


def _discriminant(graph: Graph, model: GaussianDiscriminant, X: str) -> Answer:
    """Linear scores of classes with one covariance, else log densities by whitened distances."""
    solved = model._solution()
    if solved.linear is not None:
        linear = np.where(np.isfinite(solved.linear), solved.linear, 0.0)
        ends = np.where(np.isneginf(solved.log_prior), -np.inf, linear[-1])
        return _of_joint(graph, _affine(graph, X, linear[:-1], ends))
    parts = []
    for k, white in enumerate(solved.whiteners):
        root = white.whiten(np.eye(len(white.alive)))
        constant = solved.log_prior[k] - 0.5 * (white.log_det + white.rank * np.log(2 * np.pi))
        away = graph.add("Sub", X, graph.constant(model.means_[k]))
        away = graph.add("MatMul", away, graph.constant(root))
        far = graph.sum(graph.add("Mul", away, away))
        scaled = graph.add("Mul", far, graph.constant(-0.5))
        parts.append(graph.add("Add", scaled, graph.constant(constant)))
    return _of_joint(graph, graph.joined(parts))


# -- reductions ------------------------------------------------------------------------------


def _column_scores(graph: Graph, model: Any, X: str) -> str:
    """Scores of the columns of a code, shape (n, L)."""
    columns = model.columns_
    if not hasattr(columns, "coef"):
        kind = type(model).__qualname__
        raise refused(kind, "its columns were fitted one by one (shared=False)")
    coef = columns.coef
    weights = np.asarray(coef.todense() if hasattr(coef, "todense") else coef, dtype=np.float64)
    return _affine(graph, X, weights.T, columns.intercept)


def _one_vs_all(graph: Graph, model: OneVsAll, X: str) -> Answer:
    if model.multilabel_:
        raise refused("OneVsAll of sets of labels", "rows have several labels")
    scores = _column_scores(graph, model, X)
    if len(model.classes_) == 2:
        return _of_margins(graph, scores, 2, hasattr(model, "predict_proba"))
    if not hasattr(model, "predict_proba"):
        return Answer(scores, scores=scores)
    shares = graph.add("Sigmoid", scores)
    proba = graph.add("Div", shares, graph.sum(shares))
    return Answer(scores, logs=graph.add("Log", proba), proba=proba)


def _all_pairs(graph: Graph, model: AllPairs, X: str) -> Answer:
    """Columns won by each class; the sum of its margins decides among equals."""
    _refuse_probabilities(model)
    margins, M = _column_scores(graph, model, X), model.code_.values.astype(np.float64)
    sums = graph.add("MatMul", margins, graph.constant(M.T))
    if model.decode == "scores" or len(model.classes_) == 2:
        return Answer(sums, scores=sums)
    if model.decode != "vote":
        raise refused(f"AllPairs(decode={model.decode!r})", "rounds depend on who won before")
    won = graph.cast(graph.add("Greater", margins, graph.constant(0.0)))
    lost = graph.add("Sub", graph.constant(1.0), won)
    wins = graph.add("MatMul", won, graph.constant((M.T > 0).astype(float)))
    other = graph.add("MatMul", lost, graph.constant((M.T < 0).astype(float)))
    size = graph.add("Add", graph.add("Abs", sums), graph.constant(1.0))
    share = graph.add("Div", sums, graph.add("Mul", size, graph.constant(3.0)))
    scores = graph.add("Add", graph.add("Add", wins, other), share)
    return Answer(scores, scores=scores)


def _output_code(graph: Graph, model: OutputCode, X: str) -> Answer:
    """Minus the distance of the margins from the word of each class."""
    _refuse_probabilities(model)
    margins, M = _column_scores(graph, model, X), model.code_.values
    plus, minus = (graph.constant(np.equal(M.T, sign).astype(float)) for sign in (1, -1))
    one, zero = graph.constant(1.0), graph.constant(0.0)

    def loss(f: str) -> str:
        if model.decode == "hamming":
            return graph.cast(graph.add("LessOrEqual", f, zero))
        gap = graph.add("Sub", one, f)
        if model.loss_ == "squared":
            return graph.add("Mul", gap, gap)
        short = graph.add("Max", gap, zero)
        return graph.add("Mul", short, short) if model.loss_ == "squared_hinge" else short

    if model.decode != "hamming" and model.loss_ not in ("hinge", "squared_hinge", "squared"):
        raise refused(f"OutputCode(loss={model.loss_!r})", "there are hinge losses and squares")
    own = graph.add("MatMul", loss(margins), plus)
    if model.decode == "hamming":
        # A margin of zero counts as -1.
        positive = graph.cast(graph.add("Greater", margins, zero))
        against = graph.add("MatMul", positive, minus)
        unused = 0.5 * (M == 0).sum(axis=1)
    else:
        against = graph.add("MatMul", loss(graph.add("Neg", margins)), minus)
        unused = (M == 0).sum(axis=1).astype(float)  # each of these losses is 1 at 0
    distance = graph.add("Add", graph.add("Add", own, against), graph.constant(unused))
    scores = graph.add("Neg", distance)
    return Answer(scores, scores=scores)


def _refuse_probabilities(model: Any) -> None:
    if hasattr(model, "predict_proba"):
        kind = type(model).__qualname__
        raise refused(f"{kind} with probabilities", "they are the fixed point of an iteration")


# -- averages over the posterior, quantities, baselines ----------------------------------------


def _laplace(graph: Graph, model: LaplaceLogisticRegression, X: str) -> Answer:
    """Scores moderated by the variances of their differences (Lu, Ie & Sha 2020)."""
    posterior = model.posterior_
    if model.prediction != "probit" or not isinstance(posterior.covariance, FullCovariance):
        raise refused(
            "LaplaceLogisticRegression", "there is prediction='probit' with a full covariance only"
        )
    d = model.n_features_in_
    rows = len(posterior.center)

    def times(matrix: Any) -> str:
        ends = matrix[d] if rows > d else np.zeros(matrix.shape[1])
        return _affine(graph, X, matrix[:d], ends)

    def moderated(gap: str, variance: str) -> str:
        size = graph.add("Mul", variance, graph.constant(math.pi / 8))
        size = graph.add("Sqrt", graph.add("Add", size, graph.constant(1.0)))
        return graph.add("Div", gap, size)

    roots = posterior.covariance.root
    if posterior.basis.shape == (1, 1):
        one = times(roots[0])
        margin = moderated(times(posterior.center), graph.sum(graph.add("Mul", one, one)))
        return _of_margins(graph, margin, 2, True)
    basis = posterior.basis
    each = [times((posterior.center @ basis.T)[:, [k]]) for k in range(len(basis))]
    away = [times(np.tensordot(row, roots, axes=1)) for row in basis]
    logs: list[str] = []
    for k in range(len(basis)):
        gaps = []
        for other in range(len(basis)):
            between = graph.add("Sub", away[other], away[k])
            variance = graph.sum(graph.add("Mul", between, between))
            gap = graph.add("Sub", each[other], each[k])
            gaps.append(moderated(gap, variance))
        logs.append(graph.log_sum(graph.joined(gaps)))
    return _of_joint(graph, graph.add("Neg", graph.joined(logs)))


def _regression(graph: Graph, model: BayesianLinearRegression, X: str) -> Answer:
    coef = np.asarray(model.coef_).reshape(-1, 1)
    column = _affine(graph, X, coef, np.atleast_1d(model.intercept_))
    return Answer(graph.add("Reshape", column, graph.constant(np.array([-1]))))


def _repeated(graph: Graph, X: str, values: Any, shape: tuple[int, ...]) -> str:
    """The same values of this shape for every row."""
    size = graph.add("Gather", graph.add("Shape", X), graph.constant(np.array([0])), axis=0)
    if shape:
        size = graph.add("Concat", size, graph.constant(np.array(shape)), axis=0)
    return graph.add("Expand", graph.constant(values), size)


def _majority(graph: Graph, model: MajorityClass, X: str) -> Answer:
    proba = _repeated(graph, X, model.class_prior_, model.class_prior_.shape)
    return Answer(proba, logs=graph.add("Log", proba), proba=proba)


def _center(graph: Graph, model: MeanValue | MedianValue, X: str) -> Answer:
    return Answer(_repeated(graph, X, model.center_, ()))


#: Class -> how it answers; exactly these, as a subclass may predict in another way.
_LEARNERS: dict[type, Callable[[Graph, Any, str], Answer]] = {
    NaiveBayes: _naive_bayes,
    GaussianDiscriminant: _discriminant,
    OneVsAll: _one_vs_all,
    AllPairs: _all_pairs,
    OutputCode: _output_code,
    LaplaceLogisticRegression: _laplace,
    BayesianLinearRegression: _regression,
    MajorityClass: _majority,
    MeanValue: _center,
    MedianValue: _center,
}
