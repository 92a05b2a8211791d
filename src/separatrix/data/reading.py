"""`read` and `chunks`: any file of a known format to a `Dataset`, whole or in pieces."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from separatrix.data.dataset import Dataset
from separatrix.data.formats.arrow import chunks_arrow, read_arrow
from separatrix.data.formats.conll import chunks_conll, read_conll
from separatrix.data.formats.crfsuite import chunks_crfsuite, read_crfsuite
from separatrix.data.formats.delimited import chunks_delimited, read_delimited
from separatrix.data.formats.detect import check_text, detect
from separatrix.data.formats.folders import gathered
from separatrix.data.formats.idx import read_idx
from separatrix.data.formats.json_lines import chunks_json_lines, read_json_lines
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import LINE_LIMIT, UNPACK_LIMIT, Origin, naming, origin_of
from separatrix.data.formats.svmlight import chunks_svmlight, read_svmlight
from separatrix.data.schema import Schema
from separatrix.data.sequences.containers import AttributeSequences, TokenColumn
from separatrix.data.tables.values import MISSING
from separatrix.errors import FormatError, ParameterError
from separatrix.validation import check_choice

__all__ = ["FORMATS", "chunks", "import_features", "read"]

_TABLE = frozenset({"target", "text", "columns", "kinds", "schema", "drop_missing_target"})


@dataclass(frozen=True)
class Format:
    """How a format is read, whole and in pieces, and which options it takes."""

    read: Callable[[Origin, str, Options], Dataset]
    chunks: Callable[[Origin, str, int, Options], Iterator[Dataset]] | None
    takes: frozenset[str]
    is_text: bool = True


_DELIMITED = _TABLE | {"header", "delimiter", "missing", "encoding", "names"}
_COLUMNS = frozenset({"target", "names", "encoding"})

#: Name -> how it is read.
FORMATS = {
    "csv": Format(read_delimited, chunks_delimited, _DELIMITED),
    "tsv": Format(read_delimited, chunks_delimited, _DELIMITED),
    "jsonl": Format(read_json_lines, chunks_json_lines, _TABLE | {"encoding"}),
    "json": Format(read_json_lines, chunks_json_lines, _TABLE | {"encoding"}),
    "parquet": Format(read_arrow, chunks_arrow, _TABLE, is_text=False),
    "arrow": Format(read_arrow, chunks_arrow, _TABLE, is_text=False),
    "svmlight": Format(
        read_svmlight,
        chunks_svmlight,
        frozenset({"n_features", "zero_based", "multilabel", "dtype", "encoding"}),
    ),
    "conll": Format(read_conll, chunks_conll, _COLUMNS | {"delimiter"}),
    "conllu": Format(read_conll, chunks_conll, _COLUMNS),
    "crfsuite": Format(read_crfsuite, chunks_crfsuite, frozenset({"dtype", "encoding"})),
    "idx": Format(read_idx, None, frozenset({"target"}), is_text=False),
}


def read(
    path_or_buffer: Any,
    format: str = "auto",
    *,
    target: Any = "auto",
    text: Any = "auto",
    columns: Sequence[str] | None = None,
    kinds: Mapping[str, str] = MappingProxyType({}),
    schema: Schema | None = None,
    header: bool | str = "auto",
    delimiter: str | None = None,
    missing: Sequence[str] = MISSING,
    names: Sequence[str] | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    multilabel: bool | str = "auto",
    dtype: Any = np.float64,
    drop_missing_target: bool = False,
    line_limit: int | None = LINE_LIMIT,
    unpack_limit: int | None = UNPACK_LIMIT,
    n_jobs: int | None = None,
) -> Dataset:
    r"""Read a file of any known format.

    gzip and Zstandard are unpacked on the way, whatever the name. Text is UTF-8, with or without a
    byte-order mark; lines may end as on Windows, and the last one need not end at all.

    Parameters
    ----------
    path_or_buffer : path, bytes, or an object with ``read``
        With format="auto" also a folder with one subfolder of texts or mails per class, a folder of
        images beside one of label images, named "labels" or "masks" (extra ``images``), a mail
        (.eml), a mailbox (.mbox, Maildir), an archive (.zip) of such, an Excel workbook (extra
        ``excel``), several paths or a pattern with ``*``, ``sqlite:FILE:TABLE``, and
        ``duckdb:FILE:TABLE`` (extra ``duckdb``).
    format : str
        "auto" goes by the name, then by the content, and asks when that is not plain. Otherwise

        - "csv", "tsv": quotes as in RFC 4180. Numbers may have marks of thousands, a currency or a
          unit, dates the usual forms, yes and no their words; digits with leading zeros stay words.
          What was decided, and why, stands in the `schema` of the result;
        - "jsonl": one object a line; nested objects become columns ``outer.inner``, lists stay
          lists, a column that mixes kinds becomes strings;
        - "json": an array of such objects, or an object with one such array in it;
        - "parquet", "arrow": through pyarrow (extra ``parquet``);
        - "svmlight": ``label[,label…] [qid:q] index:value … [# comment]``;
        - "conll": one token a line in columns parted by space or tabs, blank lines between
          sentences; ``-DOCSTART-`` lines are passed over;
        - "conllu": ten columns parted by tabs. Comments are kept with their sentence; the lines of
          multiword tokens (``3-4``) and of empty nodes (``5.1``) are passed over, so that the
          syntactic words remain;
        - "crfsuite": ``label TAB attribute[:weight] TAB …`` with ``\:`` and ``\\`` for ``:`` and
          ``\`` in names, ``@weight:v`` before a weighted sequence, blank lines between sequences;
        - "idx": an array of bytes, integers or floats, as MNIST's images.
    target : str, int or None
        The column to predict, by name or position; of idx images, the file of labels. "auto": of a
        table the only column named target, label, labels, class or y, if there is one; the last
        column of CoNLL; UPOS of CoNLL-U; the labels file beside images named as MNIST's. Lists
        become `LabelSets`.
    text : str, int, sequence of these, or None
        Columns of a table that hold texts; there nothing is missing, only empty. "auto": strings
        of three words or more on average, most of them distinct, by the first ten thousand; the
        rule of `TableEncoder`.
    columns : sequence of str, optional
        The features; by default all columns but the target.
    kinds : mapping of str to str
        What some columns of a table hold, whatever they look like: "category", "number", "date
        dmy" (day before month), …; `separatrix.data.schema.KINDS` lists all.
    schema : Schema, optional
        What all columns hold and are for, as another file of the kind was read: nothing is
        inferred then, columns that it does not name are passed over, those that are left out too.
    header : bool or "auto"
        Whether the first row of CSV or TSV names the columns. "auto": yes, if its cells are words
        none of which comes again in its column nearby; names that are numbers or come twice need a
        column that tells them from data. Twins are numbered.
    delimiter : str, optional
        By default of CSV whichever of ``,``, tab, ``;`` and ``|`` parts all rows evenly; of CoNLL
        a tab where the first token has one, else space.
    missing : sequence of str
        Words for no value in CSV and TSV; among numbers and dates "-", "none" and the like are
        missing too.
    names : sequence of str, optional
        Names of the columns of CSV, TSV or CoNLL; without header they are "0", "1", ….
    encoding : str, optional
        Of the text, where it is not UTF-8.
    n_features : int, optional
        Columns of the svmlight matrix; by default the largest index decides.
    zero_based : bool or "auto"
        Whether svmlight indices count from 0. "auto": yes, if some index is 0.
    multilabel : bool or "auto"
        Whether svmlight rows have sets of labels. "auto": yes, if some row has several.
    dtype : dtype
        Of the values of svmlight and CRFsuite.
    drop_missing_target : bool
        Leave out the rows of a table whose target is missing, instead of refusing the file.
    line_limit : int or None
        Most bytes of a line, from 256 KiB on; None: any number.
    unpack_limit : int or None
        Most bytes that gzip or Zstandard data beyond 256 MiB may become, for each packed one; None:
        any number.
    n_jobs : int, optional
        Threads that parse; None: all available, -1: all.

    Returns
    -------
    Dataset

    Raises
    ------
    FormatError
        Naming file and line: ``train.svm:17: index 12 after 40: indices must rise``.

    Examples
    --------
    >>> data = read(b"1 1:0.5 3:2\n-1 2:1\n")
    >>> data.format, data.X.toarray().tolist(), data.y.tolist()
    ('svmlight', [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    >>> read(b"the DT B\ncat NN I\n\nsat VB O\n").X[0]
    [('the', 'DT'), ('cat', 'NN')]
    >>> read(b"1 40:1 12:1\n")
    Traceback (most recent call last):
    separatrix.errors.FormatError: <bytes>:1: index 12 after 40: indices must rise
    """
    given = locals()
    if format == "auto":
        options = {name: given[name] for name in _OPTIONS if given[name] is not _OPTIONS[name]}
        found = gathered(path_or_buffer, read, options)
        if found is not None:
            return found
    origin, format, prepared = _prepare(path_or_buffer, format, given)
    return FORMATS[format].read(origin, format, prepared)


#: Names and defaults of the options of `read`.
_OPTIONS = {
    name: parameter.default
    for name, parameter in inspect.signature(read).parameters.items()
    if name not in ("path_or_buffer", "format")
}


def chunks(path_or_buffer: Any, n: int, format: str = "auto", **options: Any) -> Iterator[Dataset]:
    r"""Read a file piece by piece: datasets of at most `n` rows (sentences, sequences).

    Columns, kinds of values and the target are the same in every piece: where they depend on the
    whole file, it is read twice. Memory is bounded by a piece for files at a path; what comes from
    a buffer or is in another encoding is held in memory.

    Parameters
    ----------
    path_or_buffer : path, bytes, or an object with ``read``
    n : int
        Most rows of a piece.
    format : str
        All but "idx".
    **options
        Those of `read`.

    Yields
    ------
    Dataset

    Examples
    --------
    >>> pieces = chunks(b"x,class\n1,a\n2,b\n3.5,a\n", 2)
    >>> [piece.X["x"].tolist() for piece in pieces]
    [[1.0, 2.0], [3.5]]
    """
    if not isinstance(n, int | np.integer) or n < 1:
        raise ParameterError(f"n must be a positive number of rows, got {n!r}")
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise ParameterError(f"there is no option {unknown[0]!r}")
    if format == "auto":
        whole = gathered(path_or_buffer, read, options)
        if whole is not None:
            return (
                whole.take(range(at, min(at + n, len(whole)))) for at in range(0, len(whole), n)
            )
    origin, format, prepared = _prepare(path_or_buffer, format, options)
    reader = FORMATS[format].chunks
    if reader is None:
        raise ParameterError(f"{format} files are read whole; use read")
    return reader(origin, format, int(n), prepared)


def import_features(
    path_or_buffer: Any, *, dtype: Any = np.float64, n_jobs: int | None = None
) -> tuple[AttributeSequences, TokenColumn]:
    r"""The attributes and the labels of CRFsuite data, ready for a learner on sequences.

    It is ``read(path, "crfsuite")`` without what else a `Dataset` tells, such as the weights of the
    sequences. `separatrix.CRF.from_crfsuite` reads CRFsuite's models.

    Parameters
    ----------
    path_or_buffer : path, bytes, or an object with ``read``
        Lines ``label TAB attribute[:weight] TAB …``, blank lines between sequences.
    dtype : dtype
        Of the values.
    n_jobs : int, optional
        Threads that parse; None: all available, -1: all.

    Returns
    -------
    X : AttributeSequences
    y : TokenColumn

    Raises
    ------
    FormatError
        Naming file and line.

    Examples
    --------
    >>> X, y = import_features(b"B\tword=the\tsize:3\nI\tword=cat\n\nO\tword=sat\n")
    >>> X[0], y.tolist()
    ([{'word=the': 1.0, 'size': 3.0}, {'word=cat': 1.0}], [['B', 'I'], ['O']])
    """
    data = read(path_or_buffer, "crfsuite", dtype=dtype, n_jobs=n_jobs)
    return data.X, data.y


def _prepare(
    path_or_buffer: Any, format: str, given: dict[str, Any]
) -> tuple[Origin, str, Options]:
    """The origin in UTF-8, the format and its options, checked."""
    check_choice("format", format, ("auto", *FORMATS))
    fields = {name: value for name, value in given.items() if name in Options.__dataclass_fields__}
    options = Options(**fields)
    origin = replace(
        origin_of(path_or_buffer),
        line_limit=options.line_limit,
        unpack_limit=options.unpack_limit,
    )
    with naming(origin.name):
        origin = origin.recode(options.encoding)
        if format == "auto":
            format = detect(origin)
        options.check(format, FORMATS[format].takes)
        if not origin.sample:
            raise FormatError("the file is empty")
        if FORMATS[format].is_text:
            check_text(origin.sample, origin.name)
        else:
            origin = replace(origin, line_limit=None)  # there are no lines
    return origin, format, options
