"""`separatrix convert`: data from one format to another, and models to ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    Header,
    InputFormat,
    Kind,
    Quiet,
    Source,
    parse_header,
    parse_kinds,
)

__all__ = ["convert"]


def convert(
    source: Source,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Its name decides the format.")],
    target: Annotated[
        str | None, typer.Option("--target", help="Column of the labels, where OUT needs to know.")
    ] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Write also what will not read back as the same.")
    ] = False,
    header: Header = None,
    kind: Kind = None,
    input_format: InputFormat = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Convert data to another format, or a model to ONNX.

    OUT ends in .csv, .tsv, .jsonl, .parquet, .arrow, .svm, .conll or .crfsuite (texts with .gz, if
    wanted) for data, and in .onnx for a model.
    """
    from separatrix.cli.files import check_writable
    from separatrix.cli.messages import note, waiting

    check_writable(out)
    if out.suffix.lower() == ".onnx":
        _export(Path(source), out)
        note(f"{out} written", quiet=quiet)
        return
    from separatrix.cli.source import read
    from separatrix.data import write

    reading = {"format": input_format, "encoding": encoding, "delimiter": delimiter}
    deciding = {"header": parse_header(header), "kinds": parse_kinds(kind)}
    data = read(source, quiet=quiet, target=target, **reading, **deciding)
    with waiting("Writing", quiet=quiet):
        write(data, out, lossy=lossy)
    note(f"{len(data)} rows of {source} written to {out}", quiet=quiet)


def _export(model: Path, out: Path) -> None:
    from separatrix.models import load, save_onnx

    save_onnx(load(model), out)
