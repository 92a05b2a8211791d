"""Dictionaries for templates: files of entries and classes of words, and templates for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from separatrix.errors import FormatError
from separatrix.features.templates.maps import quoted

__all__ = ["dictionary_lines", "read_clusters", "read_dictionary"]

#: Lengths of the paths in the tree of clusters that are attributes of a token, beside the whole
#: path (Turian, Ratinov & Bengio 2010).
_PATHS = (4, 6, 10, 20)


def read_dictionary(path: str | os.PathLike[str]) -> list[str]:
    """Entries of a file, one a line; empty lines are passed over."""
    entries = [line.strip() for line in _lines(path) if line.strip()]
    if not entries:
        raise FormatError("there are no entries, one a line", None, str(path))
    return entries


def read_clusters(path: str | os.PathLike[str]) -> dict[str, str]:
    """Classes of words: lines of a path or class, a tab and the word; further columns may follow.

    This is what `separatrix clusters` writes, and Liang's program ``wcluster``.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(_lines(path), start=1):
        name, _, word = line.partition("\t")
        word = word.partition("\t")[0]
        if name and word:
            found[word] = name
        elif line.strip():
            message = f"expected a class, a tab and a word, got {line!r}"
            raise FormatError(message, number, str(path))
    if not found:
        raise FormatError("there are no classes of words", None, str(path))
    return found


def _lines(path: str | os.PathLike[str]) -> list[str]:
    return Path(path).read_text(encoding="utf-8-sig").split("\n")


def dictionary_lines(dictionaries: Mapping[str, Any], word: str = "word") -> str:
    """Templates that read the dictionaries: entries and classes of the token and its neighbors.

    Dictionaries without a capital are looked up in lower case.

    Parameters
    ----------
    dictionaries : dict
        Lists of entries and dicts of classes, by name.
    word : str
        Name of the column of the words.

    Examples
    --------
    >>> print(dictionary_lines({"city": ["New York"], "brown": {"cat": "01"}}), end="")
    listed(word, city)[-1..1]
    cluster(lower(word), brown)[-1..1]
    prefix(cluster(lower(word), brown), 4)[-1..1]
    prefix(cluster(lower(word), brown), 6)[-1..1]
    prefix(cluster(lower(word), brown), 10)[-1..1]
    prefix(cluster(lower(word), brown), 20)[-1..1]
    """
    lines = []
    for name, entries in dictionaries.items():
        written = all(str(entry) == str(entry).lower() for entry in entries)
        value = f"lower({word})" if written else word
        argument = name if name.isidentifier() else quoted(name)
        if not isinstance(entries, Mapping):
            lines.append(f"listed({value}, {argument})[-1..1]\n")
            continue
        value = f"cluster({value}, {argument})"
        lines.append(f"{value}[-1..1]\n")
        lines += [f"prefix({value}, {n})[-1..1]\n" for n in _PATHS]
    return "".join(lines)
