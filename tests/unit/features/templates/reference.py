"""Templates the plain way: strings, one token at a time. What the kernels are measured against."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np


def shape(word):
    kinds = []
    for c in word:
        if c.isdigit():
            kinds.append("d")
        elif c.isalpha():
            kinds.append("X" if c.isupper() else "x" if c.islower() else "o")
        else:
            kinds.append(c)
    return kinds


def case(word):
    cased = [c for c in word if c.isupper() or c.islower()]
    if word.islower():
        return "lower"
    if word.isupper():
        return "initial" if len(word) == 1 else "upper"
    if not cased:
        return None
    return "initial" if cased[0].isupper() and not any(map(str.isupper, cased[1:])) else "mixed"


def digits(word):
    n = sum(c.isdigit() for c in word)
    return None if n == 0 else "all" if n == len(word) else "some"


def short(word):
    kinds = shape(word)
    return "".join(k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k)


#: Text of a value -> what it makes of a token's columns (word, pos).
VALUES = {
    "word": lambda w, p: w,
    "pos": lambda w, p: p,
    "lower(word)": lambda w, p: w.lower(),
    "prefix(word, 2)": lambda w, p: None if len(w) < 2 else w[:2],
    "suffix(word, 3)": lambda w, p: None if len(w) < 3 else w[-3:],
    "suffix(lower(word), 1)": lambda w, p: w.lower()[-1:] or None,
    "shape(word)": lambda w, p: "".join(shape(w)),
    "short_shape(word)": lambda w, p: short(w),
    "case(word)": lambda w, p: case(w),
    "digits(word)": lambda w, p: digits(w),
    "zeros(word)": lambda w, p: "".join("0" if c.isdigit() else c for c in w),
    "length(word)": lambda w, p: str(len(w)),
    r'matches(word, "^[a-z]+\d")': lambda w, p: "yes" if re.search(r"^[a-z]+\d", w) else None,
    r'found(word, "[A-Z]+|\.")': lambda w, p: (
        m.group() if (m := re.search(r"[A-Z]+|\.", w)) else None
    ),
    r'test(word, "a.")': lambda w, p: "true" if re.search("a.", w) else "false",
}


def place(sentence, value, at, padding):
    """The value at a place, which may be outside."""
    if at < 0:
        return f"_B{at}" if padding == "mark" else None
    if at >= len(sentence):
        return f"_B+{at - len(sentence) + 1}" if padding == "mark" else None
    return VALUES[value](*sentence[at])


def escape(value, n_parts):
    return value.replace("\\", "\\\\").replace("|", "\\|") if n_parts > 1 else value


def attributes(sentence, templates, at, padding):
    """The attributes of a token; templates as lists of (value, offset) or ("bag", value, a, b)."""
    found = []
    for template in templates:
        if template and template[0] == "bag":
            _, value, first, last = template
            values = [place(sentence, value, at + o, padding) for o in range(first, last + 1)]
            found += [f"bag({value}[{first}..{last}])={v}" for v in values if v is not None]
            continue
        values = [place(sentence, value, at + offset, padding) for value, offset in template]
        if None not in values:
            label = "|".join(f"{value}[{offset}]" for value, offset in template)
            joined = "|".join(escape(value, len(template)) for value in values)
            found.append(f"{label}={joined}" if template else "bias")
    return found


def text(templates):
    """The same templates in the text form."""
    lines = []
    for template in templates:
        if template and template[0] == "bag":
            lines.append(f"bag({template[1]}[{template[2]}..{template[3]}])")
        else:
            lines.append(" & ".join(f"{value}[{offset}]" for value, offset in template) or "bias")
    return "\n".join(lines)


def encode(train, test, templates, *, padding="omit", min_count=1):
    """Names learned from `train`, as a set, and a Counter per token of `test`."""
    counts = Counter(
        name
        for sentence in train
        for at in range(len(sentence))
        for name in attributes(sentence, templates, at, padding)
    )
    known = {name for name, count in counts.items() if count >= min_count}
    rows = [
        Counter(n for n in attributes(sentence, templates, at, padding) if n in known)
        for sentence in test
        for at in range(len(sentence))
    ]
    return known, rows


def rows_of(encoded):
    """The rows of an encoding as Counters."""
    names, matrix = encoded.vocabulary.array, encoded.matrix
    return [
        Counter(
            {
                names[j]: int(v)
                for j, v in zip(
                    matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True
                )
            }
        )
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


def _mix(value):
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ (value >> shift)) * factor % 2**64
    return value ^ (value >> 31)


def _hash(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return _mix(value)


def hashed(literals, values, n):
    """The column of an attribute: FNV-1a, finished and chained by splitmix64."""
    value = 0
    for text in [*literals, *values]:
        value = _mix(value * 0x9E3779B97F4A7C15 % 2**64 ^ _hash(text))
    return value * n >> 64


def check_canonical(matrix):
    """Columns rise within every row, and the arrays have the types of the contract."""
    assert matrix.dtype == np.float32
    assert matrix.indices.dtype == np.int32
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        assert (np.diff(matrix.indices[a:b]) > 0).all()
