"""The problems of ``python -m benchmarks shapes``: data sets of many shapes, and generated ones.

A problem is (data, loss, C, penalty, dtype). Real data sets are read as they are, labels become
0 … K-1, words in tables become indicators. Generated ones follow a `Recipe`; those of the second
half are drawn from a seed.
"""

from __future__ import annotations

import csv
import gzip
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from benchmarks.data import IntArray, Matrix, _raw, load

#: Losses of two classes; the others take any number.
BINARY = ("hinge", "squared_hinge", "logistic")


class Rows(NamedTuple):
    """Training rows."""

    X: Matrix
    y: IntArray


@dataclass(frozen=True)
class Recipe:
    """How to generate rows.

    Attributes
    ----------
    n, d, k : int
        Rows, columns, classes.
    density : float
        Share of cells that are not zero; below one the data are sparse.
    correlation : float
        Share of a column's variance that comes from a few common factors.
    noise : float
        Standard deviation of noise on the scores that labels follow, against that of the scores.
    spread : float
        Columns are scaled by powers of ten between 10^-spread and 10^spread.
    offset : float
        Means of the columns, in units of their standard deviation.
    rare : float
        How much rarer the last class is than the first, as a power of ten.
    seed : int
        Seed.
    """

    n: int
    d: int
    k: int = 2
    density: float = 1.0
    correlation: float = 0.0
    noise: float = 0.3
    spread: float = 0.0
    offset: float = 0.0
    rare: float = 0.0
    seed: int = 0

    def rows(self) -> Rows:
        """Generate."""
        random = np.random.default_rng(self.seed)
        X: Any
        if self.density < 1:
            per_row = random.poisson(self.density * self.d, self.n).clip(1, self.d)
            # Columns as frequent as words: rank r about r^-1.
            weights = 1.0 / np.arange(1, self.d + 1)
            columns = random.choice(self.d, int(per_row.sum()), p=weights / weights.sum())
            row = np.repeat(np.arange(self.n), per_row)
            X = sparse.csr_matrix(
                (random.lognormal(0, 0.5, len(row)), (row, columns)), shape=(self.n, self.d)
            )
            X.sum_duplicates()
        else:
            X = random.standard_normal((self.n, self.d))
            if self.correlation > 0:
                factors = max(1, self.d // 10)
                common = random.standard_normal((self.n, factors)) @ random.standard_normal(
                    (factors, self.d)
                )
                X *= np.sqrt(1 - self.correlation)
                X += np.sqrt(self.correlation / factors) * common
        w = random.standard_normal((self.d, 1 if self.k == 2 else self.k))
        scores = np.asarray(X @ w)
        scores += self.noise * scores.std() * random.standard_normal(scores.shape)
        scores = scores - self.rare * np.log(10) * np.linspace(0, 1, scores.shape[1]) * scores.std()
        if self.k == 2:
            cut = np.quantile(scores, 1 - 0.5 * 10**-self.rare)
            y = (scores[:, 0] > cut).astype(np.int64)
        else:
            y = scores.argmax(axis=1).astype(np.int64)
        y[: self.k] = np.arange(self.k)
        if self.offset:
            X = X + self.offset
        if self.spread:
            scale = 10 ** random.uniform(-self.spread, self.spread, self.d)
            X = X @ sparse.diags(scale) if self.density < 1 else X * scale
        return Rows(X.tocsr() if self.density < 1 else X, y)


@dataclass(frozen=True)
class Problem:
    """One line of the suite."""

    data: str | Recipe
    loss: str
    C: float = 1.0
    dtype: str = "float64"
    penalty: str = "l2"
    balanced: bool = False

    @property
    def name(self) -> str:
        """In a few words."""
        if isinstance(self.data, Recipe):
            r = self.data
            words = f"{r.n}x{r.d}" + (f"x{r.k}" if r.k > 2 else "")
            for field, mark in (
                ("density", "density"), ("correlation", "corr"), ("spread", "10^"),
                ("offset", "+"), ("rare", "rare"),
            ):  # fmt: skip
                value = getattr(r, field)
                if value != Recipe.__dataclass_fields__[field].default:
                    words += f" {mark}{value:.2g}"
        else:
            words = self.data
        return words

    @property
    def setting(self) -> str:
        """Loss and what differs from the defaults."""
        words = self.loss
        if self.penalty != "l2":
            words += f" {self.penalty}"
        if self.C != 1:
            words += f" C={self.C:g}"
        if self.dtype != "float64":
            words += " f32"
        if self.balanced:
            words += " balanced"
        return words

    def rows(self) -> Rows:
        """The training rows in the dtype of the problem."""
        found = self.data.rows() if isinstance(self.data, Recipe) else _named(self.data)
        X, y = found
        if self.loss in BINARY and y.max() > 1:
            # The most frequent class against the others.
            y = (y == np.bincount(y).argmax()).astype(np.int64)
        return Rows(X.astype(self.dtype), y)


# -- data sets ---------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _named(name: str) -> Rows:
    """Rows of a data set; `name` may end in " scaled" (columns of unit variance)."""
    base, *how = name.split()
    X, y = _READERS[base]()
    if how == ["scaled"]:
        X = np.asarray(X, dtype=np.float64)
        deviation = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    return Rows(X, _codes(y))


def _codes(y: npt.NDArray[Any]) -> IntArray:
    return np.unique(y, return_inverse=True)[1].astype(np.int64)


def _npz(name: str) -> tuple[Matrix, npt.NDArray[Any]]:
    with np.load(_raw("shapes", f"{name}.npz")) as arrays:
        return arrays["X"].astype(np.float64), arrays["y"]


def _svm(*parts: str) -> tuple[Matrix, npt.NDArray[Any]]:
    datasets = importlib.import_module("sklearn.datasets")
    X, y = datasets.load_svmlight_file(str(_raw(*parts)))
    return sparse.csr_matrix(X), y


def _bundled(name: str) -> tuple[Matrix, npt.NDArray[Any]]:
    datasets = importlib.import_module("sklearn.datasets")
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return np.ascontiguousarray(X, dtype=np.float64), y


def _table(name: str) -> tuple[Matrix, npt.NDArray[Any]]:
    """A table of the UCI repository: numbers as they are, words as indicators."""
    with gzip.open(_raw("uci", f"{name}.csv.gz"), "rt", encoding="utf-8", newline="") as lines:
        header, *rows = list(csv.reader(lines))
    target = header.index("class" if "class" in header else "ID-type")
    columns = []
    for j in range(len(header)):
        if j == target:
            continue
        cells = [row[j] for row in rows]
        try:
            numbers = np.array([np.nan if c in ("?", "") else float(c) for c in cells])
            mean = np.nanmean(numbers) if not np.isnan(numbers).all() else 0.0
            columns.append(np.where(np.isnan(numbers), mean, numbers)[:, None])
        except ValueError:
            values, codes = np.unique(cells, return_inverse=True)
            columns.append(np.eye(len(values))[codes])
    labels = np.array([row[target] for row in rows])
    if name == "abalone":
        labels = np.array([min(int(label), 20) // 3 for label in labels])
    if name == "spectrometer":
        labels = np.array([int(float(label)) // 10 for label in labels])
    return np.ascontiguousarray(np.hstack(columns)), labels


def _documents(name: str) -> tuple[list[str], list[str]]:
    if name == "banking77":
        with gzip.open(_raw(name, "train.csv.gz"), "rt", encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines))[1:]
        return [row[0] for row in rows], [row[1] for row in rows]
    if name == "trec_qc":
        with gzip.open(_raw(name, "train.txt.gz"), "rt", encoding="latin-1") as lines:
            pairs = [line.strip().split(" ", 1) for line in lines]
        return [text for _, text in pairs], [label.split(":")[0] for label, _ in pairs]
    with gzip.open(_raw(name, "SMSSpamCollection.gz"), "rt", encoding="utf-8") as lines:
        cells = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [text for _, text in cells], [label for label, _ in cells]


def _text(name: str, **options: Any) -> tuple[Matrix, npt.NDArray[Any]]:
    text = importlib.import_module("sklearn.feature_extraction.text")
    documents, labels = _documents(name)
    X = text.TfidfVectorizer(sublinear_tf=True, **options).fit_transform(documents)
    return sparse.csr_matrix(X), np.array(labels)


def _loaded(name: str) -> tuple[Matrix, npt.NDArray[Any]]:
    data = load(name)
    return data.X_train, data.y_train


_READERS: dict[str, Any] = {
    **{name: partial(_npz, name) for name in ("duke", "madelon", "skin", "usps")},
    "w8a": partial(_svm, "shapes", "w8a.svm.gz"),
    "a9a": partial(_svm, "a9a", "a9a.gz"),
    **{name: partial(_bundled, name) for name in ("iris", "wine", "digits", "breast_cancer")},
    **{
        name: partial(_table, name)
        for name in (
            "abalone", "car", "glass", "letter", "page-blocks", "soybean", "spambase",
            "spectrometer", "vowel", "yeast",
        )
    },
    "satimage": partial(_table, "satimage.train"),
    "optdigits": partial(_table, "optdigits.train"),
    "banking77": partial(_text, "banking77"),
    "banking77-12": partial(_text, "banking77", ngram_range=(1, 2)),
    "trec": partial(_text, "trec_qc", ngram_range=(1, 2)),
    "trec-char": partial(_text, "trec_qc", analyzer="char_wb", ngram_range=(2, 4)),
    "sms": partial(_text, "sms_spam", ngram_range=(1, 2)),
    "sms-char": partial(_text, "sms_spam", analyzer="char_wb", ngram_range=(2, 5)),
    "imdb": partial(_loaded, "imdb"),
}  # fmt: skip

# -- the table ---------------------------------------------------------------------------------


def _lines(data: str | Recipe, *losses: str, **options: Any) -> Iterator[Problem]:
    for loss in losses:
        yield Problem(data, loss, **options)


#: The first half: what the work is steered by.
PROBLEMS: tuple[Problem, ...] = (
    *_lines("duke", "hinge", "squared_hinge", "logistic"),
    *_lines("skin", "hinge", "squared_hinge", "logistic"),
    *_lines("skin", "hinge", C=1e-4),
    *_lines("w8a", "hinge", "squared_hinge", "logistic"),
    *_lines("madelon", "hinge", "logistic"),
    *_lines("madelon", "logistic", C=100.0),
    *_lines("usps", "crammer_singer", "softmax"),
    *_lines("a9a", "hinge", "logistic"),
    *_lines("a9a", "logistic", balanced=True),
    *_lines("iris", "crammer_singer", "softmax"),
    *_lines("iris", "softmax", C=1e4),
    *_lines("wine scaled", "crammer_singer", "softmax"),
    *_lines("breast_cancer", "logistic"),
    *_lines("breast_cancer scaled", "hinge", "squared_hinge", "logistic"),
    *_lines("breast_cancer scaled", "logistic", C=1e-4),
    *_lines("breast_cancer scaled", "hinge", C=1e3),
    *_lines("digits", "crammer_singer", "softmax"),
    *_lines("optdigits", "softmax"),
    *_lines("spambase scaled", "hinge", "logistic"),
    *_lines("page-blocks scaled", "softmax", "crammer_singer"),
    *_lines("satimage scaled", "softmax", "crammer_singer"),
    *_lines("letter scaled", "softmax"),
    *_lines("vowel", "softmax", "crammer_singer"),
    *_lines("yeast", "softmax"),
    *_lines("abalone", "softmax"),
    *_lines("glass scaled", "softmax"),
    *_lines("car", "softmax"),
    *_lines("soybean", "softmax"),
    *_lines("spectrometer scaled", "softmax"),
    *_lines("sms", "hinge", "squared_hinge", "logistic"),
    *_lines("sms-char", "logistic"),
    *_lines("trec", "crammer_singer", "softmax"),
    *_lines("trec-char", "softmax"),
    *_lines("banking77", "crammer_singer", "softmax"),
    *_lines(Recipe(1000, 24), "hinge", "logistic"),
    *_lines(Recipe(60_000, 8), "hinge", "logistic"),
    *_lines(Recipe(60_000, 8, seed=1), "logistic", dtype="float32"),
    *_lines(Recipe(200_000, 40, correlation=0.5), "logistic", "hinge"),
    *_lines(Recipe(100, 20_000), "logistic", "hinge"),
    *_lines(Recipe(30, 5), "logistic", "hinge"),
    *_lines(Recipe(20_000, 200, correlation=0.9, rare=1.0), "logistic", "squared_hinge"),
    *_lines(Recipe(20_000, 50_000, density=0.001), "logistic", "hinge"),
    *_lines(Recipe(3_000, 60, k=20), "softmax", "crammer_singer"),
    *_lines(Recipe(5_000, 30, spread=2.0), "logistic"),
    *_lines("duke", "logistic", penalty="l1"),
    *_lines("madelon", "logistic", penalty="l1"),
    *_lines("a9a", "logistic", penalty="l1"),
    *_lines("sms", "logistic", penalty="l1", C=10.0),
)


def generated(seed: int, count: int = 30) -> tuple[Problem, ...]:
    """The second half: problems drawn from `seed`."""
    random = np.random.default_rng(seed)
    found: list[Problem] = []
    while len(found) < count:
        n = int(10 ** random.uniform(np.log10(30), 5.5))
        sparse_rows = random.random() < 0.35
        most = 5.0 if sparse_rows else min(4.0, 7.0 - np.log10(n))
        d = int(10 ** random.uniform(np.log10(3), max(most, 0.7)))
        k = 2 if random.random() < 0.6 else int(10 ** random.uniform(np.log10(3), 1.7))
        if k > 2 and n * d * k > 5e7:
            continue
        density = min(0.5, 10 ** random.uniform(-0.3, 2) / d) if sparse_rows else 1.0
        recipe = Recipe(
            n=max(n, 4 * k),
            d=d,
            k=k,
            density=density if density < 0.5 else 1.0,
            correlation=float(random.choice([0.0, 0.0, 0.5, 0.95])),
            noise=float(10 ** random.uniform(-1, 0.7)),
            spread=float(random.choice([0.0, 0.0, 0.0, 1.0, 2.0])),
            offset=float(random.choice([0.0, 0.0, 2.0])) if not sparse_rows else 0.0,
            rare=float(random.choice([0.0, 0.0, 1.0])),
            seed=int(random.integers(1 << 30)),
        )
        losses = BINARY if k == 2 else ("softmax", "crammer_singer")
        found.append(
            Problem(
                recipe,
                str(random.choice(losses)),
                C=float(random.choice([1e-4, 0.01, 1.0, 1.0, 1.0, 1.0, 100.0])),
                dtype=str(random.choice(["float64", "float64", "float32"])),
            )
        )
    return tuple(found)
