"""What SOURCE stands for: a bundled data set, a file, or standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["BUNDLED", "Opened", "load", "open_source", "read"]

#: Name -> rows, columns, classes, what it is; all come with scikit-learn.
BUNDLED = {
    "digits": (1797, 64, 10, "images of 8 x 8 pixels, ten digits"),
    "iris": (150, 4, 3, "flowers, measured, of three species"),
    "wine": (178, 13, 3, "wines, analyzed, of three growers"),
    "breast_cancer": (569, 30, 2, "tumors, measured, benign or malignant"),
}


def load(name: str) -> Dataset:
    """A bundled data set: a table (of digits: images) with its classes by name.

    Examples
    --------
    >>> data = load("iris")
    >>> data.kind, len(data), data.target_name, str(data.y[0])
    ('table', 150, 'class', 'setosa')
    """
    from sklearn import datasets

    from separatrix.data import Dataset

    bunch = getattr(datasets, f"load_{name}")()
    y = bunch.target_names[bunch.target]
    if name == "digits":
        return Dataset("images", bunch.images, y, target_name="class", source=name)
    names = tuple(str(name).replace(" (cm)", "") for name in bunch.feature_names)
    columns = {name: bunch.data[:, at] for at, name in enumerate(names)}
    return Dataset("table", columns, y, names, "class", source=name)


@dataclass
class Opened:
    """A SOURCE whose format is known.

    Attributes
    ----------
    name : str
        As it was given; for messages.
    format : str
        Of the file; "bundled" for a bundled data set, "lines" for one text a line, "words" for one
        sequence of words a line.
    origin : Origin or None
        Where its bytes come from.
    options : dict
        For `separatrix.data.read`.
    """

    name: str
    format: str
    origin: Any
    options: dict[str, Any]

    def read(self) -> Dataset:
        """All of it."""
        if self.format == "bundled":
            return _retarget(load(self.name), self.options)
        if self.format in ("lines", "words"):
            return next(self.chunks(sys.maxsize))
        from separatrix import data

        if self.format == "gathered":
            return data.read(self.origin, **self.options)
        return data.read(self.origin, self.format, **self.options)

    def chunks(self, n: int) -> Iterator[Dataset]:
        """Pieces of at most `n` rows; images and bundled data sets are read whole before."""
        from separatrix import data

        if self.format == "lines":
            yield from self._lines(n)
            return
        if self.format == "words":
            yield from self._words(n)
            return
        if self.format not in ("bundled", "idx", "gathered"):
            yield from data.chunks(self.origin, n, self.format, **self.options)
            return
        whole = self.read()
        for first in range(0, len(whole), n):
            yield whole.take(range(first, min(first + n, len(whole))))

    def _lines(self, n: int) -> Iterator[Dataset]:
        from separatrix.data import Dataset
        from separatrix.data.formats.source import TextStream, naming
        from separatrix.data.tables.columns import objects

        name, encoding = self.options["columns"][0], self.options.get("encoding")
        with naming(self.origin.name):
            texts = (line.strip() for line in TextStream(self.origin.recode(encoding)))
            # Empty lines are texts too: predictions stay beside their lines.
            rows = (text for at, text in enumerate(texts) if at or text != name)
            while block := list(islice(rows, n)):
                yield Dataset("text", objects(block), feature_names=(name,), text_names=(name,))

    def _words(self, n: int) -> Iterator[Dataset]:
        from separatrix.data import Dataset, TokenColumn, TokenSequences
        from separatrix.data.formats.source import TextStream, naming

        name = self.options["words"]
        with naming(self.origin.name):
            rows = map(str.split, TextStream(self.origin.recode(self.options.get("encoding"))))
            while block := list(islice((row for row in rows if row), n)):
                words = TokenColumn.of(block)
                X = TokenSequences({name: words}, words.offsets)
                yield Dataset("sequences", X, feature_names=(name,), source=self.name)

    def watch(self, told: Callable[[int], None], passes: int) -> float | None:
        """Have `told` called with the bytes that are read, where that can be done.

        Returns
        -------
        float or None
            Bytes it will be told of when the file is read so many times; None if it will not.
        """
        watched = (
            self.format in ("csv", "tsv", "jsonl", "lines", "words")
            and "encoding" not in self.options
        )
        if not watched or self.origin.open().packing is not None:
            return None
        passes = 1 if self.format in ("lines", "words") else passes
        self.origin = replace(self.origin, watch=told)
        content = self.origin.content
        size = len(content) if isinstance(content, bytes) else os.path.getsize(content)
        return float(passes * size)

    def count(self) -> float | None:
        """Rows, where counting them is quick; blank lines and comments count."""
        if self.format == "bundled":
            return float(BUNDLED[self.name][0])
        if self.format in ("csv", "tsv", "jsonl", "svmlight", "lines"):
            stream, n_lines = self.origin.open(), 0
            while block := stream.read(1 << 20):
                n_lines += block.count(b"\n")
            return float(n_lines)
        return None


def open_source(
    source: str,
    *,
    format: str | None = None,
    needs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Opened:
    """Find out what SOURCE is.

    Parameters
    ----------
    source : str
        The name of a bundled data set (a file of that name is meant by ``./name``), a path, or
        ``-`` for standard input.
    format : str, optional
        Of the file; by default its name or its content tells.
    needs : mapping, optional
        Further options of `separatrix.data.read`, as far as the format takes them. Where they ask
        for one column of texts, a file that is no table holds one text a line.
    **options
        Options of `separatrix.data.read`; None stands for the default.

    Raises
    ------
    DataError, OSError
        What is wrong, with file and line.

    Examples
    --------
    >>> open_source("iris").read().feature_names[0]
    'sepal length'
    """
    given = {name: value for name, value in options.items() if value is not None}
    if source in BUNDLED:
        return Opened(source, "bundled", None, {**(needs or {}), **given})
    from separatrix.data import FORMATS
    from separatrix.data.formats.detect import detect
    from separatrix.errors import FormatError
    from separatrix.validation import check_choice

    if format is None and _is_gathered(source):
        taken = {
            name: part for name, part in (needs or {}).items() if name in FORMATS["jsonl"].takes
        }
        return Opened(source, "gathered", source, {**taken, **given})
    origin = _origin(source)
    if needs is not None and "words" in needs:
        return _open_sequences(source, origin, format, needs, given)
    texts_only = needs is not None and _texts_only(needs)
    known = ("lines", *FORMATS) if texts_only else tuple(FORMATS)
    if format is None and texts_only and source.lower().endswith((".txt", ".txt.gz")):
        format = "lines"
    if format is None:
        try:
            format = detect(origin.recode(given.get("encoding")))
        except FormatError as error:
            # Lines that are no table may be texts; what is empty or binary is neither.
            if not texts_only or error.line is not None or not origin.sample.strip():
                raise
            format = "lines"
    check_choice("--input-format", format, known)
    if format == "lines":
        return Opened(source, format, origin, {**(needs or {}), **given})
    taken = {name: part for name, part in (needs or {}).items() if name in FORMATS[format].takes}
    return Opened(source, format, origin, {**taken, **given})


def _open_sequences(
    source: str,
    origin: Any,
    format: str | None,
    needs: Mapping[str, Any],
    given: dict[str, Any],
) -> Opened:
    """A file for a tagger: columns, or lines of words where the model needs nothing else."""
    from separatrix.data import FORMATS
    from separatrix.data.formats.detect import detect
    from separatrix.errors import FormatError
    from separatrix.validation import check_choice

    words = needs["words"]
    if format is None:
        is_text = words is not None and source.lower().endswith((".txt", ".txt.gz"))
        try:
            format = detect(origin.recode(given.get("encoding")))
        except FormatError as error:
            if error.line is not None or not origin.sample.strip():
                raise
            even = "may be" in str(error)  # as many columns, or words, in every line
            # A single line is a sentence that somebody typed, rather than a token.
            if words is None and (not even or len(origin.sample.splitlines()) == 1):
                named = ", ".join(map(repr, needs["token_columns"]))
                raise FormatError(
                    f"these are no columns of tokens, and the model needs the columns {named} of "
                    "every token, one token a line (--input-format conll, where they are)",
                    None,
                    origin.name,
                ) from None
            if words is not None and even and not is_text:
                raise FormatError(
                    "the content may be columns or lines of words; give --input-format conll or "
                    "lines",
                    None,
                    origin.name,
                ) from None
            format = "conll" if words is None else "lines"
        # A table without a blank line is one sentence; of a text, commas prove nothing.
        if format == "tsv" or (format == "csv" and words is None):
            format = "conll"
        elif format == "csv":
            format = "lines"
    known = tuple(FORMATS) if words is None else ("lines", *FORMATS)
    check_choice("--input-format", format, known)
    if format == "lines":
        return Opened(source, "words", origin, {**needs, **given})
    taken = {name: part for name, part in needs.items() if name in FORMATS[format].takes}
    return Opened(source, format, origin, {**taken, **given})


def _is_gathered(source: str) -> bool:
    """Whether `separatrix.data.read` puts this together from several files, or refuses it."""
    from separatrix.data.formats.folders import EXCEL

    path = Path(source)
    found = path.is_dir() or path.suffix.lower() in (".zip", ".eml", ".mbox", *EXCEL)
    pattern = not path.exists() and any(mark in source for mark in "*?[")
    return (
        found
        or pattern
        or source.startswith(("sqlite:", "duckdb:", "http://", "https://", "ftp://"))
    )


def _texts_only(needs: Mapping[str, Any]) -> bool:
    columns = needs.get("columns") or ()
    return len(columns) == 1 and tuple(columns) == tuple(needs.get("text") or ())


def read(source: str, *, quiet: bool = False, **options: Any) -> Dataset:
    """Read SOURCE whole, under a bar unless `quiet`; options as those of `open_source`."""
    from separatrix.cli.messages import note, waiting

    if isinstance(options.get("schema"), Path):
        from separatrix.data import Schema

        options["schema"] = Schema.load(options["schema"])
    opened = open_source(source, **options)
    bar = waiting("Reading", quiet=quiet)
    bar.expect(None if opened.format == "bundled" else opened.watch(bar.advance, passes=1))
    with bar:
        data = opened.read()
    for told in () if data.schema is None else data.schema.notes:
        note(f"{source}: {told}", quiet=quiet)
    return data


def _origin(source: str) -> Any:
    from separatrix.data.formats.source import Origin

    if source == "-":
        return Origin(sys.stdin.buffer.read(), "<stdin>")
    path = Path(source)
    if not path.exists():
        beside = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        close = get_close_matches(path.name, [*beside, *BUNDLED], n=2, cutoff=0.7)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        bundled = ", ".join(BUNDLED)
        raise FileNotFoundError(
            f"there is no file {source}, and no bundled data set of that name ({bundled}){hint}"
        )
    return Origin(str(path), source)


def _retarget(data: Dataset, options: Mapping[str, Any]) -> Dataset:
    """A bundled data set with another column as its target, or with some of its columns."""
    from separatrix.data.tables.assembly import find_column

    if data.kind != "table":
        return data
    columns = {**data.X, str(data.target_name): data.y}
    wanted = options.get("target", "auto")
    target = data.target_name if wanted == "auto" else wanted
    if target is not None:
        target = find_column(target, list(columns), "target")
    chosen = [find_column(name, list(columns), "columns") for name in options.get("columns") or ()]
    names = tuple(name for name in chosen or columns if name != target)
    return replace(
        data,
        X={name: columns[name] for name in names},
        y=None if target is None else columns[target],
        feature_names=names,
        target_name=target,
    )
