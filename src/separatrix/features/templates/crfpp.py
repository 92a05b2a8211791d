r"""Template files of CRF++ and of Wapiti, read as they are.

A line is a template: text in which ``%x[row,column]`` stands for the word of a column at a place;
the first letter says what its attributes go with. CRF++ has U (labels) and B (pairs of labels).
Wapiti has them in either case and ``*`` (both), ``%t[row,column,"regex"]`` ("true" or "false"),
``%m[row,column,"regex"]`` (what the expression finds), the three in capitals (the result in lower
case), ``@`` before a row (a place of the sequence: 1 is its first, -1 its last) and comments at the
end of a line. Lines that expand to the same text name the same attribute.

Sources: CRF++ 0.58, ``feature.cpp`` and ``feature_index.cpp``; Wapiti 1.5, ``pattern.c``.
"""

from __future__ import annotations

import re
from typing import Literal, NoReturn

from separatrix.errors import FormatError
from separatrix.features.templates.compiled import Template
from separatrix.features.templates.maps import WordMap
from separatrix.features.templates.spec import On, TokenPart, TokenValue

__all__ = ["MARKS", "detect_dialect", "parse_template_file"]

Dialect = Literal["crfpp", "wapiti"]
#: What a place outside the sequence is called.
MARKS: dict[str, str] = {"crfpp": "_B", "wapiti": "_x"}
_KINDS: dict[str, dict[str, On]] = {
    "crfpp": {"U": "states", "B": "transitions"},
    "wapiti": {
        "U": "states",
        "u": "states",
        "B": "transitions",
        "b": "transitions",
        "*": "both",
    },
}
_WAPITI = re.compile(r"^[ub*]|%[XtTmM]|%x\[(\s|@|\*)", re.MULTILINE)
_PLACE = {
    "crfpp": re.compile(r"\[(?P<row>-?\d+),(?P<column>\d+)"),
    "wapiti": re.compile(r"\[(?P<mode>[@*]?)\s*(?P<row>[+-]?\d+)\s*,\s*(?P<column>\d+)"),
}
_REGEX = re.compile(r',"((?:\\.|[^"\\])*)"')
#: Wapiti's classes of characters; a capital letter is the complement.
_CLASSES = {
    "a": "a-zA-Z",
    "d": "0-9",
    "l": "a-z",
    "p": r"!-/:-@\[-`{-~",
    "s": r" \t\n\r\f\v",
    "u": "A-Z",
    "w": "a-zA-Z0-9",
}


def detect_dialect(text: str) -> Dialect:
    """The program that a template file is for.

    Examples
    --------
    >>> detect_dialect("U00:%x[0,0]"), detect_dialect("*:%X[0,0]")
    ('crfpp', 'wapiti')
    """
    return "wapiti" if _WAPITI.search(text) else "crfpp"


def parse_template_file(text: str, dialect: str) -> list[Template]:
    r"""The templates of a file.

    Parameters
    ----------
    text : str
        The file.
    dialect : {"crfpp", "wapiti"}
        The program it is for.

    Returns
    -------
    list of Template
        One per line that is neither empty nor a comment.

    Raises
    ------
    FormatError
        Where a line is none of the program's; names line and column.

    Examples
    --------
    >>> parse_template_file("U01:%x[-1,0]/%x[0,0]", "crfpp")[0].literals
    ('U01:', '/', '')
    >>> parse_template_file("# words\nU01:%y[0,0]", "crfpp")
    Traceback (most recent call last):
    ...
    separatrix.errors.FormatError: line 2: column 5: '%y' is no command; CRF++ has %x
    """
    templates = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.rstrip("\r")
        if dialect == "wapiti":
            line = line.partition("#")[0].rstrip()
        if line.strip() and not line.startswith("#"):
            templates.append(_Line(line, number, dialect).read())
    return templates


class _Line:
    """Reads one template."""

    def __init__(self, text: str, number: int, dialect: str) -> None:
        self.text, self.number, self.dialect = text, number, dialect

    def fail(self, message: str, at: int) -> NoReturn:
        raise FormatError(f"column {at + 1}: {message}", self.number)

    def read(self) -> Template:
        text, kinds = self.text, _KINDS[self.dialect]
        if text[0] not in kinds:
            self.fail(f"a template begins with {', '.join(kinds)}, not {text[0]!r}", 0)
        parts: list[TokenPart] = []
        literals: list[str] = []
        first = text[0].lower() if self.dialect == "wapiti" else text[0]
        literal, at = first, 1
        while at < len(text):
            if text[at] != "%":
                literal, at = literal + text[at], at + 1
                continue
            literals.append(literal)
            literal = ""
            part, at = self.command(at)
            parts.append(part)
        return Template(tuple(parts), (*literals, literal), kinds[text[0]])

    def command(self, start: int) -> tuple[TokenPart, int]:
        """The command at `start`, and where it ends."""
        name = self.text[start + 1 : start + 2]
        if name not in ("x",) if self.dialect == "crfpp" else name.lower() not in ("x", "t", "m"):
            known = "CRF++ has %x" if self.dialect == "crfpp" else "Wapiti has %x, %t and %m"
            self.fail(f"{'%' + name!r} is no command; {known}", start)
        place = _PLACE[self.dialect].match(self.text, start + 2)
        if place is None:
            self.fail(f"expected [row,column] after %{name}", start + 2)
        at, mode = place.end(), place.groupdict().get("mode")
        if mode == "*":
            self.fail("rows that a column gives (*) are not supported", start + 2)
        maps: list[WordMap] = []
        if name in "tTmM":
            quoted = _REGEX.match(self.text, at)
            if quoted is None:
                self.fail(f'expected ,"regular expression" in %{name}', at)
            pattern = self.pattern(quoted.group(1), quoted.start(1))
            maps.append(WordMap("test" if name in "tT" else "found_or_empty", pattern))
            at = quoted.end()
        if self.text[at : at + 1] != "]":
            self.fail(f'expected "]" at the end of %{name}', at)
        if name in "XM":
            maps.append(WordMap("lower"))
        value = TokenValue(str(int(place["column"])), tuple(maps))
        return TokenPart(value, int(place["row"]), absolute=mode == "@"), at + 1

    def pattern(self, wapiti: str, start: int) -> str:
        """Wapiti's regular expression as one of Python's.

        There are characters, `.`, classes and escapes, each with `*` (as few as possible) or `?`
        after it, `^` at the beginning and `$` at the end.
        """
        at, made = 0, ""
        if wapiti.startswith("^"):
            at, made = 1, "^"
        while at < len(wapiti):
            here, character = at, wapiti[at]
            if character in "*?":
                self.fail(f"{character!r} must follow a character", start + here)
            if character == "\\":
                at += 1
                escaped = wapiti[at]
                inside = _CLASSES.get(escaped.lower())
                negated = "^" if escaped.isupper() else ""
                unit = f"[{negated}{inside}]" if inside else re.escape(escaped)
            elif character == "$" and at == len(wapiti) - 1:
                unit = r"\Z"
            else:
                unit = "." if character == "." else re.escape(character)
            at += 1
            if wapiti[at : at + 1] == "*":
                unit, at = f"{unit}*?", at + 1
            elif wapiti[at : at + 1] == "?":
                unit, at = f"{unit}?", at + 1
            made += unit
        return f"(?s:{made})"
