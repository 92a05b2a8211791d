"""`separatrix predict`: what a saved model says of the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    Format,
    InputFormat,
    Json,
    ModelFile,
    OutputFormat,
    Quiet,
    Source,
    Threads,
)

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["predict"]

#: End of the name of --out -> format.
_FORMATS = {
    ".csv": Format.csv,
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".txt": Format.table,
}


def predict(
    model: ModelFile,
    file: Source,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also the probability of every class.")
    ] = False,
    level: Annotated[
        float,
        typer.Option("--level", min=0.0, max=1.0, help="Mass of the intervals of a regression."),
    ] = 0.95,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead.")
    ] = None,
    format: OutputFormat = None,
    json: Json = False,
    input_format: InputFormat = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    threads: Threads = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the rows of a file with a saved model.

    Prints CSV with one row per row: the label, or for a regression the mean and the ends of its
    interval; label sets have commas between their labels. A tagger adds its labels to a CoNLL file
    as the last column; one that needs only words tags lines of text too. Files of any size are read
    piece by piece.
    """
    import sys

    from separatrix.cli.files import check_writable, write_parts
    from separatrix.cli.forms import form_of
    from separatrix.cli.messages import note
    from separatrix.cli.model import open_model
    from separatrix.cli.streaming import piecewise

    if out is not None:
        check_writable(out)
        format = format or _FORMATS.get(out.suffix.lower())
    format = Format.jsonl if json else format
    saved = open_model(model)
    form = form_of(saved)
    headings, rows_of = form.predictor(proba, level)
    count = 0

    def counted(X: Any, data: Dataset) -> list[Any]:
        nonlocal count
        count += len(data)
        return rows_of(X, data)

    blocks = piecewise(
        counted,
        saved,
        file,
        what="Predicting",
        # A bar among the predictions on a terminal would only disturb them.
        quiet=quiet or (out is None and sys.stdout.isatty()),
        format=input_format,
        encoding=encoding,
        delimiter=delimiter,
    )
    parts = form.parts(headings, blocks, format)
    if out is None:
        for part in parts:
            sys.stdout.write(part)
    else:
        write_parts(out, parts)
        note(f"{count} predictions in {out}", quiet=quiet)
