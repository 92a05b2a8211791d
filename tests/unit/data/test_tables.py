"""CSV, TSV, JSON lines, Parquet and Arrow: kinds of columns, headers, targets, chunks, errors."""

import csv
import datetime
import io
import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.data import chunks, read
from separatrix.errors import FormatError, MissingPackageError, ParameterError

CSV = """id,size,ok,when,color,class
1,2.5,true,2024-01-02,red,a
2,?,FALSE,2024-01-03,NA,b
3,1e3,True,,"light, blue",a
"""


def test_kinds_of_columns():
    data = read(CSV.encode(), "csv")
    X = data.X
    assert X["id"].dtype == np.int64
    np.testing.assert_array_equal(X["size"], [2.5, np.nan, 1000.0])
    assert X["ok"].dtype == np.bool_
    assert X["ok"].tolist() == [True, False, True]
    assert X["when"].dtype == "datetime64[us]"
    assert [str(day)[:10] for day in X["when"]] == ["2024-01-02", "2024-01-03", "NaT"]
    assert X["color"].tolist() == ["red", None, "light, blue"]
    assert data.y.tolist() == ["a", "b", "a"]
    assert (data.kind, data.target_name, data.text_names) == ("table", "class", ())


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], np.array([1, 2])),
        (["1", ""], np.array([1.0, np.nan])),
        (["1", "-2.5e3"], np.array([1.0, -2500.0])),
        ([" 1", "+2 "], np.array([1, 2])),
        (["9223372036854775808", "1"], ["9223372036854775808", "1"]),
        (["999999999999999", "1"], np.array([999999999999999, 1])),
        (["00501", "10001"], ["00501", "10001"]),
        (["0", "0.5"], np.array([0.0, 0.5])),
        (["$51.02", "$1,234.5", "-$3"], np.array([51.02, 1234.5, -3.0])),
        (["1.234,56", "7,5"], np.array([1234.56, 7.5])),
        (["20%", "5.5 %", "0"], np.array([20.0, 5.5, 0.0])),
        (["(12.50)", "3"], np.array([-12.5, 3.0])),
        (["12 kg", "7kg"], np.array([12.0, 7.0])),
        (["12 kg", "7 lb"], ["12 kg", "7 lb"]),
        (["12A", "7B"], ["12A", "7B"]),
        (["1:30", "0:45"], np.array([5400.0, 2700.0])),
        (["5", "-", "unknown"], np.array([5.0, np.nan, np.nan])),
        (["+", "-"], ["+", "-"]),
        (["Yes", "no"], np.array([True, False])),
        (["Yes", "no", "maybe"], ["Yes", "no", "maybe"]),
        (["inf", "1"], np.array([np.inf, 1.0])),
        (["1_000", "2"], ["1_000", "2"]),
        (["\u0661", "2"], ["\u0661", "2"]),
        (["true", "?"], [True, None]),
        (["true", "1"], ["true", "1"]),
        (["", "NA"], np.array([np.nan, np.nan])),
        (["x", "null"], ["x", None]),
    ],
)
def test_values_of_columns(cells, expected):
    text = "a,b\n" + "".join(f'"{cell}",0\n' for cell in cells)
    column = read(text.encode(), "csv", header=True).X["a"]
    if isinstance(expected, np.ndarray):
        assert column.dtype == expected.dtype
        np.testing.assert_array_equal(column, expected)
    else:
        assert column.dtype == object
        assert column.tolist() == expected


def test_header_is_found_or_given():
    assert read(b"a,b\nc,d\n", "csv").feature_names == ("a", "b")
    assert read(b"ham,hello\nspam,free\nham,there\n", "csv").feature_names == ("0", "1")
    assert read(b"1,2\n3,4\n", "csv").feature_names == ("0", "1")
    assert read(b"a,a\n1,2\n", "csv").feature_names == ("a", "a.2")
    assert read(b"2019,2020,y\n1.5,2,a\n1,2.5,a\n", "csv").feature_names == ("2019", "2020")
    assert read(b"1,2,a\n3,4,b\n", "csv").feature_names == ("0", "1", "2")
    assert read(b"1.5,2,c\n3,4,b\n1,2,b\n", "csv").feature_names == ("0", "1", "2")
    assert read(b"red,red\nblue,green\n", "csv").feature_names == ("0", "1")
    assert read(b"a,a,a.2\n1,2,3\n", "csv").feature_names == ("a", "a.3", "a.2")
    twins = read(b"a,a\n1,2\n", "csv").schema.notes
    assert twins == ("two columns are named 'a'; the later one is 'a.2'",)
    assert read(b",x\n0,5\n1,6\n", "csv").feature_names == ("0", "x")
    assert read(b"a,b\nc,d\n", "csv", header=False).X["0"].tolist() == ["a", "c"]
    assert read(b"1,2\n3,4\n", "csv", header=True).feature_names == ("1", "2")
    assert read(b"1,2\n", "csv", names=["p", "q"]).X["q"].tolist() == [2]


def test_delimiters_are_found():
    for mark in ",;|\t":
        data = read(f"a{mark}b\n1{mark}2\n".encode(), "csv")
        assert data.X["b"].tolist() == [2]
    assert read(b"a;b\n1,5;2\n", "csv").X["a"].tolist() == [1.5]
    assert read(b"a\tb\n1,5\t2\n", "tsv").X["b"].tolist() == [2]
    assert read(b"only\n1\n2\n", "csv").X["only"].tolist() == [1, 2]
    assert read(b"a b\n1 2\n", "csv", delimiter=" ").X["b"].tolist() == [2]


def test_target_and_text():
    text = b"label,message,n\nham,hello there how are you today,1\nspam,,2\n"
    data = read(text, "csv")
    assert data.target_name == "label"
    assert read(text, "csv", target="n").y.tolist() == [1, 2]
    assert read(text, "csv", target=-1).target_name == "n"
    assert read(text, "csv", target=None).feature_names == ("label", "message", "n")
    told = read(text, "csv", text="message")
    assert told.text_names == ("message",)
    assert told.documents.tolist() == ["hello there how are you today", ""]
    alone = read(text, "csv", text="message", columns=["message"])
    assert (alone.kind, alone.X.tolist()) == ("text", told.documents.tolist())
    assert data.text_names == ("message",)  # what is missing does not count
    assert read(text, "csv", text=None).text_names == ()
    short = text.replace(b"hello there how are you today", b"hello there")
    assert read(short, "csv").text_names == ()
    with pytest.raises(ParameterError, match="target: there is no column 'lable'; did you mean"):
        read(text, "csv", target="lable")
    with pytest.raises(ParameterError, match="target=7, but there are 3 columns"):
        read(text, "csv", target=7)
    with pytest.raises(ParameterError, match="both target and text"):
        read(text, "csv", target="message", text="message")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n3\n", "<bytes>:3: 1 fields, but 2 on line 1"),
        ("a,b\n1,2\n\n3,4,5\n", "<bytes>:4: 3 fields, but 2 on line 1"),
        ('a,b\n1,"x\n2,3\n', "<bytes>:2: a quote is opened here and never closed"),
        ('a,b\n1,"x"y\n', "<bytes>:2: "),
        ("a,b\n", "<bytes>: there is a header and no row"),
        ("\n\n", "<bytes>: there are no rows"),
        ("a,class\n1,x\n2,?\n", "<bytes>: target 'class' is missing in 1 rows, first in row 2"),
    ],
)
def test_errors_of_csv_name_the_line(text, told):
    with pytest.raises(FormatError) as caught:
        read(text.encode(), "csv", header=True)
    assert str(caught.value).startswith(told)


def test_encodings():
    text = "name,class\nMüller,ä\n"
    with pytest.raises(FormatError, match=r"<bytes>:2: byte 0xfc at column 2 is not UTF-8"):
        read(text.encode("latin-1"), "csv")
    assert read(text.encode("latin-1"), "csv", encoding="latin-1").y.tolist() == ["ä"]
    with pytest.raises(FormatError, match="UTF-16"):
        read(text.encode("utf-16"), "csv")
    assert read(text.encode("utf-16"), "csv", encoding="utf-16").y.tolist() == ["ä"]
    with pytest.raises(FormatError, match="<bytes>:2: byte 0xfc is not ascii"):
        read(text.encode("latin-1"), "csv", encoding="ascii")
    with pytest.raises(ParameterError, match="no encoding 'klingon'"):
        read(b"a\n1\n", "csv", encoding="klingon")


cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=6)


@settings(max_examples=60)
@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=6), st.sampled_from(",;\t"))
def test_csv_round_trip_of_strings(rows, delimiter):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("first", "second"), *rows])
    options = {"header": True, "delimiter": delimiter, "text": ["first", "second"]}
    data = read(stream.getvalue().encode(), "csv", **options)
    assert list(zip(data.X["first"], data.X["second"], strict=True)) == rows


exact = st.integers(-(10**15) + 1, 10**15 - 1)


@given(st.lists(st.floats(), min_size=1, max_size=6), st.lists(exact, min_size=6))
def test_csv_round_trip_of_numbers(floats, integers):
    text = "f,i\n" + "".join(f"{x!r},{k}\n" for x, k in zip(floats, integers, strict=False))
    data = read(text.encode(), "csv", header=True)
    np.testing.assert_array_equal(data.X["f"], np.array(floats))
    assert data.X["i"].tolist() == integers[: len(floats)]


# -- JSON lines --------------------------------------------------------------------------------


def lines(*records):
    return "\n".join(json.dumps(record) for record in records).encode()


def test_json_lines():
    data = read(
        lines(
            {"n": 1, "x": 2, "ok": True, "s": "a", "in": {"deep": {"er": 1}}, "tags": ["u", "v"]},
            {"n": 2, "x": 2.5, "ok": None, "s": None, "new": 3, "tags": []},
        ),
        target="tags",
    )
    assert data.format == "jsonl"
    assert data.X["n"].tolist() == [1, 2]
    assert data.X["x"].tolist() == [2.0, 2.5]
    assert data.X["ok"].tolist() == [True, None]
    assert data.X["s"].tolist() == ["a", None]
    np.testing.assert_array_equal(data.X["in.deep.er"], [1.0, np.nan])
    np.testing.assert_array_equal(data.X["new"], [np.nan, 3.0])
    assert list(data.y) == [("u", "v"), ()]
    with pytest.raises(FormatError, match="target 'y' is missing in 1 rows, first in row 2"):
        read(lines({"y": ["u"]}, {"y": None}), "jsonl")
    assert read(lines({"a": 1}, {"a": "x"}, {"a": True})).X["a"].tolist() == ["1", "x", "true"]
    assert read(lines({"a": 10**30}, {"a": 1})).X["a"].tolist() == [1e30, 1.0]
    assert read(lines({"a": 10**400}, {"a": 1})).X["a"].tolist() == [str(10**400), "1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'{"a": 1}\n{"a": \n', "<bytes>:2: not JSON at column"),
        (b'{"a": 1}\n[1]\n', "<bytes>:2: one object a line is needed, here is a list"),
        (b"{}\n", "<bytes>: there are no rows"),
        (b'{"a": "\xff"}', "<bytes>:1: byte 0xff at column 8"),
        (b'{"a":' * 20 + b"1" + b"}" * 20, "<bytes>:1: objects are nested more than 16 deep"),
        (b'{"a":' + b"[" * 100_000, "<bytes>:1: "),
        (b'{"a":' + b"1" * 10_000 + b"}", "<bytes>:1: not JSON"),
    ],
)
def test_errors_of_json_lines(text, told):
    with pytest.raises(FormatError) as caught:
        read(text, "jsonl")
    assert str(caught.value).startswith(told)


scalars = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))


@settings(max_examples=50)
@given(st.lists(st.fixed_dictionaries({"a": scalars, "b": st.integers()}), min_size=1))
def test_json_lines_round_trip(records):
    data = read(lines(*records), "jsonl", text=None)
    got = data.X["a"].tolist()
    wanted = [record["a"] for record in records]
    if all(value is None for value in wanted):
        assert all(math.isnan(value) for value in got)
    else:
        assert got == wanted
    if max(abs(record["b"]) for record in records) < 2**63:
        assert data.X["b"].tolist() == [record["b"] for record in records]


# -- Parquet and Arrow -------------------------------------------------------------------------


@pytest.fixture(params=["parquet", "arrow"])
def arrow_file(request, tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = (
        pytest.importorskip("pyarrow.feather"),
        pytest.importorskip("pyarrow.parquet"),
    )
    table = pa.table(
        {
            "i": pa.array([1, 2, None, 4]),
            "k": pa.array([1, 2, 3, 4], pa.int16()),
            "f": pa.array([1.5, None, 2.5, 3.5], pa.float32()),
            "b": pa.array([True, None, False, True]),
            "s": pa.array(["x", None, "y", "z"]),
            "c": pa.array(["u", "v", "u", "u"]).dictionary_encode(),
            "d": pa.array([datetime.date(2024, 1, k) for k in (1, 2, 3, 4)]),
            "n": pa.array([{"m": k} for k in range(4)]),
            "labels": pa.array([["p"], [], ["p", "q"], []]),
        }
    )
    path = tmp_path / f"a.{request.param}"
    if request.param == "parquet":
        parquet.write_table(table, path, row_group_size=3)
    else:
        feather.write_feather(table, path)
    return path


def test_arrow_columns(arrow_file):
    data = read(arrow_file)
    X = data.X
    np.testing.assert_array_equal(X["i"], [1, 2, np.nan, 4])
    assert X["k"].dtype == np.int16
    np.testing.assert_array_equal(X["f"], [1.5, np.nan, 2.5, 3.5])
    assert X["b"].tolist() == [True, None, False, True]
    assert X["s"].tolist() == ["x", None, "y", "z"]
    assert X["c"].tolist() == ["u", "v", "u", "u"]
    assert X["d"].dtype.kind == "M"
    assert X["n.m"].tolist() == [0, 1, 2, 3]
    assert list(data.y) == [("p",), (), ("p", "q"), ()]
    assert read(arrow_file, columns=["k"], target="c").y.tolist() == ["u", "v", "u", "u"]


def test_arrow_chunks_have_the_same_kinds(arrow_file):
    whole = read(arrow_file)
    pieces = list(chunks(arrow_file, 2))
    assert all(len(piece) <= 2 for piece in pieces)
    for name, column in whole.X.items():
        assert {piece.X[name].dtype for piece in pieces} == {column.dtype}
        joined = np.concatenate([piece.X[name] for piece in pieces])
        assert [str(v) for v in joined] == [str(v) for v in column]


def test_truncated_arrow_files(arrow_file):
    content = arrow_file.read_bytes()
    for keep in (8, len(content) // 2, len(content) - 1):
        with pytest.raises(FormatError, match="not a whole"):
            read(content[:keep], arrow_file.suffix[1:])


def test_arrow_without_pyarrow(monkeypatch, arrow_file):
    monkeypatch.setitem(sys.modules, "pyarrow.feather", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'separatrix\[parquet\]'"):
        read(arrow_file)


def test_arrow_columns_of_other_types():
    pa = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    stream = io.BytesIO()
    table = pa.table({"a": pa.array([b"x"]), "b": pa.array([1])})
    feather.write_feather(table, stream)
    with pytest.raises(FormatError, match="column 'a' of type binary is not read"):
        read(stream.getvalue())
    assert read(stream.getvalue(), columns=["b"]).X["b"].tolist() == [1]


# -- chunks and frames -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 50])
def test_chunks_have_the_same_kinds_and_join_to_the_whole(n):
    texts = {
        "csv": CSV.encode(),
        "jsonl": lines({"a": 1}, {"a": 2.5, "b": "x"}, {"a": None, "b": None}),
    }
    for format, text in texts.items():
        whole = read(text, format)
        pieces = list(chunks(text, n, format))
        assert all(len(piece) <= n for piece in pieces)
        for name, column in whole.X.items():
            assert {piece.X[name].dtype for piece in pieces} == {column.dtype}
            joined = np.concatenate([piece.X[name] for piece in pieces])
            assert [str(v) for v in joined] == [str(v) for v in column]


def test_chunks_check_their_arguments(tmp_path):
    with pytest.raises(ParameterError, match="n must be a positive"):
        chunks(b"a\n1\n", 0, "csv")
    with pytest.raises(ParameterError, match="no option 'separator'"):
        chunks(b"a\n1\n", 1, "csv", separator=",")
    with pytest.raises(ParameterError, match="idx files are read whole"):
        chunks(b"\0\0\x08\x01\0\0\0\1a", 1)
    with pytest.raises(FormatError, match="<bytes>: there are no rows"):
        list(chunks(b"\n\n", 1, "jsonl"))


@pytest.mark.parametrize("backend", [None, "pandas", "polars", "pyarrow"])
def test_frames(backend):
    if backend:
        pytest.importorskip(backend)
    frame = read(CSV.encode(), "csv").to_frame(backend)
    assert frame.shape == (3, 6)
    texts = read(b'{"text": "a b c d e f"}', columns=["text"])
    assert texts.kind == "text"
    assert texts.to_frame(backend).shape == (1, 1)


def test_columns_of_words_stay_words(tmp_path):
    rows = b"zip,size,class\n00123,1,1\n00456,2,0\n,3,1\n"
    assert read(rows).X["zip"].tolist() == ["00123", "00456", None]
    data = read(rows, kinds={"zip": "category", "class": "category"})
    assert data.X["zip"].tolist() == ["00123", "00456", None]
    assert data.y.tolist() == ["1", "0", "1"]
    assert data.X["size"].dtype == np.int64
    lines = b'{"code": 1, "class": true}\n{"code": null, "class": false}\n'
    data = read(lines, kinds={"code": "category", "class": "category"})
    assert (data.X["code"].tolist(), data.y.tolist()) == (["1", None], ["true", "false"])
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"code": [1, None, 3], "size": [1.5, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "codes.parquet")
    for data in (
        read(tmp_path / "codes.parquet", kinds={"code": "category"}),
        next(chunks(tmp_path / "codes.parquet", 5, kinds={"code": "category"})),
    ):
        assert data.X["code"].tolist() == ["1", None, "3"]
    with pytest.raises(ParameterError, match="did you mean 'zip'"):
        read(rows, kinds={"zipp": "category"})
