"""Template files of CRF++ and Wapiti, against what these programs expand them to."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import DataError, FormatError
from separatrix.features.templates import Templates
from tests.unit.features.templates.reference import rows_of

CHUNKING = """\
# Unigram
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U05:%x[-1,0]/%x[0,0]
U10:%x[-2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]

U:%x[-1,0]
U:%x[1,0]
# Bigram
B
B1:%x[0,1]
"""
SENTENCE = [("He", "PRP"), ("reckons", "VBZ"), ("the", "DT"), ("He", "PRP")]
WORDS = st.sampled_from(["a", "b", "a/b", "A1", "_B-1", "x-ray", "é"])
SENTENCES = st.lists(st.lists(st.tuples(WORDS, WORDS), max_size=5), max_size=4)


def expand(template, sentence, at, mark="_B"):
    """A template of CRF++ at one token."""

    def word(match):
        place, column = at + int(match[1]), int(match[2])
        if place < 0:
            return f"{mark}{place}"
        if place >= len(sentence):
            return f"{mark}+{place - len(sentence) + 1}"
        return sentence[place][column]

    return re.sub(r"%x\[(-?\d+),(\d+)\]", word, template)


def expected(text, sentences):
    lines = [
        line for line in text.splitlines() if line and not line.startswith("#") and line != "B"
    ]
    return [
        Counter(expand(line, sentence, at) for line in lines)
        for sentence in sentences
        for at in range(len(sentence))
    ]


@settings(max_examples=60)
@given(SENTENCES)
def test_attributes_are_those_of_crfpp(sentences):
    templates = Templates.from_crfpp(CHUNKING)
    assert rows_of(templates.fit_transform(sentences)) == expected(CHUNKING, sentences)


def test_a_line_that_stands_twice_counts_twice():
    rows = Templates.from_crfpp("U:%x[0,0]\nU:%x[0,0]\n").fit_transform([["a"]])
    assert rows[0] == [{"U:a": 2.0}]


def test_names_and_what_they_go_with():
    templates = Templates.from_crfpp(CHUNKING).fit([SENTENCE])
    names = templates.get_feature_names_out().tolist()
    assert {"U00:_B-2", "U05:_B-1/He", "U20:_B-1/PRP/VBZ", "U:reckons", "B1:DT"} <= set(names)
    assert [name for name, on in zip(names, templates.on_transitions_, strict=True) if on] == [
        name for name in names if name.startswith("B")
    ]
    assert (templates.on_states_ == ~templates.on_transitions_).all()
    assert templates.label_bigrams_
    assert not Templates.from_crfpp("U00:%x[0,0]\n").fit([SENTENCE]).label_bigrams_


def test_a_file_and_its_text_are_the_same(tmp_path):
    path = tmp_path / "template"
    path.write_bytes(CHUNKING.replace("\n", "\r\n").encode())
    from_file = Templates.from_crfpp(path, min_count=2).fit([SENTENCE])
    from_text = Templates.from_crfpp(CHUNKING, min_count=2).fit([SENTENCE])
    assert from_file.attributes_ == from_text.attributes_
    assert from_file.min_count == 2
    with pytest.raises(FileNotFoundError):
        Templates.from_crfpp("no-such-file")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("u:%x[0,0]", ["u:He", "u:reckons", "u:the", "u:He"]),
        ("U1:%X[ 0,0]  # lower", ["u1:he", "u1:reckons", "u1:the", "u1:he"]),
        ('*a:%t[0,0,"^\\u"]', ["*a:true", "*a:false", "*a:false", "*a:true"]),
        ('u:%m[0,0,"..$"]', ["u:He", "u:ns", "u:he", "u:He"]),
        ('u:%M[0,0,"^\\u\\l*"]', ["u:h", "u:", "u:", "u:h"]),
        ('u:%m[0,0,"^\\u?\\l*$"]', ["u:He", "u:reckons", "u:the", "u:He"]),
        ('u:%t[1,0,"x"]', ["u:false", "u:false", "u:false", "u:true"]),
        ('u:%m[0,1,"\\P\\u"]', ["u:PR", "u:VB", "u:DT", "u:PR"]),
        ("u:%x[@1,0]/%x[@-1,1]", ["u:He/PRP"] * 4),
        ("u:%x[@0,0]", ["u:_x-1"] * 4),
        ("u:%x[-9,0]/%x[3,0]", ["u:_x-#/He", "u:_x-#/_x+1", "u:_x-#/_x+2", "u:_x-#/_x+3"]),
        ("u:100", ["u:100"] * 4),
    ],
)
def test_wapiti(line, names):
    rows = Templates.from_crfpp(line + "\n", dialect="wapiti").fit_transform([SENTENCE])
    assert [list(token) for token in rows[0]] == [[name] for name in names]
    assert rows.on_states.all()
    assert rows.on_transitions.all() == line.startswith("*")


def test_a_dialect_is_found():
    assert Templates.from_crfpp("U:%x[0,0]\n").syntax == "crfpp"
    for text in ("u:%x[0,0]\n", "*\n", "U:%X[0,0]", 'U:%t[0,0,"a"]', "U:%x[ 0,0]", "U:%x[@1,0]"):
        assert Templates.from_crfpp(text).syntax == "wapiti"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X:%x[0,0]", "line 1: column 1: a template begins with U, B, not 'X'"),
        ("# a\nU0:%x[0,0]\nU1:%x[0]", "line 3: column 6: expected [row,column] after %x"),
        ("U1:%x[0,0", 'line 1: column 10: expected "]"'),
        ("U1:%x[0,a]", "line 1: column 6: expected [row,column]"),
        ("U1:a%", "line 1: column 5: '%' is no command; CRF++ has %x"),
        ("U1:%x[0,0]%z[0,0]", "line 1: column 11: '%z' is no command"),
        ("u:%q[0,0]", "line 1: column 3: '%q' is no command; Wapiti has %x, %t and %m"),
        ("u:%t[0,0]", 'line 1: column 9: expected ,"regular expression"'),
        ('u:%t[0,0,"*a"]', "line 1: column 11: '*' must follow a character"),
        ('u:%m[0,0,"a"', 'line 1: column 13: expected "]"'),
        ("u:%x[*1,0]", "line 1: column 5: rows that a column gives (*) are not supported"),
    ],
)
def test_errors_name_line_and_column(text, message, tmp_path):
    with pytest.raises(FormatError, match=re.escape(message)):
        Templates.from_crfpp(text + "\n")
    path = tmp_path / "template"
    path.write_text(text, encoding="utf-8")
    line, rest = re.match(r"line (\d+): (.*)", message).groups()
    with pytest.raises(FormatError, match=re.escape(f"{path}:{line}: {rest}")):
        Templates.from_crfpp(path)


def test_a_column_that_is_not_there():
    with pytest.raises(DataError, match=r"no column '2'.*'0', '1'"):
        Templates.from_crfpp("U:%x[0,2]").fit([SENTENCE])
