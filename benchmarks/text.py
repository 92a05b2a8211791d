"""Adapters of the text vectorizers; what they return is checked against scikit-learn's matrices."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.data import CACHE, Data
from benchmarks.harness import write_atomically
from benchmarks.peers import load_class
from benchmarks.spec import Outcome


def prepare(data: Data) -> tuple[list[str], list[str]]:
    """Return the documents as lists."""
    return data.X_train.tolist(), data.X_test.tolist()


def vectorize(prepared: Any, *, cls: str, **options: Any) -> list[Any]:
    """Vectorize train, and test too unless terms are hashed."""
    train, test = prepared
    vectorizer = load_class(cls)(**options)
    matrices = [vectorizer.fit_transform(train)]
    if "n_features" not in options:
        matrices.append(vectorizer.transform(test))
    return matrices


def read_vectorized(
    prepared: Any, matrices: list[Any], *, name: str, peer: str, options: dict[str, Any]
) -> Outcome:
    """Compare the matrices with what scikit-learn made of the same documents.

    Raises
    ------
    ValueError
        If shape, structure or values differ.
    """
    key = f"{name} {peer} {sorted(options.items())}"
    expected = _expected(key, lambda: _reference(prepared, peer, options))
    found = [_digest(matrix) for matrix in matrices]
    for ours, theirs in zip(found, expected, strict=True):
        structure = ours["shape"] == theirs["shape"] and ours["structure"] == theirs["structure"]
        if not structure or not np.allclose(ours["moments"], theirs["moments"], rtol=1e-6, atol=0):
            raise ValueError(f"the matrix differs from scikit-learn's: {ours} against {theirs}")
    return Outcome()


def _reference(prepared: Any, peer: str, options: dict[str, Any]) -> list[Any]:
    cls = f"sklearn.feature_extraction.text:{peer}"
    return vectorize(prepared, cls=cls, dtype="float32", **options)


def _expected(key: str, make: Any) -> list[dict[str, Any]]:
    """Return the digests kept for `key`, made once."""
    path = CACHE / f"text-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        write_atomically(path, json.dumps([_digest(matrix) for matrix in make()]))
    digests: list[dict[str, Any]] = json.loads(path.read_text())
    return digests


def _digest(matrix: Any) -> dict[str, Any]:
    """Return a matrix in short: shape, a hash of its structure, and sums of its values."""
    X = sparse.csr_matrix(matrix)
    X.sort_indices()
    structure = hashlib.sha256()
    structure.update(X.indptr.astype(np.int64).tobytes())
    structure.update(X.indices.astype(np.int64).tobytes())
    values = X.data.astype(np.float64)
    places = np.arange(len(values)) % 997 + 1.0
    moments = [
        values.sum(),
        np.abs(values).sum(),
        (values**2).sum(),
        (np.abs(values) * places).sum(),
    ]
    return {
        "shape": list(X.shape),
        "structure": structure.hexdigest(),
        "moments": [float(m) for m in moments],
    }
