"""`separatrix explain`: the sum behind a prediction."""

from __future__ import annotations

import sys
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
    Threads,
)

if TYPE_CHECKING:
    from separatrix.models import Model

__all__ = ["explain"]


def explain(
    model: ModelFile,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT_OR_FILE",
            help="A text, or a file whose row to explain; without one, the scorecard of a table.",
        ),
    ] = None,
    row: Annotated[
        int | None, typer.Option("--row", min=1, help="Row of the file, from 1; default: first.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All classes, not only the best two.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option("--top", min=0, help="Terms to show, the strongest; 0 shows all."),
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
    """Explain a prediction: what each word or feature adds.

    Works for linear models and naive Bayes. Without a row, a linear model of a table shows its
    scorecard: what each bin, category or value of each column adds to the score. Of a sequence it
    shows the trellis: the label of each token, how sure it is, the second-best path, and the
    weights behind it. Of a file, --format jsonl without --row explains every row, one JSON object
    a line.
    """
    import json as encoder

    from separatrix.cli.streaming import open_model
    from separatrix.cli.tables import Table, plain, print_json, show

    opened = open_model(model)
    if what is None:
        from separatrix.features.tables.scorecard import scorecard

        found: Any = scorecard(opened.estimator, opened.inputs.target or "the target")
    elif _is_file(opened, what):
        reading = {"format": input_format, "encoding": encoding, "delimiter": delimiter}
        if format is Format.jsonl and row is None:
            for x in _rows(opened, what, None, quiet, reading):
                sys.stdout.write(
                    encoder.dumps(plain(opened.explain(x, top, every).to_dict())) + "\n"
                )
            return
        (x,) = _rows(opened, what, row or 1, quiet, reading)
        found = opened.explain(x, top, every)
    else:
        found = opened.explain(opened.inputs.of_text(what), top, every)
    if json:
        print_json(found.to_dict())
    elif format is None or format is Format.table:
        show(found)
    else:
        Table(found.headings, found.rows).show(format)


def _is_file(model: Model, what: str) -> bool:
    """Whether TEXT_OR_FILE means a file; a model that takes texts takes all other words as one."""
    from separatrix.cli.source import BUNDLED
    from separatrix.data.formats.detect import SUFFIXES

    if what == "-" or what in BUNDLED or not model.inputs.takes_text:
        return True
    try:
        if Path(what).is_file():
            return True
    except OSError:  # longer than any name of a file
        return False
    named = what.lower().removesuffix(".gz").removesuffix(".zst")
    return not any(map(str.isspace, what)) and named.endswith(tuple(SUFFIXES))


def _rows(model: Model, source: str, row: int | None, quiet: bool, reading: dict[str, Any]) -> Any:
    """Model input of one row of a file, or of each."""
    from itertools import islice

    from separatrix.cli.streaming import piecewise
    from separatrix.errors import ParameterError

    def single() -> Any:
        blocks = piecewise(
            lambda X, data: (X, len(data)),
            model,
            source,
            what="Explaining",
            quiet=quiet or sys.stdout.isatty(),
            **reading,
        )
        for X, n in blocks:
            yield from (_cut(X, at) for at in range(n))

    if row is None:
        return single()
    found = list(islice(single(), row - 1, row))
    if not found:
        raise ParameterError(f"--row {row}: {source} has fewer rows")
    return found


def _cut(X: Any, at: int) -> Any:
    """One row of model input, as `separatrix.explain` takes it."""
    if isinstance(X, dict):
        return {name: values[at : at + 1] for name, values in X.items()}
    row = X[at]
    return row if isinstance(row, str) else X[[at]]
