"""Folders of classes or images, mails, archives, workbooks, several files, databases."""

from __future__ import annotations

import glob
import os
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.data.dataset import Dataset, LabelSets
from separatrix.data.formats.delimited import column_names
from separatrix.data.formats.mails import is_maildir, mail_text, mails_of
from separatrix.data.formats.options import Options
from separatrix.data.formats.pictures import read_pictures
from separatrix.data.schema import Schema, SchemaColumn, TypedEvidence
from separatrix.data.tables.assembly import dataset_of, find_target, judged, make_schema
from separatrix.data.tables.columns import objects
from separatrix.errors import DataError, FormatError, MissingPackageError, ParameterError

__all__ = ["EXCEL", "gathered"]

#: Ends of the names of workbooks.
EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

_MAILS = (".eml", ".mbox")
#: Bytes of a file that tell whether it is a text.
_GLANCE = 4096
#: First words of a file that is a mail, whatever its name.
_MAIL_HEADS = (b"From ", b"Return-Path:", b"Received:", b"Delivered-To:", b"From:", b"Message-ID:")

Read = Callable[..., Dataset]


def gathered(source: Any, read: Read, options: dict[str, Any]) -> Dataset | None:
    """The data of what is no single file of a format; None for everything else.

    Parameters
    ----------
    source : object
        A folder, an archive (.zip), a mail or mailbox, an Excel workbook, a pattern with ``*``,
        several paths, ``sqlite:FILE:TABLE`` or ``duckdb:FILE:TABLE``.
    read : callable
        `separatrix.data.read`, for single files.
    options : dict
        Its options.
    """
    if isinstance(source, list | tuple) and source and all(map(_is_path, source)):
        return _several([os.fspath(path) for path in source], read, options)
    if not _is_path(source):
        return None
    name = os.fspath(source)
    if not isinstance(name, str):
        return None
    if name.lower().startswith(("http://", "https://", "ftp://")):
        raise ParameterError(f"{name}: addresses are not read; download the file and name it")
    if name.startswith(tuple(f"{kind}:" for kind in _BASES)):
        return _table_of_base(name, options)
    path = Path(name)
    if path.is_dir():
        return read_pictures(path, name, options.get("target", "auto")) or _folder(path, name)
    if not path.exists():
        found = sorted(glob.glob(name, recursive=True)) if any(c in name for c in "*?[") else []
        return _several(found, read, options) if found else None
    if path.suffix.lower() == ".zip":
        return _archive(path, read, options)
    if path.suffix.lower() in EXCEL:
        return _excel(path, name, options)
    if path.suffix.lower() in _MAILS:
        return _texts(list(mails_of(path)), None, name)
    return None


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _texts(
    texts: Sequence[str], labels: Sequence[str] | None, name: str, mails: bool = True
) -> Dataset:
    form, why = ("mail", "one mail a file") if mails else ("", "one text a file")
    columns = [SchemaColumn("text", "text", form=form, why=why)]
    if labels is not None:
        columns.append(SchemaColumn("class", "category", "target", why="names of the folders"))
    return Dataset(
        "text",
        objects(list(texts)),
        None if labels is None else objects(list(labels)),
        ("text",),
        None if labels is None else "class",
        ("text",),
        source=name,
        format="folder",
        schema=Schema(tuple(columns)),
    )


def _folder(path: Path, name: str) -> Dataset:
    """Texts of all files; the class of each is the folder or mailbox it is in."""
    if is_maildir(path):
        return _texts(list(mails_of(path)), None, name)
    texts: list[str] = []
    labels: list[str] = []
    n_mails = 0
    parts = [part for part in sorted(path.iterdir()) if not part.name.startswith(".")]
    for part in parts:
        if is_maildir(part) or part.suffix.lower() == ".mbox":
            found = list(mails_of(part))
            n_mails += len(found)
        elif part.is_dir():
            told = list(map(_text, _files(part)))
            found = [text for text, _ in told]
            n_mails += sum(is_mail for _, is_mail in told)
        else:
            continue
        texts += found
        labels += [part.stem if part.is_file() else part.name] * len(found)
    if not texts:
        raise DataError(
            f"{name} is a directory without a subfolder of files per class; name a file in it, "
            "or several with *"
        )
    return _texts(texts, labels, name, 2 * n_mails > len(texts))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield path


def _text(path: Path) -> tuple[str, bool]:
    """The text of a file, and whether it is a mail."""
    with open(path, "rb") as file:
        raw = file.read(_GLANCE)
        if b"\0" in raw:
            raise DataError(
                f"{path.parent.parent} is a directory, but no folder of texts: {path} is binary; "
                "name a file in it"
            )
        raw += file.read()
    if path.suffix.lower() == ".eml" or raw.startswith(_MAIL_HEADS):
        return mail_text(raw), True
    # Old files of texts are often no UTF-8 either.
    return mail_text(raw), False


def _archive(path: Path, read: Read, options: dict[str, Any]) -> Dataset:
    try:
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
            members = [
                member
                for member in archive.infolist()
                if not member.is_dir() and not Path(member.filename).name.startswith((".", "__"))
            ]
            if not members:
                raise FormatError("the archive is empty", None, str(path))
            for member in members:
                archive.extract(member, folder)  # never outside of the folder
            if len(members) == 1:
                found = read(Path(folder, members[0].filename), **options)
            else:
                inner = [p for p in Path(folder).iterdir() if not p.name.startswith(("__", "."))]
                root = inner[0] if len(inner) == 1 and inner[0].is_dir() else Path(folder)
                if any(part.is_dir() for part in root.iterdir()):
                    found = _folder(root, str(path))
                else:
                    files = sorted(str(part) for part in root.iterdir())
                    found = _several(files, read, options)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise FormatError(f"not a whole archive: {error}", None, str(path)) from None
    return replace(found, source=str(path))


def _several(paths: Sequence[str], read: Read, options: dict[str, Any]) -> Dataset:
    """The rows of several files, one after another; all are read as the first of them."""
    first = read(paths[0], **options)
    if first.kind not in ("table", "text") or first.schema is None:
        raise DataError(f"{paths[0]} holds {first.kind}; only tables and texts are read together")
    schema = first.schema
    kept = [c if c.role != "left out" else replace(c, role="input") for c in schema]
    given = {**options, "schema": replace(schema, columns=tuple(kept))}
    for name in ("columns", "kinds", "text"):
        given.pop(name, None)
    parts = [first, *(read(path, **given) for path in paths[1:])]

    def join(columns: list[Any]) -> Any:
        if all(column is None for column in columns):
            return None
        if isinstance(columns[0], LabelSets):
            joined = columns[0]
            for column in columns[1:]:
                joined = joined.joined(column)
            return joined
        return np.concatenate(columns)

    X: Any
    if first.kind == "text":
        X = join([part.X for part in parts])
    else:
        X = {name: join([part.X[name] for part in parts]) for name in first.X}
    joined = replace(first, X=X, y=join([part.y for part in parts]), source=f"{len(paths)} files")
    return judged(replace(joined, schema=given["schema"]))


def _table_of_base(name: str, options: dict[str, Any]) -> Dataset:
    """A table of a database: ``sqlite:FILE:TABLE`` or ``duckdb:FILE:TABLE``."""
    kind, _, rest = name.partition(":")
    path, mark, table = rest.rpartition(":")
    if not mark or not path or not table:
        raise ParameterError(f"{name}: write {kind}:FILE:TABLE")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    connect, error, known = _BASES[kind](path)
    try:
        with closing(connect()) as base:
            tables = [row[0] for row in base.execute(known).fetchall()]
            if table not in tables:
                listed = ", ".join(map(repr, tables)) or "none"
                raise ParameterError(f"{path}: there is no table {table!r}; there are {listed}")
            quoted = table.replace('"', '""')
            cursor = base.execute(f'select * from "{quoted}"')
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
    except error as told:
        title = {"sqlite": "an SQLite", "duckdb": "a DuckDB"}[kind]
        raise FormatError(f"not {title} database: {told}", None, path) from None
    if not rows:
        raise FormatError(f"table {table!r} has no rows", None, path)
    return _of_cells(names, rows, name, kind, options)


def _of_sqlite(path: str) -> tuple[Callable[[], Any], type[Exception], str]:
    uri = Path(path).absolute().as_uri() + "?mode=ro"
    known = "select name from sqlite_master order by 1"
    return lambda: sqlite3.connect(uri, uri=True), sqlite3.DatabaseError, known


def _of_duckdb(path: str) -> tuple[Callable[[], Any], type[Exception], str]:
    try:
        import duckdb
    except ImportError:
        raise MissingPackageError(
            "DuckDB tables need duckdb: pip install 'separatrix[duckdb]'"
        ) from None
    known = "select table_name from information_schema.tables order by 1"
    return lambda: duckdb.connect(path, read_only=True), duckdb.Error, known


#: How a database is opened, what it raises, and which query names its tables.
_BASES = {"sqlite": _of_sqlite, "duckdb": _of_duckdb}


def _excel(path: Path, name: str, options: dict[str, Any]) -> Dataset:
    """The first sheet of a workbook that has rows; the first row with cells has the names."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingPackageError(
            f"{name} is an Excel workbook, which needs python-calamine: pip install "
            "'separatrix[excel]' (or save it as CSV)"
        ) from None
    try:
        book = CalamineWorkbook.from_path(os.fspath(path))
        sheets = {sheet: book.get_sheet_by_name(sheet).to_python() for sheet in book.sheet_names}
    except (CalamineError, OSError) as error:
        raise FormatError(f"not a whole workbook: {error}", None, name) from None
    filled = {sheet: rows for sheet, rows in sheets.items() if len(rows) > 1}
    if not filled:
        raise FormatError("no sheet has a header and rows", None, name)
    sheet, (heads, *rows) = next(iter(filled.items()))
    notes: list[str] = []
    if len(filled) > 1:
        others = ", ".join(map(repr, list(filled)[1:]))
        notes.append(f"sheet {sheet!r} is read; there are {others} too")
    names = column_names([str(cell) for cell in heads], notes)
    cells = [[None if cell == "" else cell for cell in row] for row in rows]
    return _of_cells(names, cells, name, "excel", options, notes)


def _of_cells(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    name: str,
    format: str,
    options: dict[str, Any],
    notes: Sequence[str] = (),
) -> Dataset:
    """The table of rows of typed values."""
    given = Options(**{k: v for k, v in options.items() if k in Options.__dataclass_fields__})
    cells = {n: list(column) for n, column in zip(names, zip(*rows, strict=True), strict=True)}
    target = find_target(names, given)
    seen = {n: TypedEvidence.of(held).column(n, target=n == target) for n, held in cells.items()}
    schema = make_schema(seen, given, notes)
    return judged(dataset_of(cells, schema, given, name, format), given)
