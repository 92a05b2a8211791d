"""What long work shows while it runs: the bars of fits, clusters and the command line."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from separatrix.results import TraceRow, relative_gap

__all__ = ["Bar", "Watch", "fitting"]


class Bar:
    """A bar, perhaps with a second one below it; a context manager.

    Parameters
    ----------
    what : str
        What is going on, such as "Predicting".
    total : float or None
        Steps in all; without it the bar shows that something happens, and for how long.
    even : bool
        Whether steps take about the same time, so that the time left can be told.
    after : float
        Seconds of work before the bar appears.
    stderr : bool
        Show it on standard error, on terminals only, and take it away when all is done.
    shown : bool
        False shows nothing at all.

    Examples
    --------
    >>> with Bar("Counting", total=3, shown=False) as bar:
    ...     for _ in range(3):
    ...         bar.advance(1)
    """

    def __init__(
        self,
        what: str,
        total: float | None = None,
        *,
        even: bool = True,
        after: float = 0.0,
        stderr: bool = False,
        shown: bool = True,
    ) -> None:
        self._what, self._total, self._even = what, total, even
        self._after, self._stderr, self._shown = after, stderr, shown
        self._bars: Any = None
        self._timer: threading.Timer | None = None

    def expect(self, total: float | None) -> None:
        """Set the number of steps, before the bar begins."""
        self._total = total

    def __enter__(self) -> Self:
        if not self._shown:
            return self
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        console = Console(stderr=self._stderr)
        if self._stderr and (not console.is_terminal or console.is_dumb_terminal):
            return self
        columns: list[Any] = [TextColumn("{task.description}"), BarColumn(bar_width=32)]
        if self._total is not None and self._even:
            columns += [TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn()]
            columns += [TimeRemainingColumn(), TextColumn("left")]
        else:
            columns.append(TimeElapsedColumn())
        self._bars = Progress(*columns, console=console, transient=self._stderr)
        self._task = self._bars.add_task(self._what, total=self._total)
        self._below: Any = None
        if self._after > 0:
            self._timer = threading.Timer(self._after, self._bars.start)
            self._timer.daemon = True
            self._timer.start()
        else:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # it may be about to start the bar
        self._bars.stop()

    def advance(self, steps: float) -> None:
        """So many steps more are done."""
        if self._bars is not None:
            self._bars.advance(self._task, steps)

    def reach(self, done: float, text: str | None = None) -> None:
        """So many steps are done in all."""
        if self._bars is not None:
            self._bars.update(self._task, completed=done, description=text)

    def below(self, done: int, total: int, text: str) -> None:
        """The same for the second bar."""
        if self._bars is not None:
            if self._below is None:
                self._below = self._bars.add_task(text, total=total)
            self._bars.update(self._below, completed=done, total=total, description=text)


class Watch(NamedTuple):
    """Whom a fit is to tell; None where nobody looks.

    Attributes
    ----------
    on_pass : callable or None
        Takes the row of the trace after every pass.
    on_partition : callable or None
        Takes the number of partitions done and of all, on a cluster.
    """

    on_pass: Callable[[TraceRow], None] | None
    on_partition: Callable[[int, int], None] | None


@contextmanager
def fitting(name: str, verbose: int, tol: float) -> Iterator[Watch]:
    """What a fit shows: nothing for verbose=0, a bar toward the tolerance for 1, lines for 2."""
    if not verbose:
        yield Watch(None, None)
        return
    if verbose > 1:
        yield Watch(lambda row: print(_line(name, row)), None)
        return
    with Bar(name, total=1.0, even=False) as bar:

        def on_pass(row: TraceRow) -> None:
            relative = relative_gap(row.gap, row.objective)
            text = f"{name}: pass {row.n_passes:.0f}, relative gap {relative:.1e}{_held_out(row)}"
            bar.reach(_nearness(relative, tol), text)

        def on_partition(done: int, total: int) -> None:
            bar.below(done, total, f"partition {done} of {total}")

        yield Watch(on_pass, on_partition)


def _nearness(relative: float, tol: float) -> float:
    """How far the relative gap has come from 1 to `tol`, on a log scale.

    Examples
    --------
    >>> _nearness(1.0, 1e-4), _nearness(1e-2, 1e-4), _nearness(1e-9, 1e-4)
    (0.0, 0.5, 1.0)
    """
    if not math.isfinite(relative):
        return 0.0
    if relative <= max(tol, 0.0) or tol <= 0:
        return 1.0
    return min(1.0, max(0.0, math.log(relative) / math.log(tol)))


def _held_out(row: TraceRow) -> str:
    return "" if math.isnan(row.held_out) else f"  held-out score {row.held_out:.4f}"


def _line(name: str, row: TraceRow) -> str:
    return (
        f"{name}: pass {row.n_passes:.1f}  objective {row.objective:.8g}  "
        f"gap {row.gap:.2e}  {row.seconds:.2f} s{_held_out(row)}"
    )
