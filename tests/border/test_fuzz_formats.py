"""Random bytes and mutated files at the parsers: rows or a FormatError, never a panic.

`make test` tries a bounded number; `make soak` goes on for longer.
"""

import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix.data import chunks, read
from separatrix.errors import DataError, FormatError

VALID = {
    "svmlight": b"1 qid:4 1:0.5 3:2e-3 # c\n-1,2 qid:4 2:1\n\n3 qid:5 10:1e300\n",
    "conll": b"the DT B-NP\ncat NN I-NP\n\n-DOCSTART- -X- O\n\nsat VB O\n",
    "conllu": b"# c\n1-2\tdal\t_\t_\t_\t_\t_\t_\t_\t_\n1\tda\t_\tADP\t_\t_\t0\troot\t_\t_\n"
    b"2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\ty\t_\tX\t_\t_\t0\troot\t_\t_\n",
    "crfsuite": b"@weight:2\nB\tw=a\\:b:0.5\tx\\\\y\nO\tx:-1\n\nI\t# c\n",
    "csv": b'a,b,class\n1,"x, ""y""",u\n2.5,?,v\n',
    "jsonl": b'{"a": 1, "class": ["u"]}\n{"a": null, "b": {"c": "x"}, "class": []}\n',
}
PARSED = ("svmlight", "conll", "conllu", "crfsuite")

#: Bytes that mean something to one format or another.
SPICE = [b"\n", b"\n\n", b"\r\n", b" ", b"\t", b":", b",", b"#", b"\\", b'"', b"-", b"@weight:1"]
SPICE += [b"\xff", b"\xc3", b"\xe2\x80\xa8", b"qid:", b"1e999", b"nan", b"9" * 30, b"\x0b", b"{"]


@st.composite
def mutations(draw, valid):
    """A valid file with a few bytes changed, cut, doubled or put in."""
    text = bytearray(valid)
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["insert", "delete", "flip", "double", "cut"]))
        if kind == "insert":
            text[at:at] = draw(st.sampled_from(SPICE))
        elif kind == "delete":
            del text[at : at + draw(st.integers(1, 4))]
        elif kind == "flip" and at < len(text):
            text[at] = draw(st.integers(0, 255))
        elif kind == "double":
            text[at:at] = text[: draw(st.integers(0, len(text)))]
        elif kind == "cut":
            del text[at:]
    return bytes(text)


def attempt(text, format):
    """Read whole and in pieces; both agree on how many rows there are, or both complain."""
    data = complaint = None
    try:
        data = read(text, format)
    except DataError as error:
        complaint = error
    if data is None:
        # Complaints about a file name it; only those about options need not.
        assert str(complaint).startswith("<bytes>") or not isinstance(complaint, FormatError)
        with contextlib.suppress(DataError):
            list(chunks(text, 1, format))
        return
    look(data)
    assert sum(len(piece) for piece in chunks(text, 1, format)) == len(data)


def look(data):
    """Decode everything, so that nothing lazy hides a fault."""
    if data.kind == "sequences":
        assert len(data.X.tolist()) == len(data.y.tolist() if data.y is not None else data.X)
    if data.kind == "matrix":
        data.X.check_format()
        assert (np.diff(data.X.indptr) >= 0).all()
    assert len(data) >= 1


def tries(n):
    return settings(max_examples=n, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("format", VALID)
def test_the_valid_files_are_valid(format):
    look(read(VALID[format], format))


@pytest.mark.parametrize("format", VALID)
@tries(300)
@given(data=st.data())
def test_mutated_files(format, data):
    attempt(data.draw(mutations(VALID[format])), format)


@pytest.mark.parametrize("format", PARSED)
@tries(200)
@given(text=st.one_of(st.binary(max_size=80), st.lists(st.sampled_from(SPICE)).map(b"".join)))
def test_random_bytes(format, text):
    attempt(text, format)


@pytest.mark.parametrize("packed", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"])
@tries(200)
@given(text=st.binary(max_size=60))
def test_random_packing(packed, text):
    with contextlib.suppress(FormatError):
        read(packed + text, "svmlight")


@pytest.mark.slow
@pytest.mark.parametrize("format", VALID)
@tries(20_000)
@given(data=st.data())
def test_mutated_files_for_long(format, data):
    attempt(data.draw(mutations(VALID[format] * 2)), format)


@pytest.mark.slow
@pytest.mark.parametrize("format", PARSED)
@tries(20_000)
@given(text=st.one_of(st.binary(), st.lists(st.sampled_from(SPICE)).map(b"".join)))
def test_random_bytes_for_long(format, text):
    attempt(text, format)
