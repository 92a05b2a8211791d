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
    probabilities can be trusted; of a regression the errors and the coverage of its intervals.
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
    import numpy as np
    from sklearn.base import is_regressor

    from separatrix.cli import scoring
    from separatrix.cli.streaming import piecewise

    estimator = saved.estimator
    options: dict[str, Any] = {"what": "Evaluating", "target": target or True, "quiet": quiet}
    if is_regressor(estimator):
        blocks = piecewise(
            lambda X, data: scoring.gather(estimator, X, _truth(data, file)),
            saved,
            file,
            **options,
            **reading,
        )
        return scoring.score_quantities(list(blocks))
    classes = saved.classes

    def work(X: Any, data: Dataset) -> tuple[Any, Any, Any, Any]:
        truth = scoring.match_labels(_truth(data, file), classes)
        shares = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
        known = np.isin(truth, classes).all()
        cost = scoring.mean_cost(estimator, X, truth) if known else None
        return truth, estimator.predict(X), shares, None if cost is None else (cost, len(truth))

    pieces = list(piecewise(work, saved, file, **options, **reading))
    truth, said, shares, costs = zip(*pieces, strict=True)
    return scoring.score_classes(
        np.concatenate(truth),
        np.concatenate(said),
        None if shares[0] is None else np.concatenate(shares),
        classes,
        [cost for cost in costs if cost is not None],
    )


def _truth(data: Dataset, file: str) -> Any:
    from separatrix.data import LabelSets
    from separatrix.errors import DataError

    if data.y is None:
        names = ", ".join(map(repr, data.feature_names[:8]))
        raise DataError(f"{file}: which column holds the true labels? Name it by --target: {names}")
    if isinstance(data.y, LabelSets):
        raise DataError(f"{file}: rows have sets of labels, and the model predicts one")
    return data.y
