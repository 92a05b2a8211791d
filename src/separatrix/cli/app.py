"""The command `separatrix`: finds the commands, runs one, turns its errors into exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from separatrix.cli.exits import INTERRUPTED, OK, close_pipe, complain
from separatrix.cli.options import THREAD_VARIABLES, set_debug, settings

__all__ = ["COMMANDS", "app", "main"]

#: Commands in the order of the help; each is the function of its name in the module of its name.
COMMANDS = (
    "compare",
    "train",
    "predict",
    "evaluate",
    "explain",
    "inspect",
    "serve",
    "convert",
    "schema",
    "clusters",
    "datasets",
    "learners",
)
#: Plain help: drawing it with rich would cost more than everything else at the start.
_PLAIN: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}


class LazyGroup(TyperGroup):
    """Commands that are imported when they are requested."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; None if there is none of this name."""
        if cmd_name not in COMMANDS:
            for name in COMMANDS:  # so that close names can be proposed
                self.get_command(ctx, name)
            return None
        if cmd_name not in self.commands:
            module = importlib.import_module(f"separatrix.cli.{cmd_name}")
            alone = typer.Typer(add_completion=False, **_PLAIN)
            alone.command(cmd_name)(getattr(module, cmd_name))
            self.commands[cmd_name] = typer.main.get_command(alone)
        return self.commands[cmd_name]

    def invoke(self, ctx: Any) -> Any:
        """Run a command; Ctrl-C and a closed pipe end it here."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
            return code
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise typer.Exit(close_pipe()) from None


app = typer.Typer(name="separatrix", cls=LazyGroup, **_PLAIN)


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"separatrix {version('separatrix')}")
        except PackageNotFoundError:
            typer.echo("separatrix (run from source, not installed)")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    # Every command shows it; the help of all must fit one screen.
    debug: Annotated[bool, typer.Option("--debug", callback=set_debug, hidden=True)] = False,
) -> None:
    """From a file to the best linear model, compared honestly."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the program's name; default: those of the process.

    Returns
    -------
    int
        0; 1 for data that cannot be used, 2 for words that cannot, 130 after Ctrl-C.
    """
    settings.reset()
    threads = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        code = app(args=words, prog_name="separatrix", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        return close_pipe()
    except Exception as error:
        return complain(error, debug=settings.debug)
    finally:
        for name, value in threads.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
