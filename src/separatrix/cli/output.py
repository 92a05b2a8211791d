"""What the command line shows: live bars or plain lines, and the final table."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console

from separatrix.atomic import replacing

if TYPE_CHECKING:
    from separatrix.experiment import Comparison, LeaderboardRow, Progress

__all__ = ["Bars", "Lines", "Silence", "check_writable", "show", "write_json"]


class Silence(AbstractContextManager["Silence"]):
    """Remembers the finished learners and shows nothing."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.finished: list[LeaderboardRow] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def __call__(self, progress: Progress) -> None:
        """Take a report of the comparison."""
        if progress.row is not None:
            self.finished.append(progress.row)


class Lines(Silence):
    """A line per finished learner, for logs and pipes."""

    def __call__(self, progress: Progress) -> None:
        """Take a report of the comparison."""
        super().__call__(progress)
        if progress.row is None:
            return
        row = progress.row
        setting = "" if row.value is None else f" with {row.setting}"
        self.console.print(
            f"{row.learner}: held-out {row.held_out:.4f}{setting}, {row.seconds:.2f} s",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


class Bars(Silence):
    """A live bar per learner, with the setting at work and its held-out accuracy."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[setting]:>10}"),
            TextColumn("held-out {task.fields[held_out]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Take a report of the comparison."""
        super().__call__(progress)
        name = progress.learner
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(
                f"{name:<19}", total=progress.n_steps, setting="", held_out="      "
            )
        if progress.step == 0:
            return
        self._bars.update(
            self._tasks[name],
            completed=progress.step,
            # A learner that stopped early is done: its bar is full.
            total=progress.step if progress.row is not None else progress.n_steps,
            setting=progress.setting,
            held_out=f"{progress.held_out:.4f}",
        )


def show(comparison: Comparison, console: Console) -> None:
    """Print the leaderboard and the champion: a rich table on a terminal, plain text elsewhere."""
    if not console.is_terminal:
        console.print(str(comparison), markup=False, highlight=False, soft_wrap=True)
        return
    from rich import box
    from rich.table import Table

    from separatrix.experiment.comparison import HEADINGS

    table = Table(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title="Leaderboard", title_justify="left"
    )
    for name, align in HEADINGS:
        # On a narrow terminal the solver's words fold; names and numbers stay whole.
        table.add_column(
            name,
            justify="left" if align == "left" else "right",
            no_wrap=name != "solver",
            overflow="fold",
        )
    for row in comparison.leaderboard:
        champion = row is comparison.champion
        table.add_row(*row.cells(), style="bold green" if champion else "dim" * row.baseline)
    console.print(comparison.sizes(), *comparison.steps, sep="\n", highlight=False)
    console.print(table)
    for note in comparison.notes():
        console.print(note, markup=False, highlight=False)
    console.print(comparison.verdict(), style="bold", markup=False, highlight=False)


def check_writable(path: Path) -> None:
    """Raise OSError now rather than after a long run if `path` cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write in {folder}")


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write `record` to `path` in one step: readers see the old file or the new one."""
    with replacing(path) as file:
        text = json.dumps(record, indent=2, allow_nan=False)
        file.write(f"{text}\n".encode())
