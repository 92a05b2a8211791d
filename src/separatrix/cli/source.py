"""What SOURCE stands for: a bundled data set, a file, or standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["BUNDLED", "chunks", "load", "read"]

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


def read(source: str, format: str | None = None, **options: Any) -> Dataset:
    """Read SOURCE whole.

    Parameters
    ----------
    source : str
        The name of a bundled data set (a file of that name is meant by ``./name``), a path, or
        ``-`` for standard input.
    format : str, optional
        Of the file; by default its name or its content tells.
    **options
        Those of `separatrix.data.read`; None stands for the default.

    Raises
    ------
    DataError, OSError
        What is wrong, with file and line.

    Examples
    --------
    >>> read("iris").feature_names[0]
    'sepal length'
    """
    if source in BUNDLED:
        return _retarget(load(source), options.get("target"))
    from separatrix import data

    return data.read(_origin(source), format or "auto", **_given(options))


def chunks(source: str, n: int, format: str | None = None, **options: Any) -> Iterator[Dataset]:
    """Read SOURCE in pieces of at most `n` rows; standard input and images are held whole."""
    if source in BUNDLED:
        whole = read(source, format, **options)
        return (whole.take(range(at, min(at + n, len(whole)))) for at in range(0, len(whole), n))
    from separatrix import data
    from separatrix.data.detect import detect
    from separatrix.data.source import origin_of

    origin = _origin(source)
    if (format or detect(origin_of(origin))) == "idx":
        whole = data.read(origin, "idx", **_given(options))
        return (whole.take(range(at, min(at + n, len(whole)))) for at in range(0, len(whole), n))
    return data.chunks(origin, n, format or "auto", **_given(options))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


class _StandardInput:
    """The bytes of standard input under a name that errors can carry."""

    name = "<stdin>"

    def read(self) -> bytes:
        return sys.stdin.buffer.read()


def _origin(source: str) -> Any:
    if source == "-":
        return _StandardInput()
    path = Path(source)
    if path.is_dir():
        raise IsADirectoryError(f"{source} is a directory; name a file in it")
    if not path.exists():
        from difflib import get_close_matches

        beside = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        close = get_close_matches(path.name, [*beside, *BUNDLED], n=2, cutoff=0.7)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        bundled = ", ".join(BUNDLED)
        raise FileNotFoundError(
            f"there is no file {source}, and no bundled data set of that name ({bundled}){hint}"
        )
    return path


def _retarget(data: Dataset, target: Any) -> Dataset:
    """A bundled data set with another column as its target."""
    from dataclasses import replace

    from separatrix.data.tables import find_column

    if target in (None, "auto", data.target_name):
        return data
    columns = {**data.X, str(data.target_name): data.y} if data.kind == "table" else {}
    chosen = find_column(target, list(columns) or [str(data.target_name)], "target")
    y = columns.pop(chosen)
    return replace(data, X=columns, y=y, feature_names=tuple(columns), target_name=chosen)
