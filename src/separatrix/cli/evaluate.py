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
    from separatrix.cli.model import SavedModel
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

    from separatrix.cli.model import open_model
    from separatrix.cli.tables import Table, print_json

    saved = open_model(model)
    reading = {"format": input_format, "encoding": encoding, "delimiter": delimiter}
    scores = _scores(saved, file, target, quiet, reading)
    if json:
        print_json({"model": str(model), "data": file, **scores.to_dict()})
    elif format is not None and format != "table":
        Table(scores.headings(), scores.rows()).show(format)
    else:
        sys.stdout.write(f"{scores}\n")


def _scores(
    saved: SavedModel, file: str, target: str | None, quiet: bool, reading: dict[str, Any]
) -> Any:
    from separatrix.cli.forms import form_of
    from separatrix.cli.streaming import piecewise

    form = form_of(saved)
    pieces = piecewise(
        lambda X, data: form.piece(X, data, _truth(data, file)),
        saved,
        file,
        what="Evaluating",
        target=target or True,
        quiet=quiet,
        **reading,
    )
    return form.scores(list(pieces))


def _truth(data: Dataset, file: str) -> Any:
    from separatrix.errors import DataError

    if data.y is None:
        names = ", ".join(map(repr, data.feature_names[:8]))
        raise DataError(f"{file}: which column holds the true labels? Name it by --target: {names}")
    return data.y
