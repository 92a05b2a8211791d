"""Which format a file has: its name tells, else its first bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import PurePath

from separatrix.data.formats.delimited import sniff_delimiter
from separatrix.data.formats.idx import ELEMENTS
from separatrix.data.formats.source import SAMPLE, Origin
from separatrix.errors import FormatError

__all__ = ["PACKED", "SUFFIXES", "check_text", "detect", "detect_content", "format_named"]

#: End of the name -> format.
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".conll": "conll",
    ".conllu": "conllu",
    ".crfsuite": "crfsuite",
    ".idx": "idx",
    "-ubyte": "idx",
}
#: Lines that are looked at.
_LINES = 300
#: Ends of the names of packed files.
PACKED = (".gz", ".zst", ".zstd")
_PAIR = re.compile(r"\d+:[-+0-9.einfaEINFA]+")
_SVMLIGHT = re.compile(r"\s*[-+0-9.eE,]*(\s+qid:-?\d+)?(\s+\d+:\S+)*\s*(#.*)?")
#: First bytes of files that are no data here, and what they are.
_OTHERS = (
    (b"PK\x03\x04", "an archive: name it .zip, or .xlsx if it is an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Office document: name it .xls if it is an Excel workbook"),
    (b"SQLite format 3", "an SQLite database: write sqlite:FILE:TABLE"),
    (b"%PDF", "a PDF, which holds no table that can be read; export the table as CSV"),
    (b"\x89PNG", "a picture; images are read as idx files, or given to Python as arrays"),
    (b"\xff\xd8\xff", "a picture; images are read as idx files, or given to Python as arrays"),
    (b"\x80\x04", "a pickle, which may hold code and is not read; write the data as CSV"),
    (b"\x80\x05", "a pickle, which may hold code and is not read; write the data as CSV"),
)
_TOKEN_ID = re.compile(r"\d+([-.]\d+)?")


def detect(origin: Origin) -> str:
    """The format of a file.

    Raises
    ------
    FormatError
        When the file is empty, when it is binary and of no format that is read, and when several
        formats or none fit: the message names them.
    """
    named = format_named(origin.name)
    if named == "json" and origin.sample.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        # Objects one a line are often named so too.
        first, _, rest = origin.sample.strip().partition(b"\n")
        try:
            return "jsonl" if rest.strip() and isinstance(json.loads(first), dict) else named
        except ValueError:
            return named
    return named or detect_content(origin.sample, origin.name)


def format_named(path: str) -> str | None:
    """The format that the end of a name tells, packed or not.

    Examples
    --------
    >>> format_named("data/train.csv.gz"), format_named("README")
    ('csv', None)
    """
    name = PurePath(path).name.lower()
    for packing in PACKED:
        name = name.removesuffix(packing)
    return next((format for end, format in SUFFIXES.items() if name.endswith(end)), None)


def detect_content(sample: bytes, name: str = "<bytes>") -> str:
    """The format that the first bytes of a file tell.

    Examples
    --------
    >>> detect_content(b"1 2:0.5 7:1"), detect_content(b'{"text": "a"}')
    ('svmlight', 'jsonl')
    """
    if not sample:
        raise FormatError("the file is empty", None, name)
    binary = _binary(sample)
    if binary is not None:
        return binary
    check_text(sample, name)
    text = sample.decode("utf-8-sig", errors="replace")
    lines = text.splitlines()
    if len(sample) == SAMPLE and len(lines) > 1:
        lines = lines[:-1]  # cut in the middle
    fits = _fitting(lines[:_LINES])
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise FormatError(f"the format is not plain; {_ask(SUFFIXES.values())}", None, name)
    both = " or ".join(fits)
    raise FormatError(f"the content may be {both}; {_ask(fits)}", None, name)


def _ask(formats: object) -> str:
    names = ", ".join(dict.fromkeys(formats))  # type: ignore[call-overload]
    return f"pass format= (one of {names})"


def _binary(sample: bytes) -> str | None:
    if sample.startswith(b"PAR1"):
        return "parquet"
    if sample.startswith((b"ARROW1", b"FEA1")):
        return "arrow"
    if len(sample) >= 4 and sample[:2] == b"\0\0" and sample[2] in ELEMENTS and sample[3]:
        return "idx"
    return None


def check_text(sample: bytes, name: str) -> None:
    """Raise FormatError for bytes that are no text in UTF-8 or a like encoding."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("the text is UTF-16; pass encoding='utf-16'", 1, name)
    known = next((told for begin, told in _OTHERS if sample.startswith(begin)), None)
    if sample[8:9] == b"{" and b'"format":"separatrix"' in sample[:200]:
        known = "a model of separatrix, not data; it comes first: separatrix predict MODEL FILE"
    if known is not None:
        raise FormatError(f"this is {known}", None, name)
    at = sample.find(b"\0")
    if at >= 0:
        line = sample[:at].count(b"\n") + 1
        raise FormatError("a NUL byte: the file is binary, not text", line, name)


def _fitting(lines: Sequence[str]) -> list[str]:
    """The formats of text that the lines could be."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return []
    if filled[0].lstrip().startswith("["):
        # Of a list of numbers or words too: the reader tells what is wrong with it.
        return ["json"]
    if filled[0].strip() == "{":
        return ["json"]
    if filled[0].lstrip().startswith("{"):
        try:
            return ["jsonl"] if isinstance(json.loads(filled[0]), dict) else []
        except ValueError:
            # A first line longer than the sample is cut.
            return ["jsonl"] if len(filled) == 1 else []
    rows = [line for line in filled if not line.lstrip().startswith("#")]
    if rows and any(_PAIR.search(row) for row in rows) and all(map(_SVMLIGHT.fullmatch, rows)):
        return ["svmlight"]
    tabbed = [row.split("\t") for row in rows]
    if tabbed and all(len(row) == 10 and _TOKEN_ID.fullmatch(row[0]) for row in tabbed):
        return ["conllu"]
    last = max(at for at, line in enumerate(lines) if line.strip())
    gaps = any(not line.strip() for line in lines[:last])
    return _in_columns(filled, gaps)


def _in_columns(filled: Sequence[str], gaps: bool) -> list[str]:
    tabbed = [row.split("\t") for row in filled]
    widths = {len(row) for row in tabbed}
    spaced = {len(row.split()) for row in filled}
    attributes = [field for row in tabbed for field in row[1:]]
    marked = sum("=" in field or ":" in field for field in attributes)
    if gaps:
        if min(widths) > 1 and (len(widths) > 1 or 2 * marked > len(attributes)):
            return ["crfsuite"]
        even = len(spaced) == 1 and spaced != {1}
        return ["conll"] if even or (len(widths) == 1 and widths != {1}) else []
    delimiter = sniff_delimiter(filled)
    if delimiter is None:
        if len(spaced) == 1 and spaced != {1}:
            return ["conll", "csv"]  # one sentence, or a table parted by space
        return ["crfsuite"] if min(widths) > 1 and 2 * marked > len(attributes) else []
    if delimiter == "\t":
        return ["conll", "tsv", "crfsuite"] if 2 * marked > len(attributes) else ["tsv"]
    return ["csv"]
