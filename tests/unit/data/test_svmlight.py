"""svmlight: what scikit-learn reads, round trips, options, errors."""

import io
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from separatrix.data import LabelSets, chunks, read, write_svmlight
from separatrix.errors import DataError, FormatError, ParameterError


def same(ours, theirs):
    assert ours.shape == theirs.shape
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    # To the bit: signs of zeros and all.
    np.testing.assert_array_equal(ours.data.view(np.int64), theirs.data.view(np.int64))


def random_rows(seed, n=200, d=300):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.05, format="csr", random_state=seed)
    X.data = rng.normal(size=X.nnz) * 10.0 ** rng.integers(-300, 300, size=X.nnz)
    return X, rng.integers(-3, 4, size=n).astype(float)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("zero_based", [True, False])
def test_generated_files_read_as_scikit_learn_reads_them(seed, zero_based):
    X, y = random_rows(seed)
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=zero_based, comment="made\nby hand")
    ours = read(text.getvalue(), "svmlight")
    theirs, labels = load_svmlight_file(io.BytesIO(text.getvalue()))
    same(ours.X, theirs)
    np.testing.assert_array_equal(ours.y, labels)
    assert ours.X.indices.dtype == np.int32
    assert (ours.kind, ours.format, ours.query) == ("matrix", "svmlight", None)


AWKWARD = b"""# a comment

1 1:0.1 7:1e-320 9:123456789012345678901234567890 # 11:2
-1 qid:9
+1\t2:-0.0   3:.5 4:5. 5:1E+2 6:inf 7:-Infinity 8:0.30000000000000004\r
  3.5 1:9007199254740993 2:17976931348623157e292 3:2.2250738585072011e-308
"""


def test_awkward_lines_read_as_scikit_learn_reads_them():
    text = AWKWARD.replace(b"qid:9", b"1:3")
    ours = read(text, "svmlight")
    theirs, labels = load_svmlight_file(io.BytesIO(text))
    same(ours.X, theirs)
    np.testing.assert_array_equal(ours.y, labels)


@given(st.floats(allow_nan=False))
def test_every_double_reads_as_python_reads_it(value):
    for text in (repr(value), f"{value:.17g}", f"{value:.25e}", f"{value:.3g}"):
        data = read(f"1 1:{text}".encode(), "svmlight").X.data
        assert data.view(np.int64)[0] == np.array([float(text)]).view(np.int64)[0], text


def test_label_sets_and_queries():
    data = read(b"3,1 qid:4 1:1\n qid:4 2:1\n2 qid:5\n", "svmlight")
    assert list(data.y) == [(1.0, 3.0), (), (2.0,)]
    assert data.multilabel
    assert data.query.tolist() == [4, 4, 5]
    expected, labels, query = load_svmlight_file(
        io.BytesIO(b"3,1 qid:4 1:1\n2 qid:5 2:1\n"), multilabel=True, query_id=True
    )
    ours = read(b"3,1 qid:4 1:1\n2 qid:5 2:1\n", "svmlight", multilabel=True)
    same(ours.X, expected)
    assert list(ours.y) == labels
    assert ours.query.tolist() == query.tolist()
    assert list(read(b"1 1:1\n2 1:1", "svmlight", multilabel=True).y) == [(1.0,), (2.0,)]
    # Whole numbers that no integer of 64 bits holds.
    for label in ("1e300", "9223372036854775808", "-1e19"):
        (row,) = read(f"1,{label} 1:1".encode(), "svmlight").y
        assert set(row) == {1.0, float(label)}


def test_options():
    assert read(b"1 1:1", "svmlight", zero_based=True).X.shape == (1, 2)
    assert read(b"1 1:1", "svmlight", n_features=5).X.shape == (1, 5)
    assert read(b"1 1:1", "svmlight", dtype=np.float32).X.dtype == np.float32
    wide = read(b"1 4000000000:1", "svmlight").X
    assert wide.indices.dtype == np.int64
    assert wide.shape == (1, 4_000_000_000)
    with pytest.raises(ParameterError, match="header means nothing for svmlight"):
        read(b"1 1:1", "svmlight", header=True)
    with pytest.raises(ParameterError, match="zero_based must be"):
        read(b"1 1:1", "svmlight", zero_based="maybe")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"1 1:1\n1 40:1 12:2\n", "<bytes>:2: index 12 after 40: indices must rise"),
        (b"1 5:1 5:2\n", "<bytes>:1: index 5 twice: indices must rise"),
        (b"\n# x\none 1:1", "<bytes>:3: label 'one' is not a number"),
        (b"1 1:1 2:x", "<bytes>:1: 'x' in '2:x' is not a number"),
        (b"1 1:1_0", "<bytes>:1: '1_0' in '1:1_0' is not a number"),
        (b"1 1:", "<bytes>:1: '' in '1:' is not a number"),
        (b"1 -3:1", "<bytes>:1: index '-3' in '-3:1' is not a whole number"),
        (b"1 7", "<bytes>:1: '7' is not index:value"),
        (b"1 1:1 qid:3", "<bytes>:1: 'qid:3' must follow the label"),
        (b"1 qid:x 1:1", "<bytes>:1: 'qid:x' is not a query number"),
        (b"1 qid:1 1:1\n\n1 1:1", "<bytes>:3: no qid, but the lines before have one"),
        (b"1 1:1\n2:1", "<bytes>:2: no label"),
        (b"1 12345678901234567890:1", "<bytes>:1: index '12345678901234567890' is too large"),
        (b"# nothing\n", "<bytes>: there are no rows"),
    ],
)
def test_errors_name_the_line_and_the_token(text, told):
    with pytest.raises(FormatError) as caught:
        read(text, "svmlight")
    assert str(caught.value).startswith(told)


def test_errors_of_options():
    with pytest.raises(FormatError, match="index 0, but indices count from one"):
        read(b"1 0:1", "svmlight", zero_based=False)
    with pytest.raises(FormatError, match="<bytes>:2: index 9, but there are 3 features"):
        read(b"1 1:1\n1 9:1", "svmlight", n_features=3)
    with pytest.raises(DataError, match="counts from zero"):
        read(b"1 0:1\n1 3:1", "svmlight", n_features=3)
    with pytest.raises(FormatError, match=r"<bytes>:2: several labels"):
        read(b"1 1:1\n1,2 1:1", "svmlight", multilabel=False)


def test_the_first_error_in_the_file_is_told_on_any_number_of_threads(tmp_path):
    lines = [f"{i % 3} {1 + i % 50}:{i}" for i in range(100_000)]
    lines[70_000], lines[90_000] = "x", "1 3:y"
    for n_jobs in (1, 2, 5):
        with pytest.raises(FormatError, match="<bytes>:70001: label 'x'"):
            read("\n".join(lines).encode(), "svmlight", n_jobs=n_jobs)


rows = st.lists(
    st.dictionaries(
        st.integers(0, 9), st.floats(allow_nan=False, allow_subnormal=True), max_size=5
    ),
    min_size=1,
    max_size=8,
)


@given(
    rows=rows,
    labels=st.lists(st.lists(st.integers(-5, 50), unique=True, max_size=3), min_size=8, max_size=8),
    sets=st.booleans(),
    zero_based=st.booleans(),
    query=st.booleans(),
    packed=st.booleans(),
)
def test_round_trip(tmp_path_factory, rows, labels, sets, zero_based, query, packed):
    path = tmp_path_factory.mktemp("svm") / ("a.svm.gz" if packed else "a.svm")
    indptr = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.array([j for row in rows for j in sorted(row)], dtype=np.int32)
    values = np.array([row[j] for row in rows for j in sorted(row)])
    X = sp.csr_matrix((values, indices, indptr), shape=(len(rows), 10))
    y = [tuple(sorted(s)) for s in labels[: len(rows)]]
    if not sets:
        y = np.array([s[0] + 0.25 if s else 0.0 for s in y])
    queries = np.arange(len(rows)) - 2 if query else None
    write_svmlight(path, X, y, query=queries, zero_based=zero_based)
    data = read(path, zero_based=zero_based, n_features=10, multilabel=sets)
    np.testing.assert_array_equal(data.X.toarray(), X.toarray())
    assert list(data.y) == list(y)
    assert (data.query is None) == (not query)
    if query:
        np.testing.assert_array_equal(data.query, queries)


def test_what_is_written_scikit_learn_reads(tmp_path):
    X, y = random_rows(5)
    write_svmlight(tmp_path / "a.svm", X, y, comment="two\nlines")
    theirs, labels = load_svmlight_file(str(tmp_path / "a.svm"), n_features=X.shape[1])
    same(X, theirs)
    np.testing.assert_array_equal(labels, y)


def test_writing_refuses_what_could_not_be_read(tmp_path):
    path = tmp_path / "a.svm"
    with pytest.raises(DataError, match="labels must be numbers"):
        write_svmlight(path, [[1.0]], ["spam"])
    with pytest.raises(DataError, match="X has 1 rows, y has 2"):
        write_svmlight(path, [[1.0]], [1, 2])
    with pytest.raises(DataError, match="query has 2"):
        write_svmlight(path, [[1.0]], [1], query=[1, 2])
    with pytest.raises(ParameterError, match="Zstandard is read, not written"):
        write_svmlight(tmp_path / "a.zst", [[1.0]], [1])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    write_svmlight(path, [[1.0]], [1])

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_svmlight(path, [[2.0]], [1])
    assert [file.name for file in tmp_path.iterdir()] == ["a.svm"]
    assert path.read_text(encoding="utf-8") == "1 1:1\n"


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_chunks_join_to_the_whole(tmp_path, n):
    X, y = random_rows(1)
    path = tmp_path / "a.svm.gz"
    write_svmlight(path, X, y)
    pieces = list(chunks(path, n))
    assert all(len(piece) <= n for piece in pieces)
    whole = read(path)
    same(sp.vstack([piece.X for piece in pieces], format="csr"), whole.X)
    np.testing.assert_array_equal(np.concatenate([piece.y for piece in pieces]), whole.y)


def test_chunks_agree_on_labels_columns_and_base():
    text = b"1 1:1\n# c\n2 3:1\n1,2 9:1\n"
    pieces = list(chunks(text, 1, "svmlight"))
    assert [piece.X.shape for piece in pieces] == [(1, 9)] * 3
    assert [list(piece.y) for piece in pieces] == [[(1.0,)], [(2.0,)], [(1.0, 2.0)]]
    given = chunks(text, 2, "svmlight", n_features=20, zero_based=True, multilabel=True)
    assert next(given).X.shape == (1, 20)
    known = {"n_features": 1, "zero_based": False, "multilabel": False}
    with pytest.raises(FormatError, match=":2: rows with and without qid"):
        list(chunks(b"1 qid:1 1:1\n1 1:1", 1, "svmlight", **known))


def test_label_sets():
    sets = LabelSets.of([("b",), (), ("a", "b")])
    assert sets.matrix().toarray().tolist() == [[0, 1], [0, 0], [1, 1]]
    assert sets.matrix(np.array(["a", "b", "c"])).shape == (3, 3)
    assert list(sets.take([2, 0])) == [("a", "b"), ("b",)]
    assert sets[-1] == ("a", "b")
    with pytest.raises(DataError, match="label 'a' is not among the classes"):
        sets.matrix(np.array(["b"]))
    with pytest.raises(IndexError):
        sets[3]


@pytest.mark.data("a9a", "sector", "multilabel")
@pytest.mark.parametrize(
    ("file", "multilabel"),
    [
        ("a9a/a9a.gz", False),
        ("a9a/a9a.t.gz", False),
        ("sector/sector.t.scale.gz", False),
        *((f"multilabel/{name}/test.svm.gz", True) for name in ("scene", "yeast_ml", "emotions")),
        *((f"multilabel/{name}/test.svm.gz", True) for name in ("bibtex", "delicious")),
    ],
)
def test_real_files_read_as_scikit_learn_reads_them(data_dir: Path, file, multilabel):
    theirs, labels = load_svmlight_file(str(data_dir / file), multilabel=multilabel)
    ours = read(data_dir / file)
    same(ours.X, theirs)
    assert list(ours.y) == list(labels)
    assert ours.multilabel == multilabel
