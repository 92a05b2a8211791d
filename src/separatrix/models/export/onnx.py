"""Models as ONNX graphs: what `compare` makes, and flat classifiers."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from separatrix.atomic import replacing
from separatrix.bayes import BayesDecision
from separatrix.bayes.calibration import Calibrated
from separatrix.bayes.calibration.maps import Isotonic, OneByOne, Sigmoid, Temperature
from separatrix.models.export.features import add_steps
from separatrix.models.export.graph import Graph, refused
from separatrix.models.export.learners import Answer, add_learner, precision_of

__all__ = ["save_onnx", "to_onnx"]


def to_onnx(model: Any) -> Any:
    """The ONNX graph of a fitted model.

    What goes in depends on the first step of the model:

    - a matrix, or a table whose columns are all numbers: "X" of shape (n, d), NaN where a value is
      missing in a table;
    - any other table: an input of shape (n,) for every column, by its name: numbers, lengths of
      time in seconds, 1 and 0 for yes and no (NaN where missing), strings for categories (empty
      where missing) and texts;
    - texts: "X" of shape (n,).

    What comes out: "label" of shape (n,), and "probabilities" or "scores" of shape (n, K), with
    (-s, s) for the one score s of two classes; of quantities "prediction" of shape (n,). Numbers
    are double, single where the weights of a flat classifier are.

    Strings go through `StringNormalizer`, `Tokenizer` (an operator of onnxruntime, in all its
    builds) and `TfIdfVectorizer`, whose rows are dense. Dates, mails, `ManyClass`, voted and
    structured models have no operators: the error says what cannot be exported, and why. Needs the
    extra ``onnx``.

    Parameters
    ----------
    model : estimator or Pipeline
        A flat linear classifier, `NaiveBayes`, `GaussianDiscriminant`, `OneVsAll`, `AllPairs`,
        `OutputCode`, `LaplaceLogisticRegression`, `BayesianLinearRegression` or a constant
        baseline; behind `TableEncoder`, `TextVectorizer` or a union of these, scikit-learn's
        scalers, `RadialBasis`, `Polynomial`; `Calibrated`, or deciding under costs, or not.

    Returns
    -------
    onnx.ModelProto
        The checked graph.

    Raises
    ------
    NotSavableError
        Some part has no operators in ONNX; the message names it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> from separatrix.models import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> graph = to_onnx(LogisticRegression().fit(X, y)).graph
    >>> [output.name for output in graph.output]
    ['label', 'probabilities']
    """
    layers, steps, learner = _taken_apart(model)
    graph = Graph(precision_of(learner))
    X = add_steps(graph, steps, getattr(learner, "n_features_in_", None))
    answer = add_learner(graph, learner, X)
    classes = getattr(learner, "classes_", None)
    if classes is None:
        graph.output(answer.decision, "prediction", graph.real)
        return graph.model()
    labels = np.asarray(classes)
    for layer in layers:
        if isinstance(layer, Calibrated):
            answer = _calibrated(graph, layer, answer)
        else:
            answer, labels = _decided(graph, layer, answer)
    values, kind = graph.labels(labels)
    winner = graph.add("ArgMax", answer.decision, axis=1, keepdims=0)
    graph.output(graph.chosen(values, winner), "label", kind)
    likely = answer.proba is not None
    found = answer.proba if likely else answer.scores
    assert found is not None
    graph.output(found, "probabilities" if likely else "scores", graph.real, len(classes))
    return graph.model()


def _taken_apart(model: Any) -> tuple[list[Any], list[Any], Any]:
    """What calibrates and decides, innermost first; the steps; the learner."""
    layers: list[Any] = []
    steps: list[Any] = []
    while True:
        if isinstance(model, Pipeline):
            steps += [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
            model = model.steps[-1][1]
        elif type(model) in (Calibrated, BayesDecision):
            check_is_fitted(model)
            layers.insert(0, model)
            model = model.estimator_
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            for one in (*steps, model):
                check_is_fitted(one)
            return layers, steps, model


def _calibrated(graph: Graph, layer: Calibrated, answer: Answer) -> Answer:
    """Probabilities from scores that are not below the floor of the calibration."""
    scores = answer.logs
    raw = scores is None
    if scores is None:
        scores = answer.scores
        if answer.margins is not None:
            # Two classes have one score s, which stands for (-s/2, s/2).
            scores = graph.add("Mul", answer.decision, graph.constant(0.5))
    assert scores is not None
    n_classes, made = len(layer.classes_), layer._map
    bounded = graph.add("Max", scores, graph.constant(layer._floor))
    if isinstance(made, Temperature):
        cooled = graph.add("Div", bounded, graph.constant(made.temperature))
        proba = graph.add("Softmax", cooled, axis=1)
        return Answer(proba, logs=graph.add("LogSoftmax", cooled, axis=1), proba=proba)
    assert isinstance(made, OneByOne)
    margins = _against_the_rest(graph, bounded, n_classes, raw)
    shares = [_map(graph, one, graph.taken(margins, [k])) for k, one in enumerate(made.maps)]
    if n_classes == 2:
        proba = graph.joined([graph.add("Sub", graph.constant(1.0), shares[0]), shares[0]])
    else:
        all_ = graph.joined(shares)
        total = graph.sum(all_)
        nothing = graph.add("Equal", total, graph.constant(0.0))
        safe = graph.add("Where", nothing, graph.constant(1.0), total)
        even = graph.constant(1 / n_classes)
        proba = graph.add("Where", nothing, even, graph.add("Div", all_, safe))
    return Answer(proba, logs=graph.add("Log", proba), proba=proba)


def _against_the_rest(graph: Graph, scores: str, n_classes: int, raw: bool) -> str:
    """The score of each class against the rest: log-odds, or raw scores as they are."""
    if n_classes == 2:
        return graph.add("Sub", graph.taken(scores, [1]), graph.taken(scores, [0]))
    if raw:
        return scores
    rest = []
    for k in range(n_classes):
        others = graph.taken(scores, [j for j in range(n_classes) if j != k])
        rest.append(graph.log_sum(others))
    return graph.add("Sub", scores, graph.joined(rest))


def _map(graph: Graph, one: Any, margins: str) -> str:
    if isinstance(one, Sigmoid):
        moved = graph.add("Mul", margins, graph.constant(one.slope))
        return graph.add("Sigmoid", graph.add("Add", moved, graph.constant(one.intercept)))
    assert isinstance(one, Isotonic)
    if len(one.margins) == 1:
        level = graph.add("Mul", margins, graph.constant(0.0))
        return graph.add("Add", level, graph.constant(one.shares[0]))
    # Between its knots the map rises by its slope times how far the margin has come.
    steps = np.diff(one.margins)
    come = graph.add("Sub", margins, graph.constant(one.margins[:-1]))
    come = graph.add("Min", graph.add("Max", come, graph.constant(0.0)), graph.constant(steps))
    slopes = (np.diff(one.shares) / steps)[:, None]
    risen = graph.add("MatMul", come, graph.constant(slopes))
    return graph.add("Add", risen, graph.constant(one.shares[0]))


def _decided(graph: Graph, layer: BayesDecision, answer: Answer) -> tuple[Answer, Any]:
    """The action of least expected cost, and the names of the actions."""
    if answer.proba is None:
        raise refused("BayesDecision", "the learner has no probabilities")
    costs = graph.add("MatMul", answer.proba, graph.constant(layer.cost_.table))
    decision = graph.add("Neg", costs)
    return Answer(decision, proba=answer.proba), np.asarray(layer.actions_)


def save_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the ONNX graph of a fitted model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator or Pipeline
        What `to_onnx` takes.
    path : str or path
        Where to; "model.onnx" by custom.

    See Also
    --------
    to_onnx : inputs, outputs and errors.
    """
    data = to_onnx(model).SerializeToString()
    with replacing(path) as file:
        file.write(data)
