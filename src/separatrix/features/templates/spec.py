"""Templates as Python objects: columns, maps of them, places, conjunctions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import Literal

from separatrix.errors import ParameterError
from separatrix.features.templates.maps import WordMap, quoted

__all__ = [
    "TemplateTerm",
    "TokenPart",
    "TokenValue",
    "bag",
    "bias",
    "both",
    "column",
    "ngrams",
    "transitions",
]

On = Literal["states", "transitions", "both"]
_PLAIN_NAME = re.compile(r"[^\W\d]\w*|\d+")
#: Names that the text form reads as something else.
_RESERVED = frozenset({"bias"})


@dataclass(frozen=True)
class TokenValue:
    """A column, or a map of one; `value[offset]` reads it at a place.

    Parameters
    ----------
    column : str
        Name of the column, or its position from "0" on.
    maps : tuple of WordMap
        Maps, the innermost first.

    Examples
    --------
    >>> word = column("word")
    >>> print(word.lower().suffix(3)[-1])
    suffix(lower(word), 3)[-1]
    >>> print(word[-1] & word[0] & column("pos")[0])
    word[-1] & word & pos
    """

    column: str
    maps: tuple[WordMap, ...] = ()

    def __post_init__(self) -> None:
        spans = [at for at, map_ in enumerate(self.maps) if map_.spans_tokens]
        if spans and spans[0] != len(self.maps) - 1:
            raise ParameterError(f"no map can follow listed, as in {self}")

    def __str__(self) -> str:
        plain = _PLAIN_NAME.fullmatch(self.column) and self.column not in _RESERVED
        text = self.column if plain else quoted(self.column)
        for map_ in self.maps:
            text = map_.text(text)
        return text

    def _then(self, name: str, argument: int | str | None = None) -> TokenValue:
        return replace(self, maps=(*self.maps, WordMap(name, argument)))

    def prefix(self, n: int) -> TokenValue:
        """The first n characters; no value where the word is shorter."""
        return self._then("prefix", n)

    def suffix(self, n: int) -> TokenValue:
        """The last n characters; no value where the word is shorter."""
        return self._then("suffix", n)

    def lower(self) -> TokenValue:
        """The word in lower case."""
        return self._then("lower")

    def shape(self) -> TokenValue:
        """Capitals as X, small letters as x, other letters as o, digits as d, the rest as it is."""
        return self._then("shape")

    def short_shape(self) -> TokenValue:
        """The shape with runs of the same written once."""
        return self._then("short_shape")

    def case(self) -> TokenValue:
        """One of "lower", "upper", "initial", "mixed"; no value without cased letters."""
        return self._then("case")

    def digits(self) -> TokenValue:
        """Whether "all" or "some" characters are digits; no value where none is."""
        return self._then("digits")

    def zeros(self) -> TokenValue:
        """The word with 0 for every digit."""
        return self._then("zeros")

    def length(self) -> TokenValue:
        """The number of characters."""
        return self._then("length")

    def matches(self, pattern: str) -> TokenValue:
        """The value "yes" where the regular expression is found in the word; else none."""
        return self._then("matches", pattern)

    def found(self, pattern: str) -> TokenValue:
        """What the regular expression finds first in the word; no value where nothing."""
        return self._then("found", pattern)

    def listed(self, dictionary: str) -> TokenValue:
        """Value "B" on the first, "I" on further tokens of a dictionary's entry; else none."""
        return self._then("listed", dictionary)

    def cluster(self, dictionary: str) -> TokenValue:
        """The class of the word in a dictionary of classes; no value where it has none."""
        return self._then("cluster", dictionary)

    #: A value has places without end; looping over them is a mistake.
    __iter__ = None

    def __getitem__(self, offset: int) -> TemplateTerm:
        if not isinstance(offset, Integral):
            raise ParameterError(
                f"a place is a whole number, got {offset!r}; for several, use window(first, last)"
            )
        return TemplateTerm(((TokenPart(self, int(offset)),),))

    def window(self, first: int, last: int) -> TemplateTerm:
        """The value at every place from `first` to `last`, a template each."""
        if first > last:
            raise ParameterError(f"a window must not end before it begins, got {first} to {last}")
        return TemplateTerm(tuple((TokenPart(self, offset),) for offset in range(first, last + 1)))

    def __and__(self, other: TokenValue | TemplateTerm) -> TemplateTerm:
        return self[0] & other


@dataclass(frozen=True)
class TokenPart:
    """A value at a place.

    Parameters
    ----------
    value : TokenValue
        What is read.
    offset : int
        Where, from the token on.
    window : (int, int) or None
        The places that share the attribute's name (a bag).
    absolute : bool
        Whether `offset` counts from the ends of the sequence instead: 1, 2, … from its first
        token, -1, -2, … from its last (Wapiti's ``@``).
    """

    value: TokenValue
    offset: int = 0
    window: tuple[int, int] | None = None
    absolute: bool = False

    @property
    def label(self) -> str:
        """The part in the name of an attribute."""
        if self.window is not None:
            return f"bag({self.value}[{self.window[0]}..{self.window[1]}])"
        return f"{self.value}[{'@' if self.absolute else ''}{self.offset}]"

    def __str__(self) -> str:
        return str(self.value) if self.label.endswith("[0]") else self.label


@dataclass(frozen=True)
class TemplateTerm:
    """One or several templates, each a conjunction of parts (none: the bias).

    Parameters
    ----------
    alternatives : tuple of tuples of TokenPart
        The templates.
    on : {"states", "transitions", "both"}
        Whether the attributes go with a label, with a pair of consecutive labels, or both.
    """

    alternatives: tuple[tuple[TokenPart, ...], ...]
    on: On = "states"

    def __and__(self, other: TokenValue | TemplateTerm) -> TemplateTerm:
        term = other[0] if isinstance(other, TokenValue) else other
        if "states" not in (self.on, term.on) and self.on != term.on:
            raise ParameterError("a conjunction goes with labels or with pairs of labels, not each")
        on = term.on if self.on == "states" else self.on
        pairs = product(self.alternatives, term.alternatives)
        return TemplateTerm(tuple((*a, *b) for a, b in pairs), on)

    def __rand__(self, other: TokenValue) -> TemplateTerm:
        return other[0] & self

    def __str__(self) -> str:
        mark = "" if self.on == "states" else f"{self.on}: "
        lines = (" & ".join(map(str, parts)) or "bias" for parts in self.alternatives)
        # The places of a bag are alternatives that are written alike, as one line.
        return "\n".join(mark + line for line in dict.fromkeys(lines))


def column(name: str | int) -> TokenValue:
    """A column of the tokens.

    Parameters
    ----------
    name : str or int
        Its name, or its position from 0 on. "word" also finds columns named form, token or text,
        or else the first; "pos" those named tag, xpos or upos, or else the second.

    Returns
    -------
    TokenValue
        The column, whose methods are the maps.

    Examples
    --------
    >>> print(column("word").shape()[1])
    shape(word)[1]
    """
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise ParameterError(f"a column is named by a string or by its position, got {name!r}")
    return TokenValue(str(name))


def bias() -> TemplateTerm:
    """The template of an attribute that every token has.

    Examples
    --------
    >>> print(bias())
    bias
    """
    return TemplateTerm(((),))


def ngrams(term: TemplateTerm, low: int, high: int | None = None) -> TemplateTerm:
    """Conjunctions of the value at consecutive places of a window.

    Parameters
    ----------
    term : TemplateTerm
        A window: ``value.window(first, last)``.
    low, high : int
        Least and largest number of places; by default `low` only.

    Returns
    -------
    TemplateTerm
        The templates.

    Examples
    --------
    >>> print(ngrams(column("pos").window(-1, 1), 2))
    pos[-1] & pos
    pos & pos[1]
    """
    parts = _window(term, "ngrams")
    high = low if high is None else high
    if not 1 <= low <= high <= len(parts):
        raise ParameterError(
            f"ngrams of {low} to {high} places do not fit a window of {len(parts)}"
        )
    sizes = range(low, high + 1)
    runs = (parts[at : at + n] for n in sizes for at in range(len(parts) - n + 1))
    return TemplateTerm(tuple(runs), term.on)


def bag(term: TemplateTerm) -> TemplateTerm:
    """The values of a window as one bag: the attribute does not say where the value stands.

    Parameters
    ----------
    term : TemplateTerm
        A window: ``value.window(first, last)``.

    Returns
    -------
    TemplateTerm
        The templates.

    Examples
    --------
    >>> print(bag(column("word").window(-3, 3)).alternatives[0][0].label)
    bag(word[-3..3])
    """
    parts = _window(term, "bag")
    window = (parts[0].offset, parts[-1].offset)
    return TemplateTerm(tuple((replace(part, window=window),) for part in parts), term.on)


def transitions(term: TokenValue | TemplateTerm) -> TemplateTerm:
    """The same templates for attributes that go with pairs of consecutive labels.

    Examples
    --------
    >>> print(transitions(column("pos")))
    transitions: pos
    """
    return replace(term[0] if isinstance(term, TokenValue) else term, on="transitions")


def both(term: TokenValue | TemplateTerm) -> TemplateTerm:
    """The same templates for attributes that go with labels and with pairs of labels.

    Examples
    --------
    >>> print(both(column("pos")))
    both: pos
    """
    return replace(term[0] if isinstance(term, TokenValue) else term, on="both")


def _window(term: TemplateTerm, what: str) -> tuple[TokenPart, ...]:
    parts = [part for parts in term.alternatives for part in parts]
    single = all(len(parts) == 1 for parts in term.alternatives)
    if not single or len({part.value for part in parts}) != 1 or not _consecutive(parts):
        raise ParameterError(f"{what} needs a window of one value, such as word.window(-1, 1)")
    return tuple(parts)


def _consecutive(parts: Iterable[TokenPart]) -> bool:
    parts = list(parts)
    first = parts[0].offset
    return all(
        part.offset == first + at and part.window is None and not part.absolute
        for at, part in enumerate(parts)
    )
