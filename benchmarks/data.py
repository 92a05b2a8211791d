"""Data sets of the benchmarks, vectorized once and kept under ``.bench_cache/``.

The raw files are looked for in ``$SEPARATRIX_DATA`` (by default ``../shared/data`` beside the
repository). Every matrix is float32; labels are integers ``0 … K-1`` in sorted order of the names.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".bench_cache"

Matrix = Any  # np.ndarray or scipy.sparse.csr_matrix; both support slicing and ``@``
IntArray = npt.NDArray[np.int64]


_FEW_CLASSES = 256  # of very many, when a contender is warmed up


class MissingDataError(FileNotFoundError):
    """A data set that the case needs is not on this machine."""


class Data(NamedTuple):
    """A fixed split: ``X_train`` (n, d), ``y_train`` (n,), ``X_test`` (m, d), ``y_test`` (m,)."""

    X_train: Matrix
    y_train: IntArray
    X_test: Matrix
    y_test: IntArray


def data_root() -> Path:
    """Return the folder that holds the raw data sets."""
    return Path(os.environ.get("SEPARATRIX_DATA", ROOT.parent / "shared" / "data"))


def load(name: str) -> Data:
    """Load data set `name`, from the cache if it was vectorized before.

    Parameters
    ----------
    name : str
        A data set of `_RECIPES`. In "imdb-text" and "20newsgroups-text" X is an array of documents;
        "sector.gz" and "conll2000.gz" are files: their only "row" is the path, for cases that
        measure reading.

    Returns
    -------
    Data
        Arrays in memory (nothing is mapped from disk).

    Raises
    ------
    MissingDataError
        If neither the cache nor the raw files are there.
    """
    label, make = _RECIPES[name]
    if label in _UNCACHED:
        return make()
    path = CACHE / f"{name}-{label}.npz"
    if not path.exists():
        _save(path, make())
    return _restore(path)


def is_sparse(X: Matrix) -> bool:
    """Return whether `X` is a scipy sparse matrix (without narrowing its type)."""
    return bool(sparse.issparse(X))


def recipe(name: str) -> str:
    """Return the name of the vectorization of a data set."""
    return _RECIPES[name][0]


def few_rows(data: Data, per_class: int = 8) -> Data:
    """Return a tiny subset with every class (of very many, some) to warm a contender up."""
    if data.y_train.dtype.kind == "f":  # a regression has no classes
        return Data(*(part[:64] for part in data))
    classes = np.unique(data.y_train)[:_FEW_CLASSES]
    rows = np.concatenate([np.flatnonzero(data.y_train == k)[:per_class] for k in classes])
    return Data(data.X_train[rows], data.y_train[rows], data.X_test[:8], data.y_test[:8])


def _raw(*parts: str) -> Path:
    path = data_root().joinpath(*parts)
    if not path.exists():
        raise MissingDataError(f"{path} is missing; set SEPARATRIX_DATA to the folder of data sets")
    return path


def read_texts(name: str, split: str) -> tuple[list[str], list[str]]:
    """Return the raw documents of a split, and their labels."""
    with gzip.open(_raw(name, f"{split}.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def _tfidf(name: str, **options: Any) -> Data:
    return _vectorized(name, "TfidfVectorizer", **options)


def _vectorized(name: str, vectorizer_class: str, **options: Any) -> Data:
    text = importlib.import_module("sklearn.feature_extraction.text")
    train, train_labels = read_texts(name, "train")
    test, test_labels = read_texts(name, "test")
    vectorizer = getattr(text, vectorizer_class)(dtype=np.float32, **options)
    X_train = sparse.csr_matrix(vectorizer.fit_transform(train))
    X_test = sparse.csr_matrix(vectorizer.transform(test))
    classes = np.unique(train_labels)
    return Data(
        X_train,
        np.searchsorted(classes, train_labels).astype(np.int64),
        X_test,
        np.searchsorted(classes, test_labels).astype(np.int64),
    )


def _documents(name: str) -> Data:
    train, train_labels = read_texts(name, "train")
    test, test_labels = read_texts(name, "test")
    classes = np.unique(train_labels)
    return Data(
        np.array(train, dtype=object),
        np.searchsorted(classes, train_labels).astype(np.int64),
        np.array(test, dtype=object),
        np.searchsorted(classes, test_labels).astype(np.int64),
    )


def _imdb() -> Data:
    return _tfidf("imdb", ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def _imdb_counts() -> Data:
    return _vectorized("imdb", "CountVectorizer", ngram_range=(1, 2), min_df=2)


def _newsgroups() -> Data:
    return _tfidf("20newsgroups", min_df=2, sublinear_tf=True)


def _sector() -> Data:
    datasets = importlib.import_module("sklearn.datasets")
    files = [str(_raw("sector", f"sector.{part}scale.gz")) for part in ("", "t.")]
    X_train, y_train, X_test, y_test = datasets.load_svmlight_files(files, dtype=np.float32)
    classes = np.unique(y_train)

    def narrow(X: Matrix) -> Matrix:
        arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return sparse.csr_matrix(arrays, shape=X.shape)

    codes = [np.searchsorted(classes, y).astype(np.int64) for y in (y_train, y_test)]
    return Data(narrow(X_train), codes[0], narrow(X_test), codes[1])


def _idx(path: Path, offset: int) -> npt.NDArray[np.uint8]:
    with gzip.open(path) as stream:
        return np.frombuffer(stream.read(), dtype=np.uint8, offset=offset)


def _fashion_mnist() -> Data:
    def split(stem: str) -> tuple[npt.NDArray[np.float32], IntArray]:
        pixels = _idx(_raw("fashion_mnist", f"{stem}-images-idx3-ubyte.gz"), offset=16)
        labels = _idx(_raw("fashion_mnist", f"{stem}-labels-idx1-ubyte.gz"), offset=8)
        X = pixels.reshape(-1, 28 * 28).astype(np.float32) / np.float32(255)
        return X, labels.astype(np.int64)

    return Data(*split("train"), *split("t10k"))


def _bundled(name: str, scale: float) -> Data:
    datasets = importlib.import_module("sklearn.datasets")
    selection = importlib.import_module("sklearn.model_selection")
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = (X / scale).astype(np.float32)
    X_train, X_test, y_train, y_test = selection.train_test_split(
        X, y.astype(np.int64), test_size=0.25, random_state=0, stratify=y
    )
    return Data(X_train, y_train, X_test, y_test)


def _iris() -> Data:
    return _bundled("iris", 1.0)


def _digits() -> Data:
    return _bundled("digits", 16.0)


def _regression() -> Data:
    """Generate 10^6 rows of 100 normal features in float64, as BayesianRidge computes in it."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((1_001_000, 100))
    # Real targets, where the other sets have labels.
    y: Any = X @ generator.standard_normal(100) + 5.0 + generator.standard_normal(len(X))
    return Data(X[:1_000_000], y[:1_000_000], X[1_000_000:], y[1_000_000:])


def _file(*parts: str) -> Data:
    """The path of a file in the place of rows."""
    path, label = np.array([str(_raw(*parts))], dtype=object), np.zeros(1, dtype=np.int64)
    return Data(path, label, path, label)


def _sector_file() -> Data:
    return _file("sector", "sector.scale.gz")


def _conll_file() -> Data:
    return _file("conll2000", "train.txt.gz")


def _conll_sentences() -> Data:
    """Numbers of the sentences; `benchmarks.sequences` holds what is in them."""
    _raw("conll2000", "train.txt.gz")
    train, test = np.arange(8936), np.arange(2012)
    return Data(train, np.zeros_like(train), test, np.zeros_like(test))


def _words(corpus: str) -> Data:
    words = importlib.import_module("benchmarks.words")
    data: Data = words.word_prediction(getattr(words, f"{corpus}_texts")()).data
    return data


def _table(name: str) -> Data:
    data: Data = importlib.import_module("benchmarks.tables").file_of(name)
    return data


#: Data sets that are as fast to make as to restore.
_UNCACHED = ("raw", "path", "generated")

_RECIPES: dict[str, tuple[str, Callable[[], Data]]] = {
    "imdb": ("tfidf12-sublinear", _imdb),
    "imdb_counts": ("counts12", _imdb_counts),
    "20newsgroups": ("tfidf1-sublinear", _newsgroups),
    "sector": ("svmlight", _sector),
    "words-20newsgroups": ("window4-seen4-most40", partial(_words, "newsgroups")),
    "words-treebank": ("window4-seen4-most40", partial(_words, "treebank")),
    "fashion_mnist": ("pixels", _fashion_mnist),
    "iris": ("raw", _iris),
    "digits": ("raw", _digits),
    "regression": ("generated", _regression),
    "sector.gz": ("path", _sector_file),
    "conll2000.gz": ("path", _conll_file),
    "table-numbers": ("path", partial(_table, "table-numbers")),
    "table-mixed": ("path", partial(_table, "table-mixed")),
    "conll2000-sentences": ("raw", _conll_sentences),
    "imdb-text": ("raw", partial(_documents, "imdb")),
    "20newsgroups-text": ("raw", partial(_documents, "20newsgroups")),
}


def _save(path: Path, data: Data) -> None:
    arrays: dict[str, Any] = {"y_train": data.y_train, "y_test": data.y_test}
    for part, X in (("train", data.X_train), ("test", data.X_test)):
        if is_sparse(X):
            arrays |= {
                f"{part}_data": X.data,
                f"{part}_indices": X.indices,
                f"{part}_indptr": X.indptr,
                f"{part}_shape": np.array(X.shape),
            }
        else:
            arrays[f"{part}_dense"] = X
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".npz", delete=False) as stream:
        np.savez(stream, **arrays)
    os.replace(stream.name, path)


def _restore(path: Path) -> Data:
    with np.load(path) as arrays:

        def matrix(part: str) -> Matrix:
            if f"{part}_dense" in arrays:
                return arrays[f"{part}_dense"]
            pieces = (arrays[f"{part}_{field}"] for field in ("data", "indices", "indptr"))
            return sparse.csr_matrix(tuple(pieces), shape=tuple(arrays[f"{part}_shape"]))

        return Data(matrix("train"), arrays["y_train"], matrix("test"), arrays["y_test"])
