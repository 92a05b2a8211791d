"""Answers of a fitted estimator, partition by partition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from separatrix.distributed.packages import dask_distributed
from separatrix.distributed.rows import aligned, in_partition, sparse_rows
from separatrix.errors import ParameterError
from separatrix.validation import is_dask

__all__ = ["predict", "transform"]

_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def predict(estimator: Any, X: Any, method: str = "predict") -> Any:
    """Label a Dask collection lazily; the result has the partitions of X.

    Parameters
    ----------
    estimator : fitted estimator
        From `fit`, from its own fit, or from a model file.
    X : dask Array, DataFrame or Bag
        Rows, or sequences.
    method : str, default="predict"
        Which of the estimator's methods answers: "predict", "predict_proba", "predict_log_proba",
        "decision_function", or another one that takes X alone.

    Returns
    -------
    dask Array, Series, DataFrame or Bag
        An Array for an Array; for a DataFrame a Series with its index, or a DataFrame with a column
        per class; for a Bag a Bag.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LogisticRegression
    >>> from separatrix.distributed import predict
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> labels = predict(model, da.from_array(X, chunks=(60, 4)))
    >>> labels.chunks, labels.compute()[:3]
    (((60, 60, 30),), array([0, 0, 0]))
    """
    dask_distributed()
    from dask import delayed

    if not is_dask(X):
        raise TypeError(f"X is a {type(X).__name__}; use {type(estimator).__name__}.{method}")
    if not hasattr(estimator, method):
        raise ParameterError(f"{type(estimator).__name__} has no method {method!r}")
    model = delayed(estimator, pure=False, traverse=False)
    if hasattr(X, "rechunk"):
        return _from_array(estimator, model, X, method)
    if hasattr(X, "dtypes") or hasattr(X, "divisions"):
        return _from_frame(estimator, model, X, method)
    return X.map_partitions(_answer_list, model, method)


def transform(estimator: Any, X: Any) -> Any:
    """Turn texts or tables into a Dask array of sparse blocks, lazily.

    Parameters
    ----------
    estimator : fitted TextVectorizer or TableEncoder
        Or any transformer whose result is a matrix.
    X : dask Array, DataFrame, Series or Bag
        What its `transform` takes, in partitions.

    Returns
    -------
    dask Array of shape (n, n_features_out)
        One block for each partition; lengths are not known where those of X are not.

    Examples
    --------
    >>> import dask.bag as db
    >>> from separatrix import TextVectorizer
    >>> from separatrix.distributed import transform
    >>> texts = db.from_sequence(["see you", "see them"], npartitions=2)
    >>> vectorizer = TextVectorizer().fit(["see you soon"])
    >>> transform(vectorizer, texts).blocks[0].compute().shape
    (1, 3)
    """
    dask_distributed()
    import dask.array as da
    from dask import delayed

    from separatrix.distributed.partitions import partitions_of

    parts = partitions_of(X).parts
    model = delayed(estimator, pure=False, traverse=False)
    width = len(estimator.get_feature_names_out())
    chunks = getattr(X, "chunks", None)
    rows = chunks[0] if chunks is not None else [math.nan] * len(parts)
    dtype = np.dtype(getattr(estimator, "dtype", np.float64))
    dense = getattr(estimator, "sparse_output", True) is False
    meta: Any = np.empty((0, 0), dtype) if dense else sp.csr_matrix((0, 0), dtype=dtype)
    call = delayed(_transformed, pure=False, traverse=False)
    blocks = [
        da.from_delayed(call(model, number, part[0]), shape=(n, width), meta=meta)
        for number, (n, part) in enumerate(zip(rows, parts, strict=True))
    ]
    return da.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _transformed(estimator: Any, number: int, X: Any) -> Any:
    with in_partition(number):
        return estimator.transform(_texts(estimator, X))


def _texts(estimator: Any, X: Any) -> Any:
    from separatrix.distributed.statistics import texts_of

    return texts_of(X) if _takes_texts(estimator) else X


def _takes_texts(estimator: Any) -> bool:
    tags = estimator.__sklearn_tags__() if hasattr(estimator, "__sklearn_tags__") else None
    return bool(tags and tags.input_tags.string and not tags.input_tags.two_d_array)


def _from_array(estimator: Any, model: Any, X: Any, method: str) -> Any:
    if X.ndim > 1 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    width = _width(estimator, method)
    dtype = estimator.classes_.dtype if _is_labels(estimator, method) else np.dtype(np.float64)
    if width is None:
        return X.map_blocks(
            _answer, model, method, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype)
        )
    return X.map_blocks(
        _answer, model, method, chunks=(X.chunks[0], (width,)), meta=np.empty((0, 0), dtype)
    )


def _from_frame(estimator: Any, model: Any, X: Any, method: str) -> Any:
    import pandas as pd

    width = _width(estimator, method)
    dtype = estimator.classes_.dtype if _is_labels(estimator, method) else np.dtype(np.float64)
    if dtype.kind in "US":
        dtype = np.dtype(object)
    meta: Any
    if width is None:
        meta = pd.Series(np.empty(0, dtype), name=method)
    else:
        names = [str(label) for label in estimator.classes_]
        meta = pd.DataFrame({name: np.empty(0, dtype) for name in names})
    return X.map_partitions(_answer_frame, model, method, meta, meta=meta)


def _is_labels(estimator: Any, method: str) -> bool:
    return method == "predict" and hasattr(estimator, "classes_")


def _width(estimator: Any, method: str) -> int | None:
    """Columns of the answer; None for one answer per row."""
    if method not in _METHODS or method == "predict" or not hasattr(estimator, "classes_"):
        return None
    k = len(estimator.classes_)
    return None if method == "decision_function" and k == 2 else k


def _answer(X: Any, estimator: Any, method: str) -> Any:
    if X.shape[0] == 0:
        k = _width(estimator, method)
        return np.empty(0 if k is None else (0, k))
    return getattr(estimator, method)(aligned(sparse_rows(X)))


def _answer_frame(X: Any, estimator: Any, method: str, meta: Any) -> Any:
    import pandas as pd

    if len(X) == 0:
        return meta
    answers = getattr(estimator, method)(_texts(estimator, X))
    if meta.ndim == 1:
        return pd.Series(answers, index=X.index, name=meta.name, dtype=meta.dtype)
    return pd.DataFrame(answers, index=X.index, columns=meta.columns)


def _answer_list(X: Any, estimator: Any, method: str) -> list[Any]:
    items = list(X)
    return list(getattr(estimator, method)(items)) if items else []
