r"""Templates as text, one per line.

    spec     : lines; "#" begins a comment
    line     : [ ("transitions" | "both") ":" ] term { "&" term }
    term     : "bias"
             | "ngrams" "(" window "," number [ ".." number ] ")"
             | "bag" "(" window ")"
             | value [ "[" place "]" ]
    window   : value "[" integer ".." integer "]"
    place    : integer [ ".." integer ] | "@" integer
    value    : column | map "(" value [ "," argument ] ")"
    argument : number [ ".." number ] | "regular expression" | dictionary
    column   : name | position | "any name"

A range stands for one template per number; a value without a place is read at the token itself. The
maps are those of `separatrix.features.templates.WordMap`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, NoReturn

from separatrix.errors import FormatError, ParameterError
from separatrix.features.templates.maps import CLASSES, ENTRIES, MAPS, WordMap
from separatrix.features.templates.spec import (
    TemplateTerm,
    TokenPart,
    TokenValue,
    bag,
    bias,
    both,
    ngrams,
    transitions,
)

__all__ = ["parse"]

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>\#.*)|(?P<number>[+-]?\d+(?!\w))|(?P<name>[^\W\d]\w*)
    |(?P<quoted>"(?:\\.|[^"\\])*")|(?P<sign>\.\.|[()\[\],:&@])""",
    re.VERBOSE,
)


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def parse(text: str) -> list[TemplateTerm]:
    r"""The templates of a text.

    Parameters
    ----------
    text : str
        Lines as the grammar of this module says.

    Returns
    -------
    list of TemplateTerm
        One per line that is not empty.

    Raises
    ------
    FormatError
        Where the text does not follow the grammar; names line and column.

    Examples
    --------
    >>> for term in parse("bias\nsuffix(word, 2..3) & pos[-1]  # endings"):
    ...     print(term)
    bias
    suffix(word, 2) & pos[-1]
    suffix(word, 3) & pos[-1]
    >>> parse("word[-1\n")
    Traceback (most recent call last):
    ...
    separatrix.errors.FormatError: line 1: column 8: expected "]", got the end of the line
    """
    terms = []
    for number, line in enumerate(text.split("\n"), start=1):
        tokens = list(_tokens(line, number))
        if tokens[0].kind != "end":
            terms.append(_Line(tokens, number).read())
    return terms


def _tokens(line: str, number: int) -> Iterator[_Token]:
    at = 0
    while at < len(line):
        match = _TOKEN.match(line, at)
        if match is None:
            what = "a quote that does not end" if line[at] == '"' else repr(line[at])
            raise FormatError(f"column {at + 1}: unexpected {what}", number)
        if match.lastgroup not in ("space", "comment"):
            yield _Token(str(match.lastgroup), match.group(), at + 1)
        at = match.end()
    yield _Token("end", "the end of the line", len(line) + 1)


class _Line:
    """Reads one line by recursive descent."""

    def __init__(self, tokens: list[_Token], number: int) -> None:
        self.tokens, self.number, self.at = tokens, number, 0

    def read(self) -> TemplateTerm:
        mark = None
        if self.tokens[0].text in ("transitions", "both") and self.tokens[1].text == ":":
            mark = transitions if self.tokens[0].text == "transitions" else both
            self.at = 2
        term = self.term()
        while self.skip("&"):
            term = term & self.term()
        if self.now.kind != "end":
            self.fail('"&" or the end of the line')
        return term if mark is None else mark(term)

    # -- tokens ------------------------------------------------------------------------------------

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def fail(self, expected: str) -> NoReturn:
        text = self.now.text if self.now.kind == "end" else repr(self.now.text)
        self.refuse(f"expected {expected}, got {text}", self.now)

    def refuse(self, message: str, token: _Token) -> NoReturn:
        raise FormatError(f"column {token.column}: {message}", self.number)

    def skip(self, text: str) -> bool:
        found = self.now.kind == "sign" and self.now.text == text
        self.at += found
        return found

    def need(self, text: str) -> None:
        if not self.skip(text):
            self.fail(f'"{text}"')

    def integer(self) -> int:
        if self.now.kind != "number":
            self.fail("a number")
        self.at += 1
        return int(self.tokens[self.at - 1].text)

    def span(self) -> tuple[int, int]:
        token = self.now
        first = self.integer()
        last = self.integer() if self.skip("..") else first
        if last < first or last - first > 1000:
            self.refuse(f"the range {first}..{last} is empty or too long", token)
        return first, last

    # -- grammar -----------------------------------------------------------------------------------

    def term(self) -> TemplateTerm:
        token, following = self.now, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        called = token.kind == "name" and following.text == "("
        try:
            if token.text == "bias" and token.kind == "name" and not called:
                self.at += 1
                return bias()
            if called and token.text in ("ngrams", "bag"):
                self.at += 2
                window = self.placed()
                if token.text == "bag":
                    self.need(")")
                    return bag(window)
                self.need(",")
                low, high = self.span()
                self.need(")")
                return ngrams(window, low, high)
            return self.placed()
        except ParameterError as error:
            self.refuse(str(error), token)

    def placed(self) -> TemplateTerm:
        values = self.value()
        parts: list[TokenPart] = []
        if not self.skip("["):
            parts = [TokenPart(value) for value in values]
        elif self.skip("@"):
            token, offset = self.now, self.integer()
            if offset == 0:
                self.refuse("places count from @1 at the start and @-1 at the end", token)
            parts = [TokenPart(value, offset, absolute=True) for value in values]
            self.need("]")
        else:
            first, last = self.span()
            self.need("]")
            parts = [TokenPart(value, at) for value in values for at in range(first, last + 1)]
        return TemplateTerm(tuple((part,) for part in parts))

    def value(self) -> list[TokenValue]:
        token = self.now
        if token.kind == "number" and not token.text.startswith(("+", "-")):
            self.at += 1
            return [TokenValue(str(int(token.text)))]
        if token.kind == "quoted":
            self.at += 1
            return [TokenValue(re.sub(r"\\(.)", r"\1", token.text[1:-1]))]
        if token.kind != "name":
            self.fail("a column or a map")
        self.at += 1
        if not self.skip("("):
            return [TokenValue(token.text)]
        if token.text not in MAPS:
            self.refuse(f"there is no map {token.text!r}; there are {', '.join(MAPS)}", token)
        values = self.value()
        arguments = self.arguments(token.text)
        self.need(")")
        try:
            maps = [WordMap(token.text, argument) for argument in arguments]
        except ParameterError as error:
            self.refuse(str(error), token)
        return [replace(value, maps=(*value.maps, map_)) for value in values for map_ in maps]

    def arguments(self, name: str) -> list[int | str | None]:
        kind = MAPS[name].argument
        if kind is None:
            return [None]
        self.need(",")
        if kind == "number":
            first, last = self.span()
            return list(range(first, last + 1))
        token, named = self.now, kind in (ENTRIES, CLASSES)
        if token.kind != "quoted" and not (named and token.kind == "name"):
            self.fail(f"a {'name' if named else 'regular expression'} in quotes")
        self.at += 1
        if token.kind == "name":
            return [token.text]
        inside = token.text[1:-1]
        return [inside if kind == "pattern" else re.sub(r"\\(.)", r"\1", inside)]
