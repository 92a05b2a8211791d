"""`separatrix evaluate`: how good a saved model is on the rows of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
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

__all__ = ["evaluate"]


def evaluate(
    model: ModelFile,
    file: Source,
    target: Annotated[
        str | None,
        typer.Option("--target", help="Column of the true labels; default: as in training."),
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
    """Evaluate a saved model on a file with the true labels.

    Shows the accuracy with its credible interval, each class, the confusions, and how far the
    probabilities can be trusted; of a regression the errors and the coverage of its intervals; of a
    tagger the accuracy of tokens and sequences, and precision, recall and F1 of chunks or labels;
    of label sets the share of whole sets, the share of wrong labels, and every label.
    """
    import sys

    from separatrix.cli.streaming import open_model, piecewise
    from separatrix.cli.tables import Table, print_json
    from separatrix.errors import DataError

    opened = open_model(model)

    def piece(X: Any, data: Dataset) -> Any:
        if data.y is None:
            names = ", ".join(map(repr, data.feature_names[:8]))
            raise DataError(
                f"{file}: which column holds the true labels? Name it by --target: {names}"
            )
        return opened.task.piece(opened, X, data)

    pieces = piecewise(
        piece,
        opened,
        file,
        what="Evaluating",
        target=target or True,
        quiet=quiet,
        format=input_format,
        encoding=encoding,
        delimiter=delimiter,
    )
    scores = opened.task.scores(opened, list(pieces))
    if json:
        print_json({"model": str(model), "data": file, **scores.record})
    elif format is not None and format != "table":
        Table(scores.headings, scores.rows).show(format)
    else:
        sys.stdout.write(f"{scores}\n")
