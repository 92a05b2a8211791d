"""What templates read, as columns for the kernel; strings are looked at once per distinct word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.sequences.containers import TokenSequences, Vocabulary
from separatrix.errors import ParameterError
from separatrix.features.templates.columns import find_column
from separatrix.features.templates.compiled import CompiledTemplates
from separatrix.features.templates.maps import CLASSES, ENTRIES, MAPS
from separatrix.features.templates.spec import TokenValue

__all__ = ["Dictionaries", "check_dictionaries", "kernel_columns"]

#: Name -> entries, each a tuple of words; or classes of words.
Dictionaries = dict[str, list[tuple[str, ...]] | dict[str, str]]
_Codes = npt.NDArray[np.int32]
_Column = tuple[_Codes, bytes, npt.NDArray[np.int64], _Codes]


def check_dictionaries(dictionaries: Any) -> Dictionaries:
    """Dictionaries with their entries as tuples of words; classes of words stay as they are.

    Examples
    --------
    >>> check_dictionaries({"city": ["Oslo", "New York"], "brown": {"cat": "0110"}})
    {'city': [('Oslo',), ('New', 'York')], 'brown': {'cat': '0110'}}
    """
    if dictionaries is None:
        return {}
    if not isinstance(dictionaries, Mapping):
        raise ParameterError(f"dictionaries must map names to entries, got {dictionaries!r}")
    checked: Dictionaries = {}
    for name, entries in dictionaries.items():
        if isinstance(entries, Mapping):
            if not all(isinstance(part, str) for pair in entries.items() for part in pair):
                raise ParameterError(f"dictionary {name!r} must map words to classes, both str")
            checked[str(name)] = dict(entries)
            continue
        if isinstance(entries, str) or not isinstance(entries, Iterable):
            raise ParameterError(
                f"dictionary {name!r} must be a list of entries or map words to classes, got "
                f"{entries!r}"
            )
        checked[str(name)] = [_entry(name, entry) for entry in entries]
    return checked


def _entry(name: Any, entry: Any) -> tuple[str, ...]:
    words = entry.split() if isinstance(entry, str) else entry
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"an entry of dictionary {name!r} is {entry!r}; expected words")
    if not words:
        raise ParameterError(f"an entry of dictionary {name!r} is empty")
    return tuple(words)


def kernel_columns(
    compiled: CompiledTemplates, sequences: TokenSequences, dictionaries: Dictionaries
) -> list[_Column]:
    """The columns that the kernel reads, one per value."""
    return [_column(value, compiled, sequences, dictionaries) for value in compiled.values]


def _column(
    value: TokenValue,
    compiled: CompiledTemplates,
    sequences: TokenSequences,
    dictionaries: Dictionaries,
) -> _Column:
    entries, clusters = _needed(value, dictionaries)
    if entries is not None:
        base = TokenValue(value.column, value.maps[:-1])
        codes, words = _mapped(base, sequences, clusters)
        codes = _matches(codes, list(words), sequences.offsets, entries)
        words = Vocabulary.of(["B", "I"])
    else:
        codes, words = _mapped(value, sequences, clusters)
    pads: list[str | None] = list(compiled.pads)
    if compiled.marks == "_x":  # Wapiti applies its commands to the marks as well
        for map_ in value.maps:
            pads = map_.apply(pads)
    return (codes, *_with_pads(words, pads))


def _needed(
    value: TokenValue, dictionaries: Dictionaries
) -> tuple[list[tuple[str, ...]] | None, dict[str, dict[str, str]]]:
    """The entries that a value is listed in, if it is, and the classes that it looks up."""
    entries, clusters = None, {}
    for map_ in value.maps:
        kind, name = MAPS[map_.name].argument, str(map_.argument)
        if kind not in (ENTRIES, CLASSES):
            continue
        found = dictionaries.get(name)
        if found is None:
            have = ", ".join(map(repr, dictionaries)) or "none"
            raise ParameterError(
                f"there is no dictionary {name!r} for {value}; dictionaries has {have}"
            )
        if isinstance(found, dict) != (kind == CLASSES):
            other = "classes of words: use cluster" if isinstance(found, dict) else "entries"
            raise ParameterError(f"dictionary {name!r} of {value} holds {other}")
        if isinstance(found, dict):
            clusters[name] = found
        else:
            entries = found
    return entries, clusters


def _mapped(
    value: TokenValue, sequences: TokenSequences, clusters: Mapping[str, Mapping[str, str]]
) -> tuple[_Codes, Vocabulary]:
    """The number of the mapped word of every token, and the distinct mapped words."""
    column = find_column(sequences, value.column)
    codes = np.ascontiguousarray(column.codes, dtype=np.int32)
    if not value.maps:
        return codes, column.vocabulary
    n_words = len(column.vocabulary)
    # A few sequences may share the vocabulary of a large file.
    used = np.unique(codes[codes >= 0]) if 4 * len(codes) < n_words else np.arange(n_words)
    words: list[str | None] = column.vocabulary.array[used].tolist()
    for map_ in value.maps:
        words = map_.apply(words, clusters)
    numbers: dict[str | None, int] = dict.fromkeys(words, 0)
    numbers.pop(None, None)
    for number, word in enumerate(numbers):
        numbers[word] = number
    vocabulary = Vocabulary.of(word for word in numbers if word is not None)
    numbers[None] = -1
    table = np.full(n_words + 1, -1, dtype=np.int32)  # the last one is for tokens without a word
    table[used] = np.fromiter(map(numbers.__getitem__, words), dtype=np.int32, count=len(words))
    return table[codes], vocabulary


def _with_pads(
    words: Vocabulary, pads: list[str | None]
) -> tuple[bytes, npt.NDArray[np.int64], _Codes]:
    """Words with those for places outside appended, where these begin, and their numbers."""
    if not pads:
        return words.data, words.offsets, np.empty(0, dtype=np.int32)
    encoded = [pad.encode() for pad in pads if pad is not None]
    ends = len(words.data) + np.cumsum([len(pad) for pad in encoded], dtype=np.int64)
    present = np.array([pad is not None for pad in pads])
    numbers = np.where(present, len(words) + np.cumsum(present) - 1, -1).astype(np.int32)
    return b"".join([words.data, *encoded]), np.append(words.offsets, ends), numbers


def _matches(
    codes: _Codes, words: list[str], offsets: npt.NDArray[np.int64], entries: list[tuple[str, ...]]
) -> _Codes:
    """0 at the first and 1 at further tokens of entries, leftmost and longest first; else -1."""
    numbers = {word: number for number, word in enumerate(words)}
    tree: dict[Any, Any] = {}
    for entry in entries:
        known = [numbers.get(word) for word in entry]
        if None not in known:
            node = tree
            for number in known:
                node = node.setdefault(number, {})
            node[None] = True  # an entry ends here
    found = np.full(len(codes), -1, dtype=np.int32)
    begins = np.flatnonzero(np.isin(codes, list(tree)))
    ends = offsets[1:][np.searchsorted(offsets, begins, side="right") - 1]
    longest, plain, free = max(map(len, entries), default=0), codes.tolist(), 0
    for start, end in zip(begins.tolist(), ends.tolist(), strict=True):
        if start < free:
            continue
        node, free = tree, start
        for at in range(start, min(end, start + longest)):
            node = node.get(plain[at], {})
            if None in node:
                free = at + 1
        found[start:free] = 1
        found[start : min(free, start + 1)] = 0
    return found
