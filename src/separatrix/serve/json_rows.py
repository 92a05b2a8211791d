"""Where the rows of a request of JSON stand, found without parsing them.

A parser runs through a body of some megabytes in one go, and holds the interpreter's lock for as
long; so the elements of the array "rows" are found first, to be parsed one by one. What is found
is no proof that the body is JSON: whoever parses every element, and the rest, has checked it all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Rows", "find_rows"]

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
#: What an object without others in it holds; most rows of tables are such.
_FLAT = rb'(?:[^][{}"]++|' + _STRING + rb")*+"
_NEXT = re.compile(rb'[\s,:]*+(["[]|\{' + _FLAT + rb'\}|[]{}]|[^][{}"\s,:]++)', re.DOTALL)
_BEGIN = re.compile(rb"\s*+\{")
_KEY = re.compile(rb'\s*+("[^"\\]{0,40}+")\s*+:\s*+')
_COMMA = re.compile(rb"\s*+,\s*+")
_END = re.compile(rb"\s*+\]")
_OPEN, _CLOSE = b"[{", b"]}"
_QUOTE, _BRACKET, _BACKSLASH = b'"[\\'
#: Fields of a request that are looked at; it has no more.
_MOST_FIELDS = 20
#: Strings, numbers and brackets of one row that are looked at.
_MOST_PARTS = 1 << 16


class Rows(NamedTuple):
    """Elements of the array "rows"."""

    #: First byte and end of each.
    spans: list[tuple[int, int]]
    #: Where they begin and end together: after the opening bracket, and at the closing one.
    first: int
    last: int


def find_rows(body: bytes | bytearray, most: int) -> Rows | None:
    """The elements of the array under "rows" in the object that the body is.

    Parameters
    ----------
    body : bytes or bytearray
    most : int
        Elements that are looked for; one more is the last that is found.

    Returns
    -------
    Rows or None
        None where there is no such array, or the body is no JSON as far as was looked.

    Examples
    --------
    >>> body = b'{"model": "m", "rows": [[1, 2], {"a": "]"}, "b"], "top": 1}'
    >>> found = find_rows(body, 10)
    >>> [body[start:end] for start, end in found.spans]
    [b'[1, 2]', b'{"a": "]"}', b'"b"']
    >>> body[: found.first] + body[found.last :]
    b'{"model": "m", "rows": [], "top": 1}'
    """
    begin = _BEGIN.match(body)
    at = None if begin is None else begin.end()
    for _ in range(_MOST_FIELDS):
        key = None if at is None else _KEY.match(body, at)
        if key is None:
            return None
        if key[1] == b'"rows"' and body[key.end() : key.end() + 1] == b"[":
            return _elements(body, key.end() + 1, most)
        at = _after(body, key.end(), _COMMA)
    return None


def _elements(body: bytes | bytearray, first: int, most: int) -> Rows | None:
    spans: list[tuple[int, int]] = []
    at = first
    while len(spans) <= most:
        if not spans and (end := _END.match(body, at)) is not None:
            return Rows(spans, first, end.end() - 1)
        stop = _value_end(body, at)
        if stop is None:
            return None
        spans.append((at, stop))
        if (end := _END.match(body, stop)) is not None:
            return Rows(spans, first, end.end() - 1)
        comma = _COMMA.match(body, stop)
        if comma is None:
            return None
        at = comma.end()
    return Rows(spans, first, at)


def _after(body: bytes | bytearray, at: int, what: re.Pattern[bytes]) -> int | None:
    """Behind the value that begins at a place, and what must follow it."""
    end = _value_end(body, at)
    found = None if end is None else what.match(body, end)
    return None if found is None else found.end()


def _value_end(body: bytes | bytearray, at: int) -> int | None:
    """One past the value that begins at a place, or after blanks."""
    depth = 0
    for _ in range(_MOST_PARTS):
        found = _NEXT.match(body, at)
        if found is None:
            return None
        start, at = found.span(1)
        first = body[start]
        if first == _QUOTE:
            end = _string_end(body, start)
            if end is None:
                return None
            at = end
        elif at == start + 1:
            end = _flat_end(body, start) if first == _BRACKET else None
            if end is not None:
                at = end
            else:
                depth += (first in _OPEN) - (first in _CLOSE)
        if depth <= 0:
            return at if depth == 0 else None
    return None


def _string_end(body: bytes | bytearray, start: int) -> int | None:
    """One past a string: a quotation mark after an even number of backslashes."""
    at = start
    while (at := body.find(b'"', at + 1)) >= 0:
        before = at
        while body[before - 1] == _BACKSLASH:
            before -= 1
        if (at - before) % 2 == 0:
            return at + 1
    return None


def _flat_end(body: bytes | bytearray, start: int) -> int | None:
    """One past an array of numbers; None where it holds something else."""
    # Not beyond the next one: the time of all of them together grows with the body, not its square.
    inner = body.find(b"[", start + 1)
    end = body.find(b"]", start, inner if inner >= 0 else len(body))
    if end < 0 or any(body.find(sign, start + 1, end) >= 0 for sign in (b'"', b"{")):
        return None
    return end + 1
