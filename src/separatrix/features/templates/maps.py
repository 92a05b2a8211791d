"""Maps of one word to a value: prefixes, shapes, case, regular expressions; None is no value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

from separatrix.errors import ParameterError

__all__ = ["CLASSES", "ENTRIES", "MAPS", "WordMap", "quoted"]

Argument = int | str


def _prefix(word: str, n: int) -> str | None:
    return word[:n] if len(word) >= n else None


def _suffix(word: str, n: int) -> str | None:
    return word[-n:] if len(word) >= n else None


class _Classes(dict[int, str]):
    """What each character becomes in a shape, found on first use."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isdigit():
            found = "d"
        elif not character.isalpha():
            found = character
        else:
            found = "X" if character.isupper() else "x" if character.islower() else "o"
        self[code] = found
        return found


class _Zeros(dict[int, str]):
    """Every digit to 0, found on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = found = "0" if chr(code).isdigit() else chr(code)
        return found


_CLASSES, _ZEROS = _Classes(), _Zeros()


def _shape(word: str) -> str:
    return word.translate(_CLASSES)


def _short_shape(word: str) -> str:
    return _once(_shape(word))


@lru_cache(maxsize=1 << 14)  # there are far fewer shapes than words
def _once(shape: str) -> str:
    return "".join(character for character, _ in groupby(shape))


def _case(word: str) -> str | None:
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "initial"
    letters = [c for c in word if c.isupper() or c.islower()]
    if not letters:
        return None
    initial = letters[0].isupper() and all(c.islower() for c in letters[1:])
    return "initial" if initial else "mixed"


def _digits(word: str) -> str | None:
    if word.isdigit():
        return "all"
    return "some" if any(map(str.isdigit, word)) else None


def _zeros(word: str) -> str:
    return word.translate(_ZEROS)


def _length(word: str) -> str:
    return str(len(word))


def _matches(word: str, pattern: re.Pattern[str]) -> str | None:
    return "yes" if pattern.search(word) else None


def _test(word: str, pattern: re.Pattern[str]) -> str:
    return "true" if pattern.search(word) else "false"


def _found(word: str, pattern: re.Pattern[str]) -> str | None:
    match = pattern.search(word)
    return None if match is None else match.group()


def _found_or_empty(word: str, pattern: re.Pattern[str]) -> str:
    match = pattern.search(word)
    return "" if match is None else match.group()


#: Kinds of tables that arguments name.
ENTRIES, CLASSES = "dictionary", "dictionary of classes"


@dataclass(frozen=True)
class _Kind:
    """What a map does, and its argument: None, "number", "pattern" or the name of a table."""

    function: Callable[..., str | None] | None
    argument: str | None = None


#: All maps by name; "listed" looks at several tokens, "cluster" up what a table says of a word.
MAPS: dict[str, _Kind] = {
    "prefix": _Kind(_prefix, "number"),
    "suffix": _Kind(_suffix, "number"),
    "lower": _Kind(str.lower),
    "shape": _Kind(_shape),
    "short_shape": _Kind(_short_shape),
    "case": _Kind(_case),
    "digits": _Kind(_digits),
    "zeros": _Kind(_zeros),
    "length": _Kind(_length),
    "matches": _Kind(_matches, "pattern"),
    "found": _Kind(_found, "pattern"),
    "test": _Kind(_test, "pattern"),
    "found_or_empty": _Kind(_found_or_empty, "pattern"),
    "listed": _Kind(None, ENTRIES),
    "cluster": _Kind(None, CLASSES),
}


@dataclass(frozen=True)
class WordMap:
    r"""A map of words, by name, with its argument.

    - ``prefix(n)``, ``suffix(n)``: the first or last n characters; none of shorter words;
    - ``lower()``: `str.lower`;
    - ``shape()``: capitals as X, small letters x, other letters o, digits d, the rest as it is;
      ``short_shape()`` writes runs of the same once;
    - ``case()``: "lower", "upper", "initial" (a capital, then small letters) or "mixed"; none
      without cased letters;
    - ``digits()``: "all", "some" or none; ``zeros()``: the word with 0 for every digit;
    - ``length()``: the number of characters;
    - ``matches(pattern)``: "yes" where Python's `re` finds the pattern, else none;
      ``found(pattern)``: what it finds; ``test(pattern)``: "true" or "false";
      ``found_or_empty(pattern)``: what it finds, or "" (the last two as in Wapiti);
    - ``listed(name)``: "B" on the first and "I" on the further tokens of an entry of a dictionary;
    - ``cluster(name)``: the word's class in a dictionary of classes; none where it has no class.

    Parameters
    ----------
    name : str
        Name of the map.
    argument : int, str or None
        Its argument.

    Examples
    --------
    >>> WordMap("suffix", 3)("running"), WordMap("suffix", 3)("up")
    ('ing', None)
    >>> WordMap("shape")("McDonald's-95"), WordMap("short_shape")("McDonald's-95")
    ("XxXxxxxx'x-dd", "XxXx'x-d")
    >>> WordMap("found", r"\d+")("B-52s")
    '52'
    """

    name: str
    argument: Argument | None = None

    def __post_init__(self) -> None:
        if self.name not in MAPS:
            raise ParameterError(f"there is no map {self.name!r}; there are {', '.join(MAPS)}")
        needed, argument = MAPS[self.name].argument, self.argument
        if needed is None:
            if argument is not None:
                raise ParameterError(f"{self.name} takes no argument, got {argument!r}")
        elif needed == "number":
            if isinstance(argument, bool) or not isinstance(argument, int) or argument < 1:
                raise ParameterError(f"{self.name} needs a number from 1 on, got {argument!r}")
        elif not isinstance(argument, str):
            raise ParameterError(f"{self.name} needs a {needed}, got {argument!r}")
        elif needed == "pattern":
            _compile(argument)

    @property
    def spans_tokens(self) -> bool:
        """Whether the value depends on more than one word."""
        return MAPS[self.name].argument == ENTRIES

    def __call__(self, word: str) -> str | None:
        """The value of one word."""
        return next(iter(self.apply([word])))

    def apply(
        self, words: Iterable[str | None], clusters: Mapping[str, Mapping[str, str]] | None = None
    ) -> list[str | None]:
        """The values of many words; None stays None. `clusters` has the classes of words."""
        function = MAPS[self.name].function
        if MAPS[self.name].argument == CLASSES:
            table = (clusters or {})[str(self.argument)]
            return [None if word is None else table.get(word) for word in words]
        if function is None:
            raise ParameterError(f"{self.name} is no map of single words")
        if self.argument is None:
            return [None if word is None else function(word) for word in words]
        argument: Any = self.argument
        if MAPS[self.name].argument == "pattern":
            argument = _compile(str(argument))
        return [None if word is None else function(word, argument) for word in words]

    def text(self, of: str) -> str:
        """How the map of `of` is written."""
        if self.argument is None:
            return f"{self.name}({of})"
        argument = self.argument
        if MAPS[self.name].argument == "pattern":
            argument = _quoted_pattern(str(argument))
        elif isinstance(argument, str) and not argument.isidentifier():
            argument = quoted(argument)
        return f"{self.name}({of}, {argument})"


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ParameterError(f"{pattern!r} is no regular expression: {error}") from None


def quoted(text: str) -> str:
    r"""A name in double quotes, with `\"` for a quote and `\\` for a backslash.

    Examples
    --------
    >>> print(quoted('a "b" c'))
    "a \"b\" c"
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quoted_pattern(pattern: str) -> str:
    """A regular expression in double quotes, all as it is but for a backslash before quotes."""
    return '"' + re.sub(r'(\\.)|"', lambda m: m.group(1) or '\\"', pattern, flags=re.DOTALL) + '"'
