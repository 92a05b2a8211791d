"""What SOURCE stands for: a bundled data set, a file, or standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
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
        Of the file; "bundled" for a bundled data set.
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
        from separatrix import data

        return data.read(self.origin, self.format, **self.options)

    def chunks(self, n: int) -> Iterator[Dataset]:
        """Pieces of at most `n` rows; images and bundled data sets are read whole before."""
        from separatrix import data

        if self.format not in ("bundled", "idx"):
            yield from data.chunks(self.origin, n, self.format, **self.options)
            return
        whole = self.read()
        for first in range(0, len(whole), n):
            yield whole.take(range(first, min(first + n, len(whole))))

    def watch(self, told: Callable[[int], None], passes: int) -> float | None:
        """Have `told` called with the bytes that are read, where that can be done.

        Returns
        -------
        float or None
            Bytes it will be told of when the file is read so many times; None if it will not.
        """
        watched = self.format in ("csv", "tsv", "jsonl") and "encoding" not in self.options
        if not watched or self.origin.open().packing is not None:
            return None
        self.origin = replace(self.origin, watch=told)
        content = self.origin.content
        size = len(content) if isinstance(content, bytes) else os.path.getsize(content)
        return float(passes * size)

    def count(self) -> float | None:
        """Rows, where counting them is quick; blank lines and comments count."""
        if self.format == "bundled":
            return float(BUNDLED[self.name][0])
        if self.format in ("csv", "tsv", "jsonl", "svmlight"):
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
        Further options of `separatrix.data.read`, as far as the format takes them.
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
    from separatrix.data.detect import detect
    from separatrix.validation import check_choice

    origin = _origin(source)
    if format is None:
        format = detect(origin.recode(given.get("encoding")))
    check_choice("--input-format", format, tuple(FORMATS))
    taken = {name: part for name, part in (needs or {}).items() if name in FORMATS[format].takes}
    return Opened(source, format, origin, {**taken, **given})


def read(source: str, **options: Any) -> Dataset:
    """Read SOURCE whole; options as those of `open_source`."""
    return open_source(source, **options).read()


def _origin(source: str) -> Any:
    from separatrix.data.source import Origin

    if source == "-":
        return Origin(sys.stdin.buffer.read(), "<stdin>")
    path = Path(source)
    if path.is_dir():
        raise IsADirectoryError(f"{source} is a directory; name a file in it")
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
    from separatrix.data.tables import find_column

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
