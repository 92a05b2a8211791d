"""Ways to make a code for K classes: standard, random and designed ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import hadamard as hadamard_matrix
from sklearn.utils import check_random_state

from separatrix.errors import ParameterError
from separatrix.learners.reductions.bch import bch_words
from separatrix.learners.reductions.code_matrix import CodeMatrix

__all__ = [
    "CODES",
    "all_pairs",
    "bch",
    "confusion_code",
    "exhaustive",
    "hadamard",
    "make_code",
    "minimal",
    "one_vs_all",
    "random_dense",
    "random_sparse",
]

#: Classes beyond which the exhaustive code is too long.
_MOST_EXHAUSTIVE = 15
#: Random codes of which the best is taken (Allwein et al. 2000 take 10,000).
_DRAWS = 10_000
#: Multiply-adds that the draws may cost; at least a hundred codes are drawn whatever they cost.
_WORK = 1 << 30


def one_vs_all(n_classes: int) -> CodeMatrix:
    """Each class against all others: K columns.

    Examples
    --------
    >>> one_vs_all(3).values.tolist()
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    """
    _check_classes(n_classes)
    if n_classes == 2:
        return CodeMatrix(np.array([[-1], [1]]))
    return CodeMatrix(2 * np.eye(n_classes, dtype=np.int8) - 1)


def all_pairs(n_classes: int) -> CodeMatrix:
    """Each class (+1) against each later one (-1): K (K - 1) / 2 columns.

    Examples
    --------
    >>> all_pairs(3).values.tolist()
    [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    """
    _check_classes(n_classes)
    first, second = np.triu_indices(n_classes, 1)
    M = np.zeros((n_classes, len(first)), dtype=np.int8)
    columns = np.arange(len(first))
    M[first, columns], M[second, columns] = 1, -1
    return CodeMatrix(M)


def minimal(n_classes: int) -> CodeMatrix:
    """The class number in binary: the fewest columns that tell K classes apart.

    Examples
    --------
    >>> minimal(4).values.tolist()
    [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    """
    _check_classes(n_classes)
    length = (n_classes - 1).bit_length()
    places = np.arange(length - 1, -1, -1)
    return CodeMatrix(2 * (np.arange(n_classes)[:, None] >> places & 1) - 1)


def exhaustive(n_classes: int) -> CodeMatrix:
    """All 2^(K-1) - 1 ways to split the classes in two (Dietterich & Bakiri 1995).

    Examples
    --------
    >>> exhaustive(5)
    CodeMatrix(5 classes, 15 columns, minimum distance 8, corrects 3)
    """
    _check_classes(n_classes)
    if n_classes > _MOST_EXHAUSTIVE:
        raise ParameterError(
            f"the exhaustive code of {n_classes} classes has {2 ** (n_classes - 1) - 1} columns; "
            f"it is for at most {_MOST_EXHAUSTIVE}: take code='random_dense' or 'bch'"
        )
    columns = np.arange(1, 2 ** (n_classes - 1))
    bits = columns[None, :] >> np.arange(n_classes)[:, None] & 1
    return CodeMatrix(2 * bits[::-1] - 1)


def random_dense(
    n_classes: int, n_columns: int | None = None, random_state: Any = None
) -> CodeMatrix:
    """The best of many codes of random +1 and -1; ceil(10 log2 K) columns (Allwein et al. 2000).

    Columns that are no problem (one sign only) are drawn again; of the codes, up to 10,000, the
    one of largest minimum distance is taken.
    """
    length = n_columns or int(np.ceil(10 * np.log2(max(n_classes, 2))))
    return _best_of_many(n_classes, length, np.array([-1, 1], dtype=np.int8), random_state)


def random_sparse(
    n_classes: int, n_columns: int | None = None, random_state: Any = None
) -> CodeMatrix:
    """The best of many random codes, half of the entries 0; ceil(15 log2 K) columns.

    Drawn and chosen as those of `random_dense`.
    """
    length = n_columns or int(np.ceil(15 * np.log2(max(n_classes, 2))))
    return _best_of_many(n_classes, length, np.array([0, 0, -1, 1], dtype=np.int8), random_state)


def _best_of_many(
    n_classes: int, length: int, entries: npt.NDArray[np.int8], random_state: Any
) -> CodeMatrix:
    _check_classes(n_classes)
    if len(np.unique(entries)) ** length < n_classes:
        raise ParameterError(f"{length} columns cannot tell {n_classes} classes apart")
    generator = check_random_state(random_state)
    n_draws = max(100, min(_DRAWS, _WORK // (n_classes * n_classes * length)))
    batch = max(1, min(n_draws, (1 << 22) // (n_classes * (length + n_classes))))
    best, best_distance = None, -1.0
    first, second = np.triu_indices(n_classes, 1)
    for _ in range(0, n_draws, batch):
        codes = _draw(generator, entries, batch * length, n_classes)
        codes = np.ascontiguousarray(codes.reshape(batch, length, n_classes).swapaxes(1, 2))
        signs = codes.astype(np.float32)
        products = (signs @ signs.swapaxes(1, 2))[:, first, second]
        distances = ((length - products) / 2).min(axis=1)
        for index in np.argsort(-distances, kind="stable"):
            if distances[index] <= best_distance:
                break
            if len(np.unique(codes[index], axis=0)) == n_classes:
                best, best_distance = codes[index], float(distances[index])
                break
    if best is None:
        raise ParameterError(
            f"none of {n_draws} random codes of {length} columns tells {n_classes} classes apart; "
            "ask for more columns"
        )
    return CodeMatrix(best)


def _draw(
    generator: Any, entries: npt.NDArray[np.int8], n_columns: int, n_classes: int
) -> npt.NDArray[np.int8]:
    """Random columns of shape (n_columns, K), each with a +1 and a -1."""
    columns = np.zeros((n_columns, n_classes), dtype=np.int8)
    left = np.arange(n_columns)
    while len(left):
        columns[left] = entries[generator.randint(0, len(entries), (len(left), n_classes))]
        drawn = columns[left]
        left = left[~((drawn > 0).any(axis=1) & (drawn < 0).any(axis=1))]
    return columns


def hadamard(n_classes: int) -> CodeMatrix:
    """Rows of a Hadamard matrix of order N = 2^m >= K without its first column: distance N / 2.

    Examples
    --------
    >>> hadamard(8)
    CodeMatrix(8 classes, 7 columns, minimum distance 4, corrects 1)
    """
    _check_classes(n_classes)
    order = 1 << (n_classes - 1).bit_length()
    return CodeMatrix(hadamard_matrix(order, dtype=np.int8)[:n_classes, 1:])


def bch(n_classes: int, n_columns: int | None = None, random_state: Any = None) -> CodeMatrix:
    """Words of a primitive binary BCH code, as Dietterich & Bakiri (1995) used them.

    The length is the 2^m - 1 that is next to `n_columns` from above, ceil(10 log2 K) where that is
    not given; of the codes of this length the one of largest designed distance with enough words.
    Among its words, K are drawn so that no column is constant.

    Examples
    --------
    >>> bch(26, 63, random_state=0)
    CodeMatrix(26 classes, 63 columns, minimum distance 31, corrects 15)
    """
    _check_classes(n_classes)
    wanted = n_columns or int(np.ceil(10 * np.log2(n_classes)))
    generator = check_random_state(random_state)
    words = bch_words(wanted, n_classes)
    best = np.zeros((n_classes, 0), dtype=np.int8)
    for _ in range(200):
        chosen = words[np.sort(generator.choice(len(words), n_classes, replace=False))]
        M = (2 * chosen.astype(np.int8) - 1).astype(np.int8)
        varied = (M[0] != M).any(axis=0)
        M = np.ascontiguousarray(M[:, varied])
        if M.shape[1] > best.shape[1]:
            best = M
        if varied.all():
            break
    return CodeMatrix(best)


def confusion_code(confusion: Any, n_columns: int | None = None) -> CodeMatrix:
    """A code learned from the confusion of classes on held-out data.

    Half of the columns are easy: they split the graph of confusions along its smoothest
    directions, so that classes that are taken for each other stay on one side (spectral output
    codes, Zhang, Liang & Shi 2009). The others set the most confused pairs against each other
    (compare ECOC-ONE, Pujol, Radeva & Vitria 2006), and a column is added for every two classes
    that are not yet told apart.

    Parameters
    ----------
    confusion : array-like of shape (K, K)
        Rows of held-out data of class i (row) that were taken for class j (column).
    n_columns : int, optional
        Length to aim at, ceil(10 log2 K) by default.

    Examples
    --------
    >>> code = confusion_code([[9, 3, 0, 0], [2, 9, 0, 1], [0, 0, 9, 4], [0, 0, 5, 9]], 3)
    >>> code.values[:, 0].tolist()  # the pairs that are confused stay together
    [-1, -1, 1, 1]
    """
    counts = np.asarray(confusion, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ParameterError(f"confusion must be a square matrix, got shape {counts.shape}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ParameterError("confusion must hold counts: finite and not negative")
    k = len(counts)
    _check_classes(k)
    if k == 2:
        return one_vs_all(2)
    wanted = n_columns or int(np.ceil(10 * np.log2(k)))
    rates = (counts + 1e-3) / (counts + 1e-3).sum(axis=1, keepdims=True)
    similar = rates + rates.T
    np.fill_diagonal(similar, 0)
    columns = _smooth_splits(similar, (wanted + 1) // 2)
    first, second = np.triu_indices(k, 1)
    for pair in np.argsort(-similar[first, second], kind="stable"):
        told_apart = any(c[first[pair]] * c[second[pair]] < 0 for c in columns)
        if told_apart and len(columns) >= wanted:
            continue
        column = np.zeros(k, dtype=np.int8)
        column[first[pair]], column[second[pair]] = 1, -1
        columns.append(column)
    return CodeMatrix(np.column_stack(columns))


def _smooth_splits(similar: npt.NDArray[np.float64], most: int) -> list[npt.NDArray[np.int8]]:
    """Signs of the smoothest eigenvectors of the graph's Laplacian around their medians."""
    degree = similar.sum(axis=1)
    scale = 1 / np.sqrt(degree)
    laplacian = np.eye(len(similar)) - scale[:, None] * similar * scale
    _, vectors = np.linalg.eigh(laplacian)
    columns: list[npt.NDArray[np.int8]] = []
    for vector in (scale[:, None] * vectors[:, 1:]).T:
        column = np.where(vector > np.median(vector), 1, -1).astype(np.int8)
        # The sign of an eigenvector means nothing: the first class is on the side of -1.
        column *= -column[0]
        if abs(int(column.sum())) < len(column) and not any((column == c).all() for c in columns):
            columns.append(column)
        if len(columns) == most:
            break
    return columns


#: Codes by name; those of `_SIZED` take a length and a seed.
CODES: dict[str, Callable[..., CodeMatrix]] = {
    "one_vs_all": one_vs_all,
    "all_pairs": all_pairs,
    "minimal": minimal,
    "exhaustive": exhaustive,
    "random_dense": random_dense,
    "random_sparse": random_sparse,
    "hadamard": hadamard,
    "bch": bch,
}
_SIZED = ("random_dense", "random_sparse", "bch")


def make_code(
    name: str, n_classes: int, n_columns: int | None = None, random_state: Any = None
) -> CodeMatrix:
    """The code of that name for K classes.

    Examples
    --------
    >>> make_code("hadamard", 4).n_columns
    3
    """
    if name not in CODES:
        raise ParameterError(f"code must be one of {(*CODES, 'confusion')}, got {name!r}")
    if name in _SIZED:
        if isinstance(random_state, int | np.integer):
            return _drawn(name, n_classes, n_columns, int(random_state))
        return CODES[name](n_classes, n_columns, random_state)
    if n_columns is not None:
        raise ParameterError(f"code={name!r} has a length of its own; n_columns must be None")
    return CODES[name](n_classes)


@lru_cache(maxsize=64)
def _drawn(name: str, n_classes: int, n_columns: int | None, seed: int) -> CodeMatrix:
    """A drawn code; a search over other settings asks for the same one again and again."""
    return CODES[name](n_classes, n_columns, seed)


def _check_classes(n_classes: int) -> None:
    if n_classes < 2:
        raise ParameterError(f"a code needs two classes or more, got {n_classes}")
