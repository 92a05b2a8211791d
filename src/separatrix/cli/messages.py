"""What a command says on standard error, beside its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separatrix.progress import Bar

__all__ = ["SECONDS", "note", "waiting"]

#: Work that is done sooner shows no bar.
SECONDS = 2.0


def waiting(what: str, *, quiet: bool = False) -> Bar:
    """A bar for work that turns out to take more than `SECONDS`, on terminals only.

    Examples
    --------
    >>> with waiting("Counting") as bar:
    ...     bar.advance(1)
    """
    from separatrix.progress import Bar

    return Bar(what, after=SECONDS, stderr=True, shown=not quiet)


def note(message: str, *, quiet: bool = False) -> None:
    """Say something that is not part of the result."""
    if not quiet:
        import typer

        typer.echo(message, err=True)
