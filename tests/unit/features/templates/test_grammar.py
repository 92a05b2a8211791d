"""The text form: what it means, that objects write it, and errors with line and column."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import FormatError, ParameterError
from separatrix.features.templates import (
    PRESETS,
    Templates,
    WordMap,
    bag,
    bias,
    both,
    column,
    ngrams,
    preset,
    transitions,
)
from separatrix.features.templates.compiled import templates_of
from separatrix.features.templates.grammar import parse

word, pos = column("word"), column("pos")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("bias", [bias()]),
        ("word", [word[0]]),
        ("word[-1]", [word[-1]]),
        ("word[+1]", [word[1]]),
        ("word[-2..2]", [word.window(-2, 2)]),
        ("0[1]", [column(0)[1]]),
        ('"my column"', [column("my column")[0]]),
        (r'"a\"b\\"', [column('a"b\\')[0]]),
        ('"bias"', [column("bias")[0]]),
        ("word & pos[1]", [word & pos[1]]),
        ("lower( word )[1]", [word.lower()[1]]),
        ("suffix(lower(word), 3)", [word.lower().suffix(3)[0]]),
        (r'found(word, "\d+\"#")', [word.found(r"\d+\"#")[0]]),
        ("listed(word, cities)", [word.listed("cities")[0]]),
        ('listed(lower(word), "big cities")', [word.lower().listed("big cities")[0]]),
        ("bag(word[-1..1]) & pos", [bag(word.window(-1, 1)) & pos]),
        ("ngrams(pos[-2..2], 2..3)", [ngrams(pos.window(-2, 2), 2, 3)]),
        ("transitions: word & pos", [transitions(word & pos)]),
        ("both: word", [both(word)]),
        ("# only a comment\n\n  word  # and one more\r\n", [word[0]]),
        ("prefix(word, 1..2)", [word.prefix(1)[0], word.prefix(2)[0]]),
    ],
)
def test_text_and_objects_agree(text, terms):
    assert templates_of(parse(text)) == templates_of(terms)


def test_ranges_of_one_conjunction_are_multiplied():
    found = {
        template.parts for template in templates_of(parse("word[-1..0] & prefix(pos, 1..2)[3]"))
    }
    assert found == {
        (word[o].alternatives[0][0], pos.prefix(n)[3].alternatives[0][0])
        for o in (-1, 0)
        for n in (1, 2)
    }


VALUES = st.builds(
    lambda name, maps: [name := getattr(name, m)(*a) for m, *a in maps][-1] if maps else name,
    st.sampled_from([word, pos, column(7), column("a b"), column("bias"), column('"')]),
    st.lists(
        st.sampled_from(
            [
                ("lower",),
                ("suffix", 3),
                ("case",),
                ("found", r"[\d]+"),
                ("matches", r"\\"),
                ("short_shape",),
            ]
        ),
        max_size=3,
    ),
)
TERMS = st.one_of(
    st.just(bias()),
    st.builds(lambda value, o: value[o], VALUES, st.integers(-9, 9)),
    st.builds(
        lambda value, o, n: value.window(o, o + n), VALUES, st.integers(-3, 3), st.integers(0, 3)
    ),
    st.builds(lambda value, n: ngrams(value.window(-2, 2), n), VALUES, st.integers(1, 4)),
    st.builds(lambda value: bag(value.window(-1, 1)), VALUES),
)


@settings(max_examples=100)
@given(TERMS, TERMS, st.sampled_from([lambda term: term, transitions, both]))
def test_what_objects_write_is_read_back(first, second, mark):
    term = mark(first & second)
    again = templates_of(parse(str(term)))
    assert Counter(again) == Counter(templates_of([term]))


def test_quotes_in_a_regular_expression_get_a_backslash():
    (term,) = parse(str(word.found('a"|\\"')[0]))
    assert term == word.found(r"a\"|\"")[0]
    assert term.alternatives[0][0].value.maps[0]('b"') == '"'


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("word[-1", "line 1: column 8", 'expected "]"'),
        ("bias\nword[1]]", "line 2: column 8", 'expected "&" or the end'),
        ("\n\nsufix(word, 2)", "line 3: column 1", "no map 'sufix'"),
        ("suffix(word)", "line 1: column 12", 'expected ","'),
        ("suffix(word, a)", "line 1: column 14", "expected a number"),
        ("suffix(word, 0)", "line 1: column 1", "a number from 1 on"),
        ("word[2..-2]", "line 1: column 6", "the range 2..-2 is empty"),
        ("word[0..99999999]", "line 1: column 6", "too long"),
        ("word[@0]", "line 1: column 7", "places count from @1"),
        ("word &", "line 1: column 7", "expected a column or a map"),
        ("& word", "line 1: column 1", "expected a column or a map"),
        ('found(word, "[")', "line 1: column 1", "no regular expression"),
        ('found(word, "a', "line 1: column 13", "a quote that does not end"),
        ("found(word, a)", "line 1: column 13", "a regular expression in quotes"),
        ("word % 2", "line 1: column 6", "unexpected '%'"),
        ("lower(word, 2)", "line 1: column 11", 'expected ")"'),
        ("ngrams(word, 2)", "line 1: column 1", "do not fit a window of 1"),
        ("ngrams(word[0..2], 0)", "line 1: column 1", "ngrams of 0 to 0 places"),
        ("bag(prefix(word, 1..2)[0..1])", "line 1: column 1", "bag needs a window"),
        ("lower(listed(word, a))", "line 1: column 1", "no map can follow listed"),
        ("bias[1]", "line 1: column 5", 'expected "&"'),
        ("-1", "line 1: column 1", "expected a column"),
    ],
)
def test_errors_name_line_and_column(text, place, message):
    with pytest.raises(FormatError, match=re.escape(message)) as caught:
        parse(text)
    assert str(caught.value).startswith(f"{place}: ")
    with pytest.raises(FormatError):
        Templates(text).fit([["a"]])


@settings(max_examples=300)
@given(st.text('word[]()&,."1-@:bag#\n \\'))
def test_any_text_is_read_or_refused(text):
    try:
        templates_of(parse(text))
    except FormatError as error:
        message = str(error)
    else:
        message = "line 1: column 1: none"
    assert re.match(r"line \d+: column \d+: ", message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: column(""), "named by a string"),
        (lambda: column(None), "named by a string"),
        (lambda: word.window(2, 1), "must not end before"),
        (lambda: word[0:2], "a place is a whole number"),
        (lambda: word.prefix(0), "a number from 1 on"),
        (lambda: word.found("("), "no regular expression"),
        (lambda: WordMap("upper"), "there is no map 'upper'"),
        (lambda: WordMap("lower", 3), "takes no argument"),
        (lambda: ngrams(word[0] & pos, 2), "ngrams needs a window"),
        (lambda: transitions(word) & both(pos), "a conjunction goes with"),
        (lambda: preset("parsing"), "there is no preset 'parsing'"),
        (lambda: Templates([3]).fit([["a"]]), "expected a line or a term"),
        (lambda: Templates(3).fit([["a"]]), "spec must be"),
        (lambda: Templates("# nothing").fit([["a"]]), "there is no template"),
    ],
)
def test_wrong_objects_are_refused(make, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        make()


def test_presets_hold_what_they_promise():
    chunking = {str(t) for t in templates_of(preset("chunking"))}
    assert len(templates_of(preset("chunking"))) == len(chunking) == 20
    names = [template.literals[0] for template in templates_of(parse(PRESETS["pos"]))]
    assert len(names) == len(set(names)) == 28
    for name in PRESETS:
        rows = Templates(name).fit_transform([[("The", "DT"), ("cat", "NN")], [("Sat", "VB")]])
        assert rows.matrix.shape[0] == 3
