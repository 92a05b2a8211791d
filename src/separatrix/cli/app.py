"""The command `separatrix`: compare learners, list them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["app", "main"]

#: Exit codes: what the user can mend, what only a developer can, a reader that left, and Ctrl-C.
USER_ERROR, INTERNAL_ERROR, CLOSED_PIPE, INTERRUPTED = 2, 1, 1, 130

app = typer.Typer(
    name="separatrix",
    help="Linear classifiers, compared honestly.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_debug = False


def _set_debug(value: bool) -> None:
    global _debug
    _debug = _debug or value


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"separatrix {version('separatrix')}")
        except PackageNotFoundError:
            typer.echo("separatrix (run from source, not installed)")
        raise typer.Exit


Debug = Annotated[
    bool, typer.Option("--debug", callback=_set_debug, help="Show tracebacks of errors.")
]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def compare(
    name: Annotated[str, typer.Argument(help="Data set: digits, iris, wine or breast_cancer.")],
    learner: Annotated[
        list[str] | None,
        typer.Option(
            "--learner",
            "-l",
            help="Only this learner (repeatable); default: all but the slow ones.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split and the learners.")] = 0,
    json: Annotated[
        Path | None, typer.Option("--json", help="Also write the result to this file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show the champion's line only.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Compare learners on a data set and test the best one.

    Rows are split into train, held-out and test. Every learner is tuned on held-out accuracy, the
    best one is fitted again on train and held-out rows, and the test set is opened once, for it.
    """
    from rich.console import Console

    from separatrix.cli import datasets, output

    # Progress and complaints go to stderr, so that the result can be piped.
    errors = Console(stderr=True)
    if json is not None:
        output.check_writable(json)
    X, y = datasets.load(name)
    from separatrix.experiment import compare as run_comparison

    lively = errors.is_terminal and not errors.is_dumb_terminal
    reporter = (output.Silence if quiet else output.Bars if lively else output.Lines)(errors)
    try:
        with reporter:
            result = run_comparison(
                X, y, learners=learner or "auto", random_state=seed, progress=reporter
            )
    except KeyboardInterrupt:
        _show_finished(reporter.finished)
        raise typer.Exit(INTERRUPTED) from None
    if json is not None:
        output.write_json(json, {"data": name, **result.to_dict()})
    if quiet:
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


@app.command()
def learners(debug: Debug = False) -> None:
    """List the learners and how each is tuned."""
    from separatrix.registry import LEARNERS

    typer.echo("\n".join(_learner_lines(LEARNERS)))


def _learner_lines(entries: Sequence[Any]) -> list[str]:
    ways = {
        "none": "nothing to tune",
        "passes": "passes, early stopping",
        "path": "path of C",
        "counts": "smoothing, counted once",
        "grid": "a fit for every value",
    }
    width = max(len(entry.name) for entry in entries)
    lines = []
    for entry in entries:
        tasks = "binary, multiclass" if len(entry.tasks) == 2 else entry.tasks[0]
        lines.append(f"{entry.name:<{width}}  {tasks:<18}  {ways[entry.kind]:<23}  {entry.summary}")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; default: those of the process.

    Returns
    -------
    int
        0, or 2 for an error of the user, 1 for an internal error, 130 after Ctrl-C.
    """
    global _debug
    _debug = False
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=words, prog_name="separatrix", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has gone; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except Exception as error:
        return _complain(error)


def _complain(error: Exception) -> int:
    if _debug:
        traceback.print_exception(error)
    usage = getattr(error, "format_message", None)  # an error of the command line itself
    if usage is not None:
        message, code = str(usage()), USER_ERROR
    elif isinstance(error, ValueError | OSError):
        message, code = str(error), USER_ERROR
    else:
        message = f"{type(error).__name__}: {error} (a bug; --debug shows where)"
        code = INTERNAL_ERROR
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return code
