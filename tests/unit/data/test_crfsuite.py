"""CRFsuite files: attributes, weights, escapes, round trips, errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix import CRF
from separatrix.data import chunks, import_features, read, write_crfsuite
from separatrix.errors import DataError, FormatError

TEXT = (
    b"@weight:2.5\nB\tw=the\tpos=DT:0.5\ta\\:b\\\\c:2\r\nI\tw=cat\t# comment\tx\n\n\n"
    b"# whole line\nO\n\nB\tx\ty:-1e3\tx\n"
)


def test_items_weights_escapes_and_comments():
    data = read(TEXT, "crfsuite")
    assert data.X.tolist() == [
        [{"w=the": 1.0, "pos=DT": 0.5, "a:b\\c": 2.0}, {"w=cat": 1.0}],
        [{}],
        [{"x": 2.0, "y": -1000.0}],
    ]
    assert data.y.tolist() == [["B", "I"], ["O"], ["B"]]
    assert data.sample_weight.tolist() == [2.5, 1.0, 1.0]
    assert data.X.matrix.shape == (4, 6)
    assert data.X.lengths.tolist() == [2, 1, 1]
    assert data.take([2, 0]).X.tolist() == [data.X[2], data.X[0]]
    assert data.take([2, 0]).sample_weight.tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"B\ta\nB\ta:x\n", "<bytes>:2: 'x' in 'a:x' is not a number; a colon in a name is"),
        (b"B\ta:1:2", "<bytes>:1: '1:2' in 'a:1:2'"),
        (b"\nB:1\ta", "<bytes>:2: label 'B:1' has a weight"),
        (b":\ta", "<bytes>:1: ':' has an empty label"),
        (b"B\t:3", "<bytes>:1: ':3' has an empty attribute"),
        (b"@cost:1\nB\ta", "<bytes>:1: '@cost:1' is not @weight:number"),
        (b"@weight:1\n\nB\ta", "<bytes>:1: @weight without a sequence"),
        (b"B\t\xff\n", "<bytes>:1: byte 0xff"),
        (b"\n# x\n", "<bytes>: there are no items"),
    ],
)
def test_errors_name_the_line_and_the_token(text, told):
    with pytest.raises(FormatError) as caught:
        read(text, "crfsuite")
    assert str(caught.value).startswith(told)


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff\t\n\r")
plain = st.text(CHARACTERS, min_size=1)
names = plain.filter(lambda name: name[0] != "#")
labels = plain.filter(lambda name: name[0] not in "#@" and name.strip(" \t\r\n\x0b\x0c"))
items = st.dictionaries(names, st.floats(allow_nan=False), max_size=3)
sequences = st.lists(
    st.lists(st.tuples(items, labels), min_size=1, max_size=3), min_size=1, max_size=3
)


@given(sequences=sequences, weights=st.lists(st.floats(0, 9), min_size=3, max_size=3))
def test_round_trip(tmp_path_factory, sequences, weights):
    path = tmp_path_factory.mktemp("crfsuite") / "a.crfsuite"
    X = [[item for item, _ in sequence] for sequence in sequences]
    y = [[label for _, label in sequence] for sequence in sequences]
    weights = weights[: len(X)]
    write_crfsuite(path, X, y, sample_weight=weights)
    data = read(path)
    assert data.X.tolist() == X
    assert data.y.tolist() == y
    told = np.ones(len(X)) if data.sample_weight is None else data.sample_weight
    np.testing.assert_array_equal(told, weights)
    write_crfsuite(path, data.X, data.y)
    assert read(path).X.tolist() == X


def test_writing_refuses_what_could_not_be_read(tmp_path):
    path = tmp_path / "a.crfsuite"
    for item, told in [("#x", "begins a comment"), ("a\tb", "a tab"), ("", "it is empty")]:
        with pytest.raises(DataError, match=told):
            write_crfsuite(path, [[[item]]], [["B"]])
    for label, told in [("@x", "declaration"), (" ", "blank"), ("#", "comment")]:
        with pytest.raises(DataError, match=told):
            write_crfsuite(path, [[["a"]]], [[label]])
    with pytest.raises(DataError, match="different lengths"):
        write_crfsuite(path, [[["a"]]], [["B", "O"]])
    with pytest.raises(DataError, match="sequence 1 is empty"):
        write_crfsuite(path, [[["a"]], []], [["B"], []])
    with pytest.raises(DataError, match="weights has length 2"):
        write_crfsuite(path, [[["a"]]], [["B"]], sample_weight=[1, 2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n", [1, 2, 9])
def test_chunks_join_to_the_whole(n):
    pieces = list(chunks(TEXT, n, "crfsuite"))
    assert all(len(piece) <= n for piece in pieces)
    whole = read(TEXT, "crfsuite")
    assert [s for piece in pieces for s in piece.X] == whole.X.tolist()
    assert [s for piece in pieces for s in piece.y] == whole.y.tolist()


def test_features_are_imported_for_a_learner(tmp_path):
    X, y = import_features(TEXT)
    whole = read(TEXT, "crfsuite")
    assert X.tolist() == whole.X.tolist()
    assert y.tolist() == whole.y.tolist()
    tokens, tags = [[["a"], ["b"]], [{"a": 2.0}]], [["A", "B"], ["A"]]
    write_crfsuite(tmp_path / "train.crfsuite", tokens, tags)
    X, y = import_features(tmp_path / "train.crfsuite")
    assert CRF().fit(X, y).predict(tokens) == CRF().fit(tokens, tags).predict(tokens) == tags
    assert import_features(TEXT, dtype=np.float32)[0].matrix.dtype == np.float32
    with pytest.raises(FormatError, match="the file is empty"):
        import_features(b"")
