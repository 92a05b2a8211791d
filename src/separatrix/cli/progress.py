"""A bar with the time left, for work that turns out to take more than two seconds."""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import Timer
from types import TracebackType
from typing import Any, Self

__all__ = ["SECONDS", "Waiting", "note"]

#: Work that is done sooner shows no bar.
SECONDS = 2.0


class Waiting(AbstractContextManager["Waiting"]):
    """A bar on stderr; it appears after `SECONDS`, on terminals only, and goes when all is done.

    Parameters
    ----------
    what : str
        What is going on, such as "Predicting".
    total : float, optional
        Steps in all; without it the bar shows that something happens, and for how long.
    quiet : bool
        Show nothing at all.

    Examples
    --------
    >>> with Waiting("Counting", total=3) as bar:
    ...     for _ in range(3):
    ...         bar.advance(1)
    """

    def __init__(self, what: str, total: float | None = None, *, quiet: bool = False) -> None:
        self._what, self._total, self._quiet = what, total, quiet
        self._bars: Any = None

    def __enter__(self) -> Self:
        if self._quiet:
            return self
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=True)
        if not console.is_terminal or console.is_dumb_terminal:
            return self
        known = self._total is not None
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            *([TextColumn("{task.percentage:>3.0f} %")] if known else []),
            TimeRemainingColumn() if known else TimeElapsedColumn(),
            TextColumn("left" if known else ""),
            console=console,
            transient=True,
        )
        self._task = self._bars.add_task(self._what, total=self._total)
        self._timer = Timer(SECONDS, self._bars.start)
        self._timer.daemon = True
        self._timer.start()
        return self

    def expect(self, total: float | None) -> None:
        """Set the number of steps, before the bar begins."""
        self._total = total

    def advance(self, steps: float) -> None:
        """So many steps more are done."""
        if self._bars is not None:
            self._bars.advance(self._task, steps)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._timer.cancel()
            self._timer.join()  # it may be about to start the bar
            self._bars.stop()


def note(message: str, *, quiet: bool = False) -> None:
    """Say something on stderr that is not part of the result."""
    if not quiet:
        import typer

        typer.echo(message, err=True)
