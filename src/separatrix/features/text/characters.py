r"""What Python says of every character: the tables that the tokenizer works by.

Versions of Unicode differ between interpreters, and between an interpreter and a compiled library;
so the tables come from the interpreter at hand, once per process and setting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from separatrix._core import Characters

__all__ = ["characters", "strip_accents_of"]

_WORD, _SPACE, _CASED, _IGNORABLE = 1, 2, 4, 8
_N_CODE_POINTS = 0x110000
#: Code points with properties: the planes above are unassigned, or for private use.
_ASSIGNED = ((0x0, 0xD800), (0xE000, 0x40000), (0xE0000, 0xE1000))
_BLOCK = 1024
_SIGMA = "Σ"


def strip_accents_of(text: str, how: str | None) -> str:
    """Text without accents: None leaves it, "unicode" drops combining marks, "ascii" all but ASCII.

    Examples
    --------
    >>> strip_accents_of("Ærøskøbing é", "unicode"), strip_accents_of("Ærøskøbing é", "ascii")
    ('Ærøskøbing e', 'rskbing e')
    """
    if how is None or text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@cache
def characters(lowercase: bool, strip_accents: str | None) -> Characters:
    """Tables for `str.lower` (or not) followed by the stripping of accents (or not).

    Parameters
    ----------
    lowercase : bool
        Whether to fold case.
    strip_accents : {None, "ascii", "unicode"}
        Which accents to strip.

    Returns
    -------
    Characters
        Handle for the kernels.
    """
    properties = _properties()
    changed = set(_changed_by_lower()) if lowercase else set()
    if strip_accents is not None:
        changed |= _changed_by_stripping()
    sources = sorted(c for c in changed if ord(c) >= 0x80 and not (lowercase and c == _SIGMA))
    targets = [strip_accents_of(c.lower() if lowercase else c, strip_accents) for c in sources]
    return Characters(
        properties,
        np.fromiter(map(ord, sources), dtype=np.uint32, count=len(sources)),
        targets,
        strip_accents_of("σ", strip_accents),
        strip_accents_of("ς", strip_accents),
        lowercase,
        strip_accents == "ascii",
    )


def _segments() -> Iterator[tuple[int, str]]:
    for start, stop in _ASSIGNED:
        yield start, np.arange(start, stop, dtype="<u4").tobytes().decode("utf-32-le")


def _blocks() -> Iterator[str]:
    for _, segment in _segments():
        for start in range(0, len(segment), _BLOCK):
            yield segment[start : start + _BLOCK]


@cache
def _properties() -> npt.NDArray[np.uint8]:
    properties = np.zeros(_N_CODE_POINTS, dtype=np.uint8)
    for flag, pattern in ((_WORD, r"\w+"), (_SPACE, r"\s+")):
        for first, segment in _segments():
            for match in re.finditer(pattern, segment):
                properties[first + match.start() : first + match.end()] |= flag
    # What a character is to a sigma beside it shows in how Python lowers the sigma: final where the
    # character before it, ignorable ones passed over, has case.
    for start, stop in _ASSIGNED:
        codes = np.arange(max(start, 1), stop, dtype="<u4")
        alone, after_letter = _ends_word(" ", codes), _ends_word("A", codes)
        properties[codes[alone]] |= _CASED
        properties[codes[after_letter & ~alone]] |= _IGNORABLE
    return properties


def _ends_word(before: str, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Per character, whether a sigma after `before` and it is lowered to the final one."""
    probes = np.zeros((len(codes), 4), dtype="<u4")
    probes[:, 0], probes[:, 1], probes[:, 2] = ord(before), codes, ord(_SIGMA)
    lowered = probes.tobytes().decode("utf-32-le").lower().encode("utf-32-le")
    text = np.frombuffer(lowered, dtype="<u4")
    final: npt.NDArray[np.bool_] = text[np.flatnonzero(text == 0) - 1] == ord("ς")
    return final


def _changed_by_lower() -> list[str]:
    return [c for block in _blocks() if block.lower() != block for c in block if c.lower() != c]


@cache
def _changed_by_stripping() -> set[str]:
    changed: set[str] = set()
    for block in _blocks():
        changed.update(c for c in block if unicodedata.combining(c))
        if not unicodedata.is_normalized("NFKD", block):
            changed.update(c for c in block if unicodedata.normalize("NFKD", c) != c)
    return changed
