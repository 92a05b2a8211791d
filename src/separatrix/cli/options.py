"""The options that commands share, each defined once."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Debug",
    "Delimiter",
    "Encoding",
    "Format",
    "Header",
    "InputFormat",
    "Json",
    "JsonLines",
    "Kind",
    "ModelFile",
    "OutputFormat",
    "Quiet",
    "SchemaFile",
    "Seed",
    "Settings",
    "Source",
    "Target",
    "Threads",
    "parse_header",
    "parse_kinds",
    "set_debug",
    "settings",
]

#: What the number of threads is read from, by the kernels and by the BLAS.
THREAD_VARIABLES = ("SEPARATRIX_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Settings:
    """What options say to the frame rather than to a command."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Back to the defaults, for the next run in the same process."""
        self.debug = False


settings = Settings()


def set_debug(value: bool) -> bool:
    """Show tracebacks from now on, if `value` says so."""
    # Given before or after the command's name.
    settings.debug = settings.debug or value
    return value


def _set_threads(value: int | None) -> int | None:
    if value is not None:
        for variable in THREAD_VARIABLES:
            os.environ[variable] = str(value)
    return value


def _bundled_names(incomplete: str) -> list[str]:
    from separatrix.cli.source import BUNDLED

    return [name for name in BUNDLED if name.startswith(incomplete)]


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    csv = "csv"
    jsonl = "jsonl"
    json = "json"


Debug = Annotated[
    bool, typer.Option("--debug", callback=set_debug, help="Show tracebacks of errors.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes, only the result.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a line.")]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column to predict; default: found.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, callback=_set_threads, help="Threads; default: all."),
]
OutputFormat = Annotated[Format | None, typer.Option("--format", help="How to print the result.")]
InputFormat = Annotated[
    str | None,
    typer.Option("--input-format", help="Format of the file; default: found by its content."),
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Of the text; default: UTF-8.")]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Between the columns of CSV; default: found.")
]
Header = Annotated[
    str | None,
    typer.Option("--header", help="Whether the first row names the columns: yes, no; else found."),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        "--kind", metavar="COLUMN=KIND", help="What a column holds, as zip=category (repeatable)."
    ),
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", help="A file that separatrix schema wrote.")
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file, - for standard input, or digits, iris, wine, breast_cancer.",
        autocompletion=_bundled_names,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file, as compare and train save it.")
]


def parse_header(word: str | None) -> bool | None:
    """Whether there is a header, as --header says.

    Examples
    --------
    >>> parse_header("no"), parse_header(None)
    (False, None)
    """
    if word is None or word == "auto":
        return None
    if word not in ("yes", "no"):
        from separatrix.errors import ParameterError

        raise ParameterError(f"--header takes yes or no, got {word!r}")
    return word == "yes"


def parse_kinds(words: list[str] | None) -> dict[str, str] | None:
    """Kinds of columns, as --kind names them.

    Examples
    --------
    >>> parse_kinds(["zip=category", "when=date dmy"])
    {'zip': 'category', 'when': 'date dmy'}
    """
    if not words:
        return None
    kinds = {}
    for word in words:
        name, mark, kind = word.rpartition("=")
        if not mark or not name or not kind:
            from separatrix.errors import ParameterError

            raise ParameterError(f"--kind takes COLUMN=KIND, such as zip=category, got {word!r}")
        kinds[name] = kind
    return kinds
