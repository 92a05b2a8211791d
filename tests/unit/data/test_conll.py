"""CoNLL columns and CoNLL-U: what a plain loop reads, round trips, errors."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import _safe_indexing

from separatrix.data import TokenColumn, TokenSequences, chunks, read, write_conll
from separatrix.errors import DataError, FormatError, ParameterError


def plain_loop(text):
    sentences, tokens = [], []
    for line in text.split("\n"):
        fields = line.split()
        if fields and fields[0] != "-DOCSTART-":
            tokens.append(tuple(fields))
        elif tokens:
            sentences.append(tokens)
            tokens = []
    return sentences + ([tokens] if tokens else [])


def joined(data):
    """Sentences with the target as the last column again."""
    return [
        [(*token, label) for token, label in zip(*pair, strict=True)]
        for pair in zip(data.X, data.y, strict=True)
    ]


TEXT = (
    "-DOCSTART- -X- O\n\n\nthe DT B-NP\ncat NN I-NP\r\n\n \t\n# # B\n\u00e9t\u00e9\u00a0x N O\n\n\n"
)


def test_sentences_are_those_of_a_plain_loop():
    data = read(TEXT.encode(), "conll")
    assert joined(data) == [
        [("the", "DT", "B-NP"), ("cat", "NN", "I-NP")],
        [("#", "#", "B"), ("été\u00a0x", "N", "O")],
    ]
    assert data.X[1] == [("#", "#"), ("été\u00a0x", "N")]
    assert data.X[-1] == data.X[1]
    assert data.X[:1] == data.X.tolist()[:1]
    assert data.y[0] == ["B-NP", "I-NP"]
    assert data.y.tolist() == [["B-NP", "I-NP"], ["B", "O"]]
    assert data.y.vocabulary[1] == "I-NP"
    assert data.X.lengths.tolist() == [2, 2]
    assert (data.kind, data.feature_names, data.target_name) == ("sequences", ("0", "1"), "2")


UNIVERSAL = (
    "# newdoc id = a\n# text = dal gatto\n1-2\tdal\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tda\tda\tADP\tE\t_\t3\tcase\t_\t_\n2\til\til\tDET\tRD\t_\t3\tdet\t_\t_\r\n"
    "2.1\tx\t_\tX\t_\t_\t_\t_\t_\t_\n3\tgatto\tgatto\tNOUN\tS\t_\t0\troot\t_\tA=b\n\n"
    "# sent_id = 2\n1\tsì\tsì\tINTJ\tI\t_\t0\troot\t_\t_\n\n# newdoc\n"
    "1\tno\tno\tINTJ\tI\t_\t0\troot\t_\t_\n\n# the end\n"
)


def tagged(text, format, target, label="X", proba=None, n=10_000):
    """The text with every label replaced, read `n` sentences at a time."""
    pieces = chunks(text.encode(), n, format, target=None)
    parts = []
    for piece in pieces:
        labels = [label] * int(piece.X.offsets[-1])
        parts += piece.X.written.labeled(labels, target, proba and [proba] * len(labels))
    return b"".join(parts).decode()


@pytest.mark.parametrize("n", [1, 2, 100])
def test_conllu_comes_back_with_only_one_column_replaced(n):
    expected = UNIVERSAL
    for word, tag in (("da\tda", "ADP"), ("il\til", "DET"), ("gatto\tgatto", "NOUN")):
        expected = expected.replace(f"{word}\t{tag}", f"{word}\tX")
    expected = expected.replace("\tINTJ\t", "\tX\t")
    assert tagged(UNIVERSAL, "conllu", "upos", n=n) == expected
    assert tagged(UNIVERSAL, "conllu", "xpos", "_", n=n).count("\n") == UNIVERSAL.count("\n")
    added = tagged(UNIVERSAL, "conllu", "2", n=n)
    assert added == UNIVERSAL.replace("\t_\n2\til", "\tLabel=X\n2\til").replace(
        "det\t_\t_", "det\t_\tLabel=X"
    ).replace("A=b", "A=b|Label=X").replace("root\t_\t_", "root\t_\tLabel=X")
    sure = tagged(UNIVERSAL, "conllu", "upos", proba="0.5000", n=n)
    assert sure == expected.replace("\t_\n2\tx", "").replace(
        "case\t_\t_", "case\t_\tProb=0.5000"
    ).replace("det\t_\t_", "det\t_\tProb=0.5000").replace("A=b", "A=b|Prob=0.5000").replace(
        "root\t_\t_", "root\t_\tProb=0.5000"
    )


@pytest.mark.parametrize("n", [1, 2, 100])
def test_lines_of_conll_stay_aligned(n):
    text = (
        "# id 1 of 2\n-DOCSTART- -X- O\n\nthe  DT B \r\ncat NN I\n\n \n# # B\n\n# id 2 of 2\nx Y O"
    )
    lines = tagged(text, "conll", "2", n=n).split("\n")
    assert lines == [
        "# id 1 of 2", "-DOCSTART- -X- O", "", "the  DT B X\r", "cat NN I X", "", " ", "# # B X",
        "", "# id 2 of 2", "x Y O X",
    ]  # fmt: skip
    tabs = "a b\t\tO\n\n-DOCSTART-\tO\tO\n\nc\td\tO\n"
    assert tagged(tabs, "conll", "2", proba="0.1", n=n) == (
        "a b\t\tO\tX\t0.1\n\n-DOCSTART-\tO\tO\n\nc\td\tO\tX\t0.1\n"
    )
    with pytest.raises(DataError, match="label 'a b' cannot be written"):
        tagged(text, "conll", "2", "a b", n=n)


def test_documents_are_numbered():
    assert read(UNIVERSAL.encode(), "conllu").X.documents.tolist() == [1, 1, 2]
    text = b"a X\n\n-DOCSTART- O\n\nb Y\n\nc Z\n-DOCSTART- O\nd X\n"
    data = read(text, "conll")
    assert data.X.documents.tolist() == [0, 1, 1, 2]
    assert data.take([3, 0]).X.documents.tolist() == [2, 0]
    assert data.X.joined(data.X).documents.tolist() == [0, 1, 1, 2, 3, 4, 4, 5]
    assert read(b"a X\n\nb Y\n", "conll").X.documents is None


def test_words_of_all_lengths_and_controls():
    # Words of 1 to 20 bytes, at the end of the text too, and bytes below the space that are none.
    lines = [f"{'x' * n} {'é' * n}a\x01b {'z' * (n % 9 + 1)}" for n in range(1, 21)]
    for cut in range(1, 21):
        text = "\n".join(lines[:cut])
        assert joined(read(text.encode(), "conll")) == plain_loop(text)


def test_options():
    data = read(b"a b c\n", "conll", names=["word", "tag", "chunk"], target="tag")
    assert data.X.names == ("word", "chunk")
    assert read(b"a b c\n", "conll", target=None).y is None
    assert read(b"a\nb\n", "conll").y is None
    assert read(b"a b\t\tc\nd\te\tf\n", "conll").X[0] == [("a b", ""), ("d", "e")]
    assert read(b"a b\tc\n", "conll", delimiter=" ").X[0] == [("a", "b")]
    with pytest.raises(ParameterError, match="2 names for 3 columns"):
        read(b"a b c\n", "conll", names=["word", "tag"])
    with pytest.raises(ParameterError, match="did you mean 'chunk'"):
        read(b"a b c\n", "conll", names=["word", "tag", "chunk"], target="chunks")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"a b c\n\nd e\n", "<bytes>:3: 2 columns, but 3 on line 1"),
        (b"\na b\nc d e\n", "<bytes>:3: 3 columns, but 2 on line 2"),
        (b"a b\n\xff\xfe c\n", "<bytes>:2: byte 0xff in"),
        (b"\n\n", "<bytes>: there are no tokens"),
        (b"-DOCSTART- O\n", "<bytes>: there are no tokens"),
    ],
)
def test_errors_name_the_line(text, told):
    with pytest.raises(FormatError) as caught:
        read(text, "conll")
    assert str(caught.value).startswith(told)


def row(number, form, upos="X"):
    return "\t".join([str(number), form, "_", upos, "_", "_", "0", "root", "_", "_"]) + "\n"


def test_universal_dependencies():
    text = (
        "# sent_id = 1\n# text = dal mare\n"
        + row("1-2", "dal", "_") + row(1, "da", "ADP") + row(2, "il", "DET")
        + row(3, "mare", "NOUN")
        + row("3.1", "empty", "_") + "\n# sent_id = 2\n" + row(1, "a b", "X") + "\n# after\n"
    )  # fmt: skip
    data = read(text.encode())
    assert data.format == "conllu"
    assert data.X.columns["form"].tolist() == [["da", "il", "mare"], ["a b"]]
    assert data.y.tolist() == [["ADP", "DET", "NOUN"], ["X"]]
    assert data.target_name == "upos"
    assert data.X.comments == (("# sent_id = 1", "# text = dal mare"), ("# sent_id = 2",))
    assert data.take([1]).X.comments == (("# sent_id = 2",),)
    pieces = list(chunks(text.encode(), 1))
    assert [piece.X.comments for piece in pieces] == [(c,) for c in data.X.comments]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1\ta\n", "<bytes>:1: 2 columns where CoNLL-U has 10"),
        ("# c\n" + row("x", "a"), "<bytes>:2: 'x' is not the number of a token"),
        (row("1-", "a"), "<bytes>:1: '1-' is not the number"),
    ],
)
def test_errors_of_universal_dependencies(text, told):
    with pytest.raises(FormatError) as caught:
        read(text.encode(), "conllu")
    assert str(caught.value).startswith(told)


words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff\t\n\r\x0b\x0c "),
    min_size=1,
).filter(lambda word: not word.startswith("-DOCSTART-"))
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff\t\n\r"))


def tokens(word):
    return st.lists(
        st.lists(st.tuples(word, words, words), min_size=1, max_size=4), min_size=1, max_size=4
    )


@given(sentences=st.one_of(tokens(words), tokens(anything)), packed=st.booleans())
def test_round_trip(tmp_path_factory, sentences, packed):
    path = tmp_path_factory.mktemp("conll") / ("a.conll.gz" if packed else "a.conll")
    X = [[token[:2] for token in sentence] for sentence in sentences]
    y = [[token[2] for token in sentence] for sentence in sentences]
    if any(token[0].startswith("-DOCSTART-") for sentence in sentences for token in sentence):
        return
    write_conll(path, X, y)
    data = read(path)
    assert data.X.tolist() == X
    assert data.y.tolist() == y
    write_conll(path, data.X, data.y)
    assert read(path).X.tolist() == X


def test_writing_refuses_what_could_not_be_read(tmp_path):
    path = tmp_path / "a.conll"
    with pytest.raises(DataError, match="cannot be written between spaces"):
        write_conll(path, [[("a b", "c")]], separator=" ")
    with pytest.raises(DataError, match="holds a tab or a line end"):
        write_conll(path, [[("a\tb", "c")]])
    with pytest.raises(DataError, match="cannot be the only column"):
        write_conll(path, [["a b"]])
    with pytest.raises(DataError, match="would be passed over"):
        write_conll(path, [[("-DOCSTART-", "c")]])
    with pytest.raises(DataError, match="sequence 1 is empty"):
        write_conll(path, [["a"], []])
    with pytest.raises(DataError, match="different lengths"):
        write_conll(path, [["a"]], [["X", "Y"]])
    with pytest.raises(DataError, match="1 to 2 columns"):
        write_conll(path, [["a", ("b", "c")]])
    with pytest.raises(DataError, match="a NUL"):
        write_conll(path, [["a\0"]])
    with pytest.raises(DataError, match="begin with U\\+FEFF"):
        write_conll(path, [["\ufeff"]])
    with pytest.raises(DataError, match="lone surrogate"):
        write_conll(path, [["\ud800"]])
    with pytest.raises(ParameterError, match="separator"):
        write_conll(path, [["a"]], separator=",")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n", [1, 2, 100])
def test_chunks_join_to_the_whole(n):
    text = "".join(f"w{i % 17} t{i % 3}\n{chr(10) * (i % 5 == 0)}" for i in range(200)).encode()
    whole = read(text, "conll")
    pieces = list(chunks(text, n, "conll"))
    assert all(len(piece) <= n for piece in pieces)
    assert [s for piece in pieces for s in piece.X] == whole.X.tolist()
    assert [s for piece in pieces for s in piece.y] == whole.y.tolist()
    with pytest.raises(FormatError, match="<bytes>:3: 3 columns, but 2 on line 1"):
        list(chunks(b"a b\n\nc d e\n", 1, "conll"))


@pytest.mark.parametrize(
    "text", [b"a\n\nb\t", b"a b\n\nc\td\n", b"a\tb\n\nc\td e\n", b"-DOCSTART-\n\na\tb c\n\nd\te\n"]
)
def test_the_first_token_decides_what_parts_columns_in_chunks_too(text):
    whole = read(text, "conll")
    pieces = list(chunks(text, 1, "conll"))
    assert [s for piece in pieces for s in piece.X] == whole.X.tolist()


def test_rows_are_taken():
    data = read(TEXT.encode(), "conll")
    last = data.take([1])
    assert last.X.tolist() == data.X.tolist()[1:]
    assert last.y.tolist() == data.y.tolist()[1:]
    assert data.take(np.array([False, True])).y.tolist() == last.y.tolist()
    column = TokenColumn.of([["a"]])
    with pytest.raises(DataError, match="other lengths"):
        TokenSequences({"a": column}, np.array([0, 2]))
    with pytest.raises(IndexError):
        data.X[2]


@pytest.mark.data("conll2000", "ud_english_ewt")
def test_real_files_read_as_a_plain_loop_reads_them(data_dir):
    for split in ("train", "test"):
        path = data_dir / "conll2000" / f"{split}.txt.gz"
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            assert joined(read(path)) == plain_loop(stream.read())
    data = read(data_dir / "ud_english_ewt" / "en_ewt-ud-dev.conllu.gz")
    assert len(data) == 2001
    assert len(data.y.vocabulary) == 17
    assert data.X.columns["form"][0][:2] == ["From", "the"]


def test_scikit_learn_takes_rows_without_going_through_strings():
    words = TokenColumn.of([["a", "b"], ["c"], [], ["a"]])
    X, y = TokenSequences({"word": words}, words.offsets), TokenColumn.of([[1, 2], [3], [], [4]])
    (train, test), (labels, _) = (
        [_safe_indexing(part, rows) for rows in (np.array([3, 0]), np.array([1, 2]))]
        for part in (X, y)
    )
    assert isinstance(train, TokenSequences)
    assert train.columns["word"].vocabulary is words.vocabulary
    assert train.columns["word"].tolist() == [["a"], ["a", "b"]]
    assert test.columns["word"].tolist() == [["c"], []]
    assert labels.tolist() == [["4"], ["1", "2"]]
    assert _safe_indexing(y, np.array([True, False, False, True])).tolist() == [["1", "2"], ["4"]]
    assert _safe_indexing(y, 1) == ["3"]
    assert X.shape == y.shape == (4,)
