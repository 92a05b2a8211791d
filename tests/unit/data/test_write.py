"""`write`: what is written reads back as the same, or is refused and nothing is left behind."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.data import Dataset, LabelSets, read, write
from separatrix.errors import DataError, ParameterError

TABLES = ["csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "jsonl.gz"]
PEOPLE = (
    b'{"age": 36, "size": 1.5, "ok": true, "city": "Rome, \\"old\\"", "class": "a"}\n'
    b'{"age": null, "size": -2e-300, "ok": false, "city": null, "class": "b"}\n'
    b'{"age": 40, "size": 3.0, "ok": true, "city": "Osl\xc3\xb6\\n2", "class": "a"}\n'
)


def columns(data):
    held = {**data.X, data.target_name: data.y}
    return {
        name: [None if v is None or v != v else v for v in part.tolist()]
        for name, part in held.items()
    }


@pytest.mark.parametrize("end", TABLES)
def test_a_table_reads_back_as_it_was(tmp_path, end):
    if end in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    data = read(PEOPLE)
    path = tmp_path / f"people.{end}"
    write(data, path)
    assert columns(read(path)) == columns(data)
    assert os.listdir(tmp_path) == [path.name]


def test_whole_numbers_with_gaps_stay_whole(tmp_path):
    write(read(b"age,class\n36,a\n,b\n"), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == "age,class\n36,a\n,b\n"


def test_a_file_without_header_keeps_its_order(tmp_path):
    rows = b"a,1.5\nb,2.5\na,3.5\n"
    data = read(rows, header=False, target="0")
    write(data, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == rows


def test_matrices_and_label_sets(tmp_path):
    X = sp.csr_array(np.array([[0, 1.5], [2, 0.25]]))
    matrix = Dataset("matrix", X, np.array([1.0, -1.0]), query=np.array([3, 4]))
    write(matrix, tmp_path / "x.svm")
    again = read(tmp_path / "x.svm")
    np.testing.assert_array_equal(again.X.toarray(), X.toarray())
    assert again.query.tolist() == [3, 4]
    with pytest.raises(DataError, match="queries"):
        write(matrix, tmp_path / "x.csv")
    write(Dataset("matrix", X, np.array([1.0, -1.0])), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()[0] == "x0,x1,target"
    sets = Dataset("table", {"n": np.array([1, 2])}, LabelSets.of([["a", "b"], []]), ("n",), "tags")
    write(sets, tmp_path / "x.jsonl")
    assert list(read(tmp_path / "x.jsonl", target="tags").y) == [("a", "b"), ()]


def test_sequences(tmp_path):
    data = read(b"the DT B\ncat NN I\n\nsat VB O\n")
    write(data, tmp_path / "x.conll")
    assert read(tmp_path / "x.conll").X[0] == data.X[0]


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b'{"code": "7", "class": "a"}\n', "x.csv", "column 'code' .* '7' in row 1 would be 7"),
        (b'{"a": "", "class": "b"}\n{"a": "x", "class": "b"}\n', "x.csv", "would be None"),
        (b'{"a": "1e3", "class": "b"}\n', "x.tsv", "'1e3' in row 1 would be 1000.0"),
        (b'{"2020": 1, "class": "b"}\n', "x.csv", "header"),
        (b'{"tags": ["a"], "class": "b"}\n', "x.csv", "column 'tags' holds lists"),
        (b'{"a": 1, "class": "b"}\n', "x.svm", "labels must be numbers"),
        (b'{"a": "w", "class": 1}\n', "x.svm", "column 'a' does not"),
        (b'{"a": 1, "class": 1}\n', "x.svm", "names of the columns would be lost"),
        (b'{"a": 1}\n', "x.svm", "no target"),
        (b'{"a": 1}\n', "x.conll", "conll files hold sequences, not table"),
        (b"the DT B\ncat NN I\n\nsat VB O\n", "x.csv", "hold table or text or matrix"),
        (b'{"a": 1e999, "class": "b"}\n', "x.jsonl", "infinite"),
    ],
)
def test_what_would_be_lost_is_refused(tmp_path, data, name, message):
    old = tmp_path / name
    old.write_text("old", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        write(read(data), old)
    assert old.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == [name]


def test_comments_are_not_lost_in_silence(tmp_path):
    row = "1\tcats\tcat\tNOUN\t_\t_\t0\troot\t_\t_\n"
    data = read(f"# text = cats\n{row}\n".encode(), "conllu")
    with pytest.raises(DataError, match="comments"):
        write(data, tmp_path / "x.conll")
    write(data, tmp_path / "x.conll", lossy=True)
    assert (tmp_path / "x.conll").exists()


def test_lossy_writes_what_is_asked_for(tmp_path):
    write(read(b'{"zip": "007", "class": "a"}\n'), tmp_path / "x.csv", lossy=True)
    assert (tmp_path / "x.csv").read_text(encoding="utf-8") == "zip,class\n007,a\n"


@pytest.mark.parametrize("name", ["x.xyz", "x", "x.conllu", "x.parquet.gz", "x.csv.zst"])
def test_unwritten_formats_are_said(tmp_path, name):
    with pytest.raises(ParameterError):
        write(read(PEOPLE), tmp_path / name)
    assert os.listdir(tmp_path) == []


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
CELLS = st.one_of(st.none(), WORDS, st.integers(-5, 5), st.booleans(), st.floats(allow_nan=False))


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, WORDS, st.floats(allow_nan=False)), min_size=1, max_size=4),
    end=st.sampled_from(["csv", "tsv", "jsonl"]),
)
def test_whatever_is_written_reads_back(tmp_path_factory, rows, end):
    """A law: `write` refuses, or `read` gives the same values of the same kinds."""
    from separatrix.data.schema import TypedEvidence
    from separatrix.data.tables.columns import from_values

    cells = dict(zip(("first", "second", "third"), zip(*rows, strict=True), strict=True))
    table = {
        name: from_values(list(v), TypedEvidence.of(v).column(name)) for name, v in cells.items()
    }
    data = Dataset("table", table, feature_names=tuple(table))
    path = tmp_path_factory.mktemp("write") / f"x.{end}"
    try:
        write(data, path)
    except DataError:
        assert os.listdir(path.parent) == []
        return
    again = read(path, end, target=None, text=None)
    assert list(again.X) == list(table)
    for name in table:
        before = [None if v is None or v != v else v for v in table[name].tolist()]
        after = [None if v is None or v != v else v for v in again.X[name].tolist()]
        assert before == after
