"""`separatrix predict`: what a saved model says of the rows of a file."""

from __future__ import annotations

from collections.abc import Iterator
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
    from separatrix.cli.model import SavedModel

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
    interval. Files of any size are read piece by piece.
    """
    import sys

    from separatrix.cli.files import check_writable, write_parts
    from separatrix.cli.model import open_model
    from separatrix.cli.progress import note
    from separatrix.cli.streaming import ROWS, piecewise
    from separatrix.cli.tables import Table

    if out is not None:
        check_writable(out)
        format = format or _FORMATS.get(out.suffix.lower())
    format = Format.jsonl if json else format or Format.csv
    saved = open_model(model)
    headings, rows_of = _columns(saved, proba, level)
    blocks = piecewise(
        lambda X, data: rows_of(X),
        saved,
        file,
        what="Predicting",
        # A bar among the predictions on a terminal would only disturb them.
        quiet=quiet or (out is None and sys.stdout.isatty()),
        format=input_format,
        encoding=encoding,
        delimiter=delimiter,
    )
    count = 0

    def rows() -> Iterator[Any]:
        nonlocal count
        for block in blocks:
            count += len(block)
            yield from block

    parts = Table(headings, rows(), block=ROWS).parts(format)
    if out is None:
        for part in parts:
            sys.stdout.write(part)
    else:
        write_parts(out, parts)
        note(f"{count} predictions in {out}", quiet=quiet)


def _columns(saved: SavedModel, proba: bool, level: float) -> tuple[tuple[str, ...], Any]:
    """Headings, and a function from model input to rows under them."""
    import numpy as np
    from sklearn.base import is_regressor

    from separatrix.errors import ParameterError
    from separatrix.experiment.metric import distribution

    estimator, classes = saved.estimator, saved.classes
    if is_regressor(estimator):
        if proba:
            raise ParameterError("--proba is for classes, and this model predicts a quantity")

        def quantities(X: Any) -> list[Any]:
            mean = np.asarray(estimator.predict(X), dtype=np.float64)
            found = distribution(estimator, X)
            if found is None:
                return [(value,) for value in mean.tolist()]
            low, high = found.interval(level)
            return list(np.column_stack([mean, low, high]).tolist())

        has_bands = hasattr(_last(estimator), "predictive")
        return ("prediction", "low", "high") if has_bands else ("prediction",), quantities
    if not proba:
        return ("prediction",), lambda X: [(label,) for label in estimator.predict(X).tolist()]
    if not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"--proba needs a model with probabilities, and {type(_last(estimator)).__name__} has "
            "none; calibrate it"
        )

    def shares(X: Any) -> list[Any]:
        said, likely = estimator.predict(X).tolist(), estimator.predict_proba(X).tolist()
        return [(label, *row) for label, row in zip(said, likely, strict=True)]

    return ("prediction", *(f"P({label})" for label in classes.tolist())), shares


def _last(estimator: Any) -> Any:
    from separatrix.explanation import see_through

    return see_through(estimator)[1]
