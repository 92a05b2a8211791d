"""What holds for every format: packing, marks, line ends, and files that are not what they seem."""

import gzip
import io
import struct

import numpy as np
import pytest

from separatrix.data import FORMATS, chunks, read
from separatrix.data.formats.detect import detect_content
from separatrix.errors import FormatError, ParameterError

UNIVERSAL = "\t".join(["1", "a", "_", "X", *("_" * 6)]) + "\n\n"
IDX = b"\0\0\x08\x02" + struct.pack(">II", 2, 3) + bytes(range(6))


def parquet():
    pa = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pa.table({"a": [1, 2]}), stream)
    return stream.getvalue()


def arrow():
    pa = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pytest.importorskip("pyarrow.feather").write_feather(pa.table({"a": [1, 2]}), stream)
    return stream.getvalue()


TEXTS = {
    "csv": b"a,class\n1,x\n2,y\n",
    "tsv": b"a\tclass\n1\tx\n2\ty\n",
    "jsonl": b'{"a": 1, "class": "x"}\n{"a": 2, "class": "y"}\n',
    "json": b'[{"a": 1, "class": "x"},\n{"a": 2, "class": "y"}]\n',
    "svmlight": b"1 1:2 3:4\n2 2:1\n",
    "conll": b"a X\nb Y\n\nc Z\n\n",
    "conllu": UNIVERSAL.encode() * 2,
    "crfsuite": b"X\ta=1\tb:2\nY\tb\n\nZ\tc=3\n\n",
}


def content(format):
    made = {"parquet": parquet, "arrow": arrow, "idx": lambda: IDX}
    return TEXTS[format] if format in TEXTS else made[format]()


def shown(data):
    """All that a dataset holds, as text."""
    X = data.X
    if isinstance(X, dict):
        X = {name: column.tolist() for name, column in X.items()}
    elif hasattr(X, "toarray"):
        X = X.toarray().tolist()
    else:
        X = X.tolist()
    return repr((data.kind, X, None if data.y is None else list(data.y), data.feature_names))


def zstandard(data):
    return pytest.importorskip("pyarrow").compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_packed_files_read_as_plain_ones(tmp_path, format, suffix):
    plain = content(format)
    packed = {"": plain, ".gz": gzip.compress(plain), ".zst": b""}[suffix] or zstandard(plain)
    expected = shown(read(plain, format))
    path = tmp_path / f"file.{format}{suffix}"
    path.write_bytes(packed)
    assert shown(read(path, format)) == expected
    assert shown(read(str(path))) == expected
    assert shown(read(io.BytesIO(packed), format)) == expected
    assert shown(read(packed)) == expected  # by content alone
    with open(path, "rb") as stream:
        assert shown(read(stream)) == expected
    if FORMATS[format].chunks is not None:
        assert sum(len(piece) for piece in chunks(path, 1)) == len(read(plain, format))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("pack", [gzip.compress, zstandard])
def test_truncated_packing(format, pack):
    packed = pack(content(format) * 50)
    for keep in (len(packed) // 2, len(packed) - 1):
        with pytest.raises(FormatError, match="truncated"):
            read(packed[:keep], format)
    if FORMATS[format].chunks is not None:
        with pytest.raises(FormatError, match="truncated"):
            list(chunks(packed[: len(packed) - 1], 3, format))


@pytest.mark.parametrize("format", TEXTS)
def test_marks_and_line_ends(format):
    text = TEXTS[format]
    expected = shown(read(text, format))
    for changed in (
        b"\xef\xbb\xbf" + text,
        text.replace(b"\n", b"\r\n"),
        text.rstrip(b"\n"),
        text.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
        text + b"\n\n",
    ):
        assert shown(read(changed, format)) == expected, changed
    assert shown(read(io.StringIO(text.decode()), format)) == expected
    assert shown(read(text.decode().encode("utf-16"), format, encoding="utf-16")) == expected


@pytest.mark.parametrize("format", FORMATS)
def test_empty_files(tmp_path, format):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(FormatError, match="a: the file is empty"):
        read(tmp_path / "a", format)
    with pytest.raises(FormatError, match="the file is empty"):
        read(gzip.compress(b""), format)
    with pytest.raises(FormatError):
        read(b"\n", format)


@pytest.mark.parametrize("format", FORMATS)
def test_binary_files(format):
    noise = np.random.default_rng(0).integers(0, 256, size=5000, dtype=np.uint8).tobytes()
    with pytest.raises(FormatError):
        read(noise, format)
    with pytest.raises(FormatError):
        read(noise.replace(b"\0", b"\1"), format)
    if format in TEXTS:
        with pytest.raises(FormatError, match=":2: a NUL byte: the file is binary"):
            read(b"a\n\0\n", format)


def test_truncated_files_of_text_give_rows_or_an_error():
    for format, text in TEXTS.items():
        for keep in range(1, len(text)):
            told, n = "<bytes>", 1
            try:
                n = len(read(text[:keep], format))
            except FormatError as error:
                told = error.file
            assert told == "<bytes>"
            assert 1 <= n <= 2


LONG = 10_000_000


@pytest.mark.parametrize(
    ("format", "text", "check"),
    [
        ("csv", b"a,b\n1," + b"x" * LONG, lambda data: len(data.X["b"][0]) == LONG),
        ("csv", b",".join([b"u" * 500] * (LONG // 500)), lambda data: len(data.X) == LONG // 500),
        ("tsv", b"a\tb\n1\t" + b"x" * LONG, lambda data: len(data.X["b"][0]) == LONG),
        ("jsonl", b'{"a": "' + b"x" * LONG + b'"}', lambda data: len(data.X["a"][0]) == LONG),
        (
            "svmlight",
            b"1 " + b" ".join(b"%d:1" % j for j in range(1, 1_000_000)),
            lambda data: data.X.nnz == 999_999,
        ),
        ("conll", b"x" * LONG + b" X", lambda data: len(data.X[0][0][0]) == LONG),
        ("conll", b"x " * (LONG // 50), lambda data: len(data.feature_names) == LONG // 50 - 1),
        ("crfsuite", b"X\t" + b"x" * LONG, lambda data: len(data.X.vocabulary[0]) == LONG),
        (
            "conllu",
            UNIVERSAL.replace("a", "x" * LONG, 1).encode(),
            lambda data: len(data.X.columns["form"][0][0]) == LONG,
        ),
    ],
)
def test_one_line_of_ten_megabytes(format, text, check):
    data = read(text, format, **({"text": None} if format in ("csv", "tsv", "jsonl") else {}))
    assert check(data)
    # As another format it is refused, without being quoted.
    with pytest.raises(FormatError) as caught:
        read(text, "jsonl" if format == "svmlight" else "svmlight")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("format", [*TEXTS, "parquet", "arrow", "idx"])
def test_content_tells_the_format(format):
    assert detect_content(content(format)) == format


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (b"# c\n+1 qid:3 1:1 # x\n-1 qid:3 2:1\n", "svmlight"),
        (b"1,2 1:1\n 3:1\n", "svmlight"),
        (b"a,b\n1,2\n", "csv"),
        (b"time,x\n12:30,1\n", "csv"),
        (b"a;b\n1;2\n", "csv"),
        (b"B\tw=a\nI\tw=b\tp\n\n", "crfsuite"),
        (b"the DT B\n\ncat NN I\n", "conll"),
        (b"the\tDT\tB\n\ncat\tNN\tI\n", "conll"),
        (b"# text = a\n" + UNIVERSAL.encode(), "conllu"),
    ],
)
def test_content_tells_the_format_of_variants(text, format):
    assert detect_content(text) == format


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"the DT\ncat NN\n", "the content may be conll or csv; pass format="),
        (b"hello\nworld out there\n", "the format is not plain; pass format="),
        (b"B\tw=a\nI\tw=b\n", "the content may be conll or tsv or crfsuite"),
        (b"\x89PNG\r\n\0", "this is a picture"),
        (b"\x7fELF\r\n\0", "a NUL byte: the file is binary"),
    ],
)
def test_content_that_does_not_tell(text, told):
    with pytest.raises(FormatError, match=told):
        read(text)


def test_names_tell_the_format(tmp_path):
    path = tmp_path / "a.conll"
    path.write_bytes(b"the DT\ncat NN\n")
    assert read(path).format == "conll"
    (tmp_path / "b.TSV").write_bytes(b"a\tb\n1\t2\n")
    assert read(tmp_path / "b.TSV").format == "tsv"


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        read(tmp_path, "csv")
    with pytest.raises(ParameterError, match="a path, bytes or an object"):
        read(17)
    with pytest.raises(ParameterError, match="format must be one of"):
        read(b"a", "xml")


# -- idx ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "dtype"),
    [(8, "u1"), (9, "i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")],
)
def test_idx_elements(code, dtype):
    values = np.arange(-6, 6).reshape(2, 3, 2).astype(dtype)
    head = struct.pack(">BBBB3I", 0, 0, code, 3, 2, 3, 2)
    X = read(head + values.tobytes()).X
    assert X.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(X, values)


def test_idx_labels(tmp_path):
    images, labels = tmp_path / "t-images-idx2-ubyte", tmp_path / "t-labels-idx1-ubyte"
    images.write_bytes(IDX)
    assert read(images).y is None
    labels.write_bytes(b"\0\0\x08\x01\0\0\0\2\3\4")
    assert read(images).y.tolist() == [3, 4]
    assert read(images, target=None).y is None
    assert read(IDX, target=labels).y.tolist() == [3, 4]
    with pytest.raises(FormatError, match="labels need one dimension"):
        read(IDX, target=images)
    labels.write_bytes(b"\0\0\x08\x01\0\0\0\1\3")
    with pytest.raises(ParameterError, match="1 labels for 2 images"):
        read(images)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (IDX[:3], "not an idx file"),
        (IDX[:9], "the header ends early"),
        (IDX[:-1], "takes 6 bytes, there are 5: the file is truncated"),
        (IDX + b"x", "the file is too long"),
        (b"\0\0\x08\x04" + b"\xff" * 16, "too large"),
    ],
)
def test_broken_idx(data, told):
    with pytest.raises(FormatError, match=told):
        read(data, "idx")


def test_a_line_without_end_is_refused_unless_it_is_asked_for():
    text = b"a,b\n1,2\n3," + b"x" * 1_000_000
    with pytest.raises(FormatError, match=r"<bytes>:3: a line of more than 300000 bytes"):
        read(text, line_limit=300_000)
    assert len(read(text, line_limit=None)) == 2


def test_what_becomes_too_much_when_unpacked_is_refused_unless_it_is_asked_for():
    blanks = gzip.compress(b"a,b\n" + b" " * 300_000_000 + b"1,2\n", 1)
    with pytest.raises(FormatError, match="more than 100 times their size"):
        read(blanks, "csv", unpack_limit=100)
    assert len(read(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000), unpack_limit=1)) == 100_000
