"""From what a file holds to the matrix that the learners see."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import MaxAbsScaler

from separatrix.experiment.inputs import Inputs
from separatrix.features import TableEncoder, TextVectorizer

__all__ = ["describe_preparation", "make_preparation"]

#: Widest table that is kept as a dense matrix.
_DENSE = 256


def make_preparation(inputs: Inputs, X: Any, y: Any, *, n_jobs: int | None = None) -> Any:
    """The transformer for inputs of this kind, fitted on the rows to learn from.

    Texts become tf-idf weights of words, in single precision; tables are encoded column by column;
    matrices and images are divided by the largest absolute value of each column.

    Parameters
    ----------
    inputs : Inputs
        What X is.
    X : table, texts or matrix
        The rows to learn from.
    y : array of shape (n,)
        Their target.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    transformer
        Fitted.
    """
    if inputs.kind == "text":
        return TextVectorizer(sublinear_tf=True, dtype="float32", n_jobs=n_jobs).fit(X, y)
    if inputs.kind == "table":
        kinds = dict.fromkeys(inputs.texts, "text")
        encoder = TableEncoder(kinds or None, text_options={"sublinear_tf": True}).fit(X, y)
        narrow = len(encoder.get_feature_names_out()) <= _DENSE
        return encoder.set_params(sparse_output=not narrow)
    return MaxAbsScaler().fit(X)


def describe_preparation(inputs: Inputs) -> str:
    """What `make_preparation` does, in words."""
    return {
        "text": "Texts become tf-idf weights of their words.",
        "table": "Columns are encoded: numbers standardized, categories one column each, missing "
        "values marked.",
    }.get(inputs.kind, "Features are divided by their largest absolute value on the train rows.")
