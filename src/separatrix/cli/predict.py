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
    JsonLines,
    ModelFile,
    OutputFormat,
    Quiet,
    Source,
    Threads,
)

if TYPE_CHECKING:
    from separatrix.data import Dataset
    from separatrix.models import Model

__all__ = ["predict"]

#: End of the name of --out -> format.
_FORMATS = {
    ".csv": Format.csv,
    ".json": Format.json,
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
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            exists=True,
            dir_okay=False,
            help="Further labels, that training never saw: one a line, a comma or a tab before "
            "the text that describes it.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write to this file instead.")
    ] = None,
    format: OutputFormat = None,
    json: Json = False,
    jsonl: JsonLines = False,
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
    as the last column, and replaces their column in CoNLL-U; all other lines come back as they are.
    One that needs only words tags lines of text too. Files of any size are read piece by piece.
    """
    import sys

    from separatrix.cli.files import check_writable, write_parts
    from separatrix.cli.messages import note
    from separatrix.cli.streaming import open_model, piecewise
    from separatrix.cli.tables import column_texts
    from separatrix.errors import ParameterError
    from separatrix.tasks import FieldError, Options

    if out is not None:
        check_writable(out)
        format = format or _FORMATS.get(out.suffix.lower())
    format = Format.json if json else Format.jsonl if jsonl else format
    opened = open_model(model)
    if labels is not None:
        opened = _with_labels(opened, labels)
    options = Options(probabilities=proba, level=level)
    try:
        opened.task.check(opened, options)
    except FieldError as error:
        raise ParameterError(f"--proba cannot be had: {error.message}") from None
    count = 0

    def predicted(X: Any, data: Dataset) -> Any:
        nonlocal count
        count += len(data)
        return (opened, opened.task.predict(opened, X, [options])), data

    pieces = piecewise(
        predicted,
        opened,
        file,
        what="Predicting",
        # A bar among the predictions on a terminal would only disturb them.
        quiet=quiet or (out is None and sys.stdout.isatty()),
        format=input_format,
        encoding=encoding,
        delimiter=delimiter,
    )
    parts = opened.task.text(pieces, options) if format is None else None
    if parts is None:
        done = 0

        def tables() -> Any:
            nonlocal done
            for (_, found), data in pieces:
                yield opened.task.table(opened, found, data, options, done)
                done += len(data)

        parts = column_texts(tables(), format or Format.csv)
    if out is None:
        for part in parts:
            sys.stdout.write(part)
    else:
        write_parts(out, parts)
        note(f"{count} predictions in {out}", quiet=quiet)


def _with_labels(opened: Model, path: Path) -> Model:
    """The model with the labels that a file lists."""
    import csv

    from separatrix.errors import DataError, ParameterError
    from separatrix.tasks import FieldError

    found: dict[str, str] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        text = lines.read()
    rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ",")
    for row in rows:
        if not row:
            continue
        label = row[0].strip()
        if len(row) > 2 or not label or label in found:
            raise DataError(
                f"{path}: line {rows.line_num} must hold a label, named once, and a text at most "
                "(in quotes where it has commas)"
            )
        found[label] = row[1] if len(row) == 2 else label
    if not found:
        raise DataError(f"{path} lists no labels")
    try:
        return opened.with_labels(found)
    except FieldError as error:
        raise ParameterError(f"--labels cannot be had: {error.message}") from None
