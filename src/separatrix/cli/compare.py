"""`separatrix compare`: learners side by side, the best one tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from separatrix.cli.exits import INTERRUPTED
from separatrix.cli.options import Debug, Json, Quiet, Seed, Source, Threads

__all__ = ["compare"]


def compare(
    source: Source,
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            help="Only this learner (repeatable); default: all but the slow ones.",
        ),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare learners on a data set and test the best one.

    Rows are split into train, held-out and test. Every learner is tuned on held-out accuracy, the
    best one is fitted again on train and held-out rows, and the test set is opened once, for it.
    """
    import numpy as np
    from rich.console import Console

    from separatrix.cli import output, tables
    from separatrix.cli.source import read
    from separatrix.experiment import compare as run_comparison

    data = read(source)
    if data.kind == "images":
        X = data.X.reshape(len(data), -1)
    elif data.kind == "table":
        X = np.column_stack(list(data.X.values()))
    else:
        X = data.X
    # Progress and complaints go to stderr, so that the result can be piped.
    errors = Console(stderr=True)
    lively = errors.is_terminal and not errors.is_dumb_terminal
    reporter = (output.Silence if quiet else output.Bars if lively else output.Lines)(errors)
    try:
        with reporter:
            result = run_comparison(
                X, data.y, learners=learner or "auto", random_state=seed, progress=reporter
            )
    except KeyboardInterrupt:
        _show_finished(reporter.finished)
        raise typer.Exit(INTERRUPTED) from None
    if json:
        tables.print_json({"data": source, **result.to_dict()})
    elif quiet:
        typer.echo(result.verdict())
    else:
        output.show(result, Console())


def _show_finished(rows: Sequence[Any]) -> None:
    from separatrix.experiment.comparison import format_rows

    typer.echo("Interrupted; the test set stays sealed.", err=True)
    if rows:
        typer.echo("Learners that were done:", err=True)
        best_first = sorted(rows, key=lambda row: -row.held_out)
        typer.echo("\n".join(format_rows(best_first)))
