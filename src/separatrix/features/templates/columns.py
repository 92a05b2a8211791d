"""Sequences of tokens in any form as columns of numbered words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from numbers import Number
from operator import itemgetter
from typing import Any

import numpy as np

from separatrix.data.sequences.containers import TokenColumn, TokenSequences, Vocabulary
from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_sparse

__all__ = [
    "find_column",
    "has_column",
    "needed_columns",
    "positions",
    "token_sequences",
    "with_computed",
]

#: Other names that a role goes by, and its position where no column has such a name.
_ROLES = {
    "word": (("form", "token", "text"), 0),
    "pos": (("tag", "xpos", "upos"), 1),
}


def token_sequences(X: Any) -> TokenSequences:
    """X as token columns.

    Parameters
    ----------
    X : TokenSequences, TokenColumn, or sequence of sequences of tokens
        A token is a string, a tuple or list of strings (columns "0", "1", …), or a dict of columns.

    Returns
    -------
    TokenSequences
        Columns of int32 numbers, -1 where a dict lacks the column.

    Examples
    --------
    >>> token_sequences([["the", "cat"], []]).columns["0"].codes.tolist()
    [0, 1]
    >>> token_sequences([[{"word": "a", "pos": "D"}]]).names
    ('word', 'pos')
    """
    if isinstance(X, TokenSequences):
        return X
    if isinstance(X, TokenColumn):
        return TokenSequences({"0": X}, X.offsets)
    check_sparse(X)
    sequences = _sequences(X)
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    columns = _columns(list(chain.from_iterable(sequences)), offsets)
    return TokenSequences(
        {name: _numbered(name, words, offsets) for name, words in columns.items()}, offsets
    )


def with_computed(
    sequences: TokenSequences, functions: Mapping[str, Callable[[list[Any]], Sequence[Any]]]
) -> TokenSequences:
    """The sequences with a further column per function, by its name.

    Parameters
    ----------
    sequences : TokenSequences
    functions : dict of str to callable
        From the tokens of a sequence, words or tuples of columns, to a word or None for each.

    Examples
    --------
    >>> words = token_sequences([["a", "rose", "is", "a", "rose"]])
    >>> seen = {"again": lambda words: [w if w in words[:t] else None for t, w in enumerate(words)]}
    >>> with_computed(words, seen).columns["again"].codes.tolist()
    [-1, -1, -1, 0, 1]
    """
    if not functions:
        return sequences
    single = len(sequences.columns) == 1
    tokens = next(iter(sequences.columns.values())) if single else sequences
    rows = [tokens[at] for at in range(len(sequences))]
    columns = dict(sequences.columns)
    for name, function in functions.items():
        if not callable(function):
            raise ParameterError(f"functions[{name!r}] is {function!r}; expected a function")
        if name in columns:
            raise ParameterError(f"the tokens have a column {name!r} already; name it otherwise")
        found = [list(function(list(row))) for row in rows]
        wrong = next((at for at, row in enumerate(rows) if len(found[at]) != len(row)), None)
        if wrong is not None:
            raise DataError(
                f"function {name!r} gave {len(found[wrong])} values for the {len(rows[wrong])} "
                f"tokens of sequence {wrong}"
            )
        columns[name] = _numbered(name, list(chain.from_iterable(found)), sequences.offsets)
    return TokenSequences(columns, sequences.offsets)


def _columns(tokens: list[Any], offsets: Any) -> dict[str, list[Any]]:
    """The words of every column, of tokens that are all of one kind."""
    if not tokens:
        return {}
    kinds = {_kind(found) for found in set(map(type, tokens))}
    if kinds == {"word"}:
        return {"0": tokens}
    if kinds == {"dict"}:
        names = dict.fromkeys(chain.from_iterable(tokens))
        return {str(name): [token.get(name) for token in tokens] for name in names}
    if kinds == {"tuple"}:
        width = len(tokens[0])
        if set(map(len, tokens)) != {width}:
            wrong = next(at for at, token in enumerate(tokens) if len(token) != width)
            raise DataError(
                f"{_place(wrong, offsets)} has {len(tokens[wrong])} columns, the first has {width}"
            )
        return {str(at): list(map(itemgetter(at), tokens)) for at in range(width)}
    first = _kind(type(tokens[0]))
    found = ((at, _kind(type(token))) for at, token in enumerate(tokens))
    wrong = next(at for at, kind in found if kind is None or kind != first)
    raise DataError(
        f"{_place(wrong, offsets)} is {tokens[wrong]!r}: all tokens must be strings, or tuples "
        "of strings, or dicts"
    )


def _kind(found: type[Any]) -> str | None:
    kinds = (("word", str), ("dict", Mapping), ("tuple", (tuple, list, np.ndarray)))
    return next((name for name, known in kinds if issubclass(found, known)), None)


def _sequences(X: Any) -> Sequence[Any]:
    if isinstance(X, str | bytes | Mapping) or not hasattr(X, "__iter__"):
        raise DataError(
            f"expected sequences of tokens, such as [['the', 'cat'], ['sat']]; got {type(X)}"
        )
    sequences = X if isinstance(X, list) else list(X)
    for at, sequence in enumerate(sequences):
        if isinstance(sequence, str | bytes | Mapping) or not hasattr(sequence, "__len__"):
            raise DataError(
                f"sequence {at} is {sequence!r}, not a list of tokens; for one sequence give [X]"
            )
    return sequences


def _place(token: int, offsets: Any) -> str:
    sequence = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"token {token - int(offsets[sequence])} of sequence {sequence}"


def _numbered(name: str, words: list[Any], offsets: Any) -> TokenColumn:
    """The column of words, numbered by first use."""
    if not all(issubclass(kind, str) for kind in set(map(type, words))):
        words = [_word(word, name, at, offsets) for at, word in enumerate(words)]
    numbers: dict[Any, int] = dict.fromkeys(words, 0)
    numbers.pop(None, None)
    for number, word in enumerate(numbers):
        numbers[word] = number
    vocabulary = Vocabulary.of(numbers)
    numbers[None] = -1
    codes = np.fromiter(map(numbers.__getitem__, words), dtype=np.int32, count=len(words))
    return TokenColumn(codes, vocabulary, offsets)


def _word(word: Any, name: str, at: int, offsets: Any) -> str | None:
    if word is None or isinstance(word, str):
        return word
    if isinstance(word, Number | np.bool_):
        return str(word)
    raise DataError(f"column {name!r} of {_place(at, offsets)} is {word!r}; expected a string")


def find_column(sequences: TokenSequences, name: str) -> TokenColumn:
    """The column of a name, of a role ("word", "pos"), or at a position."""
    names = sequences.names
    place = _place_of(name, names)
    if place is not None:
        return sequences.columns[names[place]]
    if not len(sequences.offsets) or sequences.offsets[-1] == 0:  # no token has any column
        return TokenColumn(np.empty(0, dtype=np.int32), Vocabulary.of([]), sequences.offsets)
    have = ", ".join(map(repr, names))
    raise DataError(f"there is no column {name!r} for the templates; the tokens have {have}")


def _place_of(name: str, names: Sequence[str]) -> int | None:
    others, position = _ROLES.get(name, ((), None))
    for known in (name, *others):
        if known in names:
            return names.index(known)
    if position is None and name.isdecimal():
        position = int(name)
    return position if position is not None and position < len(names) else None


def positions(wanted: Sequence[str]) -> tuple[str, ...]:
    """Names of the columns that a token without names needs, in their order, for `wanted`.

    Examples
    --------
    >>> positions(["pos", "word"]), positions(["word", "2"]), positions(["stem"])
    (('word', 'pos'), ('word', '1', '2'), ())
    """
    places = {
        int(name) if name.isdecimal() else _ROLES[name][1]: name
        for name in wanted
        if name.isdecimal() or name in _ROLES
    }
    return tuple(places.get(place, str(place)) for place in range(max(places, default=-1) + 1))


def has_column(name: str, names: Sequence[str]) -> bool:
    """Whether a column has the name, or one that stands for it.

    Examples
    --------
    >>> has_column("word", ["form", "upos"]), has_column("word", ["0", "1"])
    (True, False)
    """
    return any(known in names for known in (name, *_ROLES.get(name, ((), None))[0]))


def needed_columns(wanted: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Those of the columns `names` without which `find_column` finds others for `wanted`.

    Examples
    --------
    >>> needed_columns(["word"], ["id", "form", "xpos"])
    ('form',)
    >>> needed_columns(["pos"], ["0", "1", "2"])
    ('0', '1')
    """
    needed: set[int] = set()
    for name in wanted:
        place = _place_of(name, names)
        if place is None:
            continue
        # What is found by its position needs all columns before it.
        by_name = has_column(name, [names[place]])
        needed |= {place} if by_name else set(range(place + 1))
    return tuple(name for place, name in enumerate(names) if place in needed)
