"""Brown clusters: classes of words from raw text."""

from __future__ import annotations

from collections.abc import Iterable

from separatrix import _core
from separatrix.data import TokenColumn
from separatrix.errors import ParameterError

__all__ = ["brown_clusters"]


def brown_clusters(
    sequences: Iterable[Iterable[str]], n_classes: int = 500, *, min_count: int = 2
) -> dict[str, str]:
    """Classes of words that have the same neighbors, by Brown et al. (1992).

    Words begin as classes of their own; the two whose union loses least of the mutual information
    between neighbors are merged, at most ``n_classes + 1`` at a time (Liang 2005). What is left is
    merged to a tree, and the path to its class, a text of zeros and ones, describes a word: the
    shorter a common beginning, the rougher the class.

    Parameters
    ----------
    sequences : iterable of n sequences of words
        Raw text, such as ``map(str.split, file)``; the last word of a sequence and the first of the
        next are neighbors.
    n_classes : int, default=500
        Number of classes, at most 8192; its square decides over the time and memory.
    min_count : int, default=2
        Words that occur less often have no class.

    Returns
    -------
    dict of str to str
        The path of every word, by path and then from frequent to rare words; for
        ``Templates(dictionaries={"brown": ...})``.

    Examples
    --------
    >>> from separatrix.features.templates import brown_clusters
    >>> text = ["the cat sleeps", "the dog sleeps", "the cat eats", "the dog eats"] * 3
    >>> paths = brown_clusters(map(str.split, text), 3)
    >>> paths["cat"] == paths["dog"], paths["sleeps"] == paths["eats"], len(set(paths.values()))
    (True, True, 3)
    """
    for name, value in (("n_classes", n_classes), ("min_count", min_count)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ParameterError(f"{name} must be a number from 1 on, got {value!r}")
    words = TokenColumn.of(sequences)
    classes, counts, n, merges = _core.brown_clusters(words.codes, n_classes, min_count)
    paths = _paths(n, merges)
    named = words.vocabulary.array.tolist()
    known = [
        (paths[number], -count, at)
        for at, (number, count) in enumerate(zip(classes.tolist(), counts.tolist(), strict=True))
        if number >= 0
    ]
    return {named[at]: path for path, _, at in sorted(known)}


def _paths(n_classes: int, merges: list[tuple[int, int]]) -> list[str]:
    """The way from the root to every class."""
    paths = [""] * (n_classes + len(merges))
    for at in range(len(merges) - 1, -1, -1):
        for bit, node in zip("01", merges[at], strict=True):
            paths[node] = paths[n_classes + at] + bit
    # A class alone is all there is of a tree.
    return paths[:n_classes] if n_classes > 1 else ["0"] * n_classes
