"""Flat linear classifiers for other programs: scikit-learn's classes, and ONNX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.atomic import replacing
from separatrix.errors import MissingPackageError, NotSavableError
from separatrix.learners.linear import LinearSVM
from separatrix.models.flat import Flat, check_flat, flatten

__all__ = ["save_onnx", "to_onnx", "to_sklearn"]


def to_sklearn(model: Any) -> Any:
    """A scikit-learn classifier with the same weights, and so the same predictions.

    Parameters
    ----------
    model : LogisticRegression, LinearSVM, LinearClassifier, Perceptron or MIRA
        A fitted classifier.

    Returns
    -------
    sklearn.linear_model.LogisticRegression, sklearn.svm.LinearSVC or \
sklearn.linear_model.SGDClassifier
        The first for models with probabilities, the second for `LinearSVM`, the last for others.
        Its parameters are scikit-learn's defaults: it is for prediction, not for fitting again.

    Raises
    ------
    NotSavableError
        The model is not flat and linear.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression, to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> bool((to_sklearn(model).predict(X) == model.predict(X)).all())
    True
    """
    from sklearn import linear_model, svm

    check_flat(model)
    if hasattr(model, "predict_proba"):
        result = linear_model.LogisticRegression(C=getattr(model, "C", 1.0))
    elif isinstance(model, LinearSVM):
        result = svm.LinearSVC(C=model.C)
    else:
        result = linear_model.SGDClassifier()
    result.coef_ = np.array(model.coef_)
    result.intercept_ = np.array(model.intercept_)
    result.classes_ = np.array(model.classes_)
    result.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        result.feature_names_in_ = np.array(model.feature_names_in_)
    result.n_iter_ = np.array([model.n_iter_], dtype=np.int32)
    return result


def to_onnx(model: Any) -> Any:
    """The ONNX graph of a flat linear classifier, alone or behind scalers.

    Input "X" of shape (n, d) in the precision of the weights; outputs "label" of shape (n,), and
    "probabilities" or "scores" of shape (n, K), with (-s, s) for the one score s of two classes.
    Needs the extra ``onnx``.

    Parameters
    ----------
    model : LogisticRegression, LinearSVM, LinearClassifier, Perceptron or MIRA
        A fitted classifier with labels that are numbers or strings; or a `Pipeline` of
        scikit-learn's scalers, or of a `TableEncoder` of numbers, and one of these; in either case
        `Calibrated` by temperature, or not.

    Returns
    -------
    onnx.ModelProto
        The checked graph.

    Raises
    ------
    NotSavableError
        The model is not flat and linear, or its labels have no type in ONNX.

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
    flat = flatten(model)
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        raise MissingPackageError(
            "the export needs onnx, which is not installed: pip install 'separatrix[onnx]'"
        ) from None

    dtype = flat.weights.dtype
    real = helper.np_dtype_to_tensor_dtype(dtype)
    labels, label_type = _labels(flat.classes)
    n_classes = len(labels)
    result = "scores" if flat.temperature is None and not flat.likely else "probabilities"
    initializers = [
        numpy_helper.from_array(np.ascontiguousarray(flat.weights), "weights"),
        numpy_helper.from_array(np.array(flat.intercepts, dtype), "intercepts"),
        helper.make_tensor("labels", label_type, [n_classes], labels),
    ]

    def constant(name: str, values: Any) -> str:
        initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    nodes = _products(flat, helper, real, constant)
    pairs = "product"
    if n_classes == 2:
        # The first label wins a tie, in argmax as in `predict`: s > 0 is the second class.
        nodes += [
            helper.make_node("Neg", ["product"], ["negative"]),
            helper.make_node("Concat", ["negative", "product"], ["pairs"], axis=1),
        ]
        pairs = "pairs"
    winners = pairs
    if flat.temperature is not None:
        nodes += _calibrated(flat, helper, pairs, constant)
        winners = result
    elif not flat.likely:
        nodes.append(helper.make_node("Identity", [pairs], [result]))
    elif n_classes == 2:
        nodes.append(helper.make_node("Sigmoid", [pairs], [result]))
    else:
        nodes.append(helper.make_node("Softmax", [pairs], [result], axis=1))
    nodes += [
        helper.make_node("ArgMax", [winners], ["winner"], axis=1, keepdims=0),
        helper.make_node("Gather", ["labels", "winner"], ["label"], axis=0),
    ]
    graph = helper.make_graph(
        nodes,
        "separatrix",
        [helper.make_tensor_value_info("X", real, ["n", flat.weights.shape[0]])],
        [
            helper.make_tensor_value_info("label", label_type, ["n"]),
            helper.make_tensor_value_info(result, real, ["n", n_classes]),
        ],
        initializers,
    )
    # An old version of the operators, which every runtime of the last years knows.
    exported = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="separatrix", ir_version=8
    )
    onnx.checker.check_model(exported)
    return exported


def _products(flat: Flat, helper: Any, real: int, constant: Any) -> list[Any]:
    """Nodes from "X" to "product": X W + b, missing values replaced and weighed before."""
    if flat.means is None or flat.gaps is None:
        return [helper.make_node("Gemm", ["X", "weights", "intercepts"], ["product"])]
    return [
        helper.make_node("IsNaN", ["X"], ["missing"]),
        helper.make_node("Where", ["missing", constant("means", flat.means), "X"], ["filled"]),
        helper.make_node("Gemm", ["filled", "weights", "intercepts"], ["sums"]),
        helper.make_node("Cast", ["missing"], ["marks"], to=real),
        helper.make_node("MatMul", ["marks", constant("gaps", flat.gaps)], ["marked"]),
        helper.make_node("Add", ["sums", "marked"], ["product"]),
    ]


def _calibrated(flat: Flat, helper: Any, pairs: str, constant: Any) -> list[Any]:
    """Nodes from scores to "probabilities": softmax(max(scores, floor) / T)."""
    two = len(flat.classes) == 2
    # Two classes have one score s, which stands for (-s/2, s/2).
    nodes = [helper.make_node("Mul", [pairs, constant("half", 0.5 if two else 1.0)], ["shared"])]
    if flat.likely:
        nodes.append(helper.make_node("LogSoftmax", ["shared"], ["raw"], axis=1))
    raw = "raw" if flat.likely else "shared"
    return [
        *nodes,
        helper.make_node("Max", [raw, constant("floor", flat.floor)], ["bounded"]),
        helper.make_node("Div", ["bounded", constant("temperature", flat.temperature)], ["cooled"]),
        helper.make_node("Softmax", ["cooled"], ["probabilities"], axis=1),
    ]


def save_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the ONNX graph of a flat linear classifier to a file, whole or not at all.

    Parameters
    ----------
    model : LogisticRegression, LinearSVM, LinearClassifier, Perceptron or MIRA
        A fitted classifier with labels that are numbers or strings.
    path : str or path
        Where to; "model.onnx" by custom.

    See Also
    --------
    to_onnx : inputs, outputs and errors.
    """
    data = to_onnx(model).SerializeToString()
    with replacing(path) as file:
        file.write(data)


def _labels(classes: npt.NDArray[Any]) -> tuple[list[Any], int]:
    """The labels as ONNX takes them, and their type."""
    from onnx import TensorProto

    kind = classes.dtype.kind
    values = classes.tolist()
    if kind == "U" or (kind == "O" and all(isinstance(value, str) for value in values)):
        return [value.encode("utf-8") for value in values], int(TensorProto.STRING)
    if kind == "b":
        return values, int(TensorProto.BOOL)
    if kind in "iu":
        return values, int(TensorProto.INT64)
    if kind == "f":
        return values, int(TensorProto.DOUBLE)
    raise NotSavableError(f"labels of dtype {classes.dtype} have no type in ONNX")
