"""`separatrix compare`: learners side by side, the best two tested, the champion kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.exits import INTERRUPTED
from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    InputFormat,
    Json,
    Quiet,
    Seed,
    Source,
    Threads,
)

__all__ = ["compare", "run_experiment"]

Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column to predict; default: found.")
]
Save = Annotated[Path | None, typer.Option("--save", help="Write the model to this file.")]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write the report to this HTML file.")
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        help="accuracy, balanced_accuracy, macro_f1, log_loss, cost, rmse or log_density.",
    ),
]
Budget = Annotated[
    str | None, typer.Option("--budget", help="Time for everything, such as 60s, 5m or 1h.")
]
Cost = Annotated[
    Path | None,
    typer.Option("--cost", help="CSV of costs: a row per true class, a column per prediction."),
]
Test = Annotated[str | None, typer.Option("--test", help="A file of test rows.")]
HeldOut = Annotated[str | None, typer.Option("--held-out", help="A file of held-out rows.")]
Group = Annotated[
    str | None, typer.Option("--group", help="Column of groups that must not be parted.")
]
Time = Annotated[
    str | None, typer.Option("--time", help="Column of times: the latest rows are the test.")
]
Task = Annotated[
    str, typer.Option("--task", help="binary, multiclass or regression; default: found.")
]
Text = Annotated[
    list[str] | None, typer.Option("--text", help="Column that holds texts (repeatable).")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column to leave out (repeatable).")]
Calibration = Annotated[
    str,
    typer.Option("--calibration", help="auto, none, temperature, sigmoid or isotonic."),
]


def compare(
    source: Source,
    target: Target = None,
    save: Save = None,
    report: Report = None,
    learners: Annotated[
        str | None,
        typer.Option(
            "--learners", "-l", help="Only these, with commas between; default: all that suit."
        ),
    ] = None,
    metric: Metric = "auto",
    budget: Budget = None,
    cost: Cost = None,
    test: Test = None,
    held_out: HeldOut = None,
    group: Group = None,
    time: Time = None,
    task: Task = "auto",
    text: Text = None,
    drop: Drop = None,
    previous: Annotated[
        Path | None, typer.Option("--previous", help="A model file to compare with.")
    ] = None,
    calibration: Calibration = "auto",
    input_format: InputFormat = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare learners, test the best two, keep the champion.

    Rows are split into train, held-out and test. Every learner is tuned on held-out rows, the best
    two are fitted again on train and held-out rows, and the test set is opened once, for both.
    """
    wanted = "auto" if learners is None else [name.strip() for name in learners.split(",")]
    run_experiment(
        source,
        wanted,
        target=target,
        save=save,
        report=report,
        metric=metric,
        budget=budget,
        cost=cost,
        test=test,
        held_out=held_out,
        group=group,
        time=time,
        task=task,
        text=text,
        drop=drop,
        previous=previous,
        calibration=calibration,
        options={"format": input_format, "encoding": encoding, "delimiter": delimiter},
        seed=seed,
        threads=threads,
        json=json,
        quiet=quiet,
    )


def run_experiment(
    source: str,
    learners: Any,
    *,
    champion: str | None = None,
    target: str | None,
    save: Path | None,
    report: Path | None,
    metric: str,
    budget: str | None,
    cost: Path | None,
    test: str | None,
    held_out: str | None,
    group: str | None,
    time: str | None,
    task: str,
    text: list[str] | None,
    drop: list[str] | None,
    previous: Path | None,
    calibration: str,
    options: dict[str, Any],
    seed: int,
    threads: int | None,
    json: bool,
    quiet: bool,
) -> None:
    """Run an experiment, show it, and write what was asked for."""
    from time import perf_counter

    from rich.console import Console

    from separatrix.cli import files, output, tables
    from separatrix.cli.source import read

    start = perf_counter()
    for path in (save, report):
        if path is not None:
            files.check_writable(path)
    if report is not None:
        from separatrix.report.rendering import check_available

        check_available()  # rather than after a long run
    seconds = None if budget is None else parse_seconds(budget)

    data = read(source, quiet=quiet, target=target, text=text, **options)
    from separatrix.errors import ParameterError
    from separatrix.experiment import ByTime, Experiment, Given, Grouped, Inputs
    from separatrix.experiment.source import as_dataset

    data = as_dataset(data, target or "auto")

    def look(name: str) -> Any:
        # Further files are read as the first one was: words stay words, texts stay texts.
        needs = Inputs.of(data).options(target=True)
        needs.pop("columns", None)
        return read(name, quiet=quiet, needs=needs, **options)

    asked = [one for one in (test, group, time) if one is not None]
    if len(asked) > 1:
        raise ParameterError("--test, --group and --time exclude each other")
    split: Any = (0.6, 0.2, 0.2)
    if test is not None:
        split = Given(look(test), None if held_out is None else look(held_out))
    elif held_out is not None:
        raise ParameterError("--held-out goes with --test")
    elif group is not None:
        split = Grouped(group)
    elif time is not None:
        split = ByTime(time)
    known = None
    if previous is not None:
        from separatrix.persistence import load

        known = load(previous)
    experiment = Experiment(
        data,
        learners=learners,
        metric=metric,
        split=split,
        # Reading the files took some of it.
        budget=None if seconds is None else max(1e-3, seconds - (perf_counter() - start)),
        cost=cost,
        task=task,
        drop=drop or (),
        champion=champion,
        previous=known,
        calibration=calibration,
        random_state=seed,
        n_jobs=threads,
        name=source,
        command=_command(),
    )
    # Progress and complaints go to stderr, so that the result can be piped.
    errors = Console(stderr=True)
    lively = errors.is_terminal and not errors.is_dumb_terminal
    reporter = (output.Silence if quiet else output.Bars if lively else output.Lines)(errors)
    try:
        with reporter:
            result = experiment.run(reporter)
    except KeyboardInterrupt:
        _show_finished(reporter.finished)
        raise typer.Exit(INTERRUPTED) from None
    if save is not None:
        result.save(save)
    if report is not None:
        result.to_html(report)
    if json:
        tables.print_json(result.to_dict())
    elif quiet:
        typer.echo(result.verdict())
    else:
        output.show(result, Console())
        for what, path in (("Model", save), ("Report", report)):
            if path is not None:
                typer.echo(f"{what}: {path}")


def parse_seconds(words: str) -> float:
    """Seconds of "90", "60s", "5m" or "1.5h".

    Examples
    --------
    >>> parse_seconds("1.5m")
    90.0
    """
    from separatrix.errors import ParameterError

    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (words[:-1], units[words[-1]]) if words[-1:] in units else (words, 1.0)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ParameterError(f"--budget takes a time such as 60s, 5m or 1h, got {words!r}")
    return seconds


def _command() -> str:
    """The words that repeat this run."""
    import shlex

    return shlex.join(["separatrix", *sys.argv[1:]])


def _show_finished(rows: Sequence[Any]) -> None:
    from separatrix.experiment.result import format_rows

    typer.echo("Interrupted; the test set stays sealed.", err=True)
    if rows:
        typer.echo("Learners that were done:", err=True)
        typer.echo("\n".join(format_rows(rows)))
