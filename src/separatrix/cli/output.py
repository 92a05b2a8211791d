"""What the command line shows: live bars or plain lines, and the final table."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console

if TYPE_CHECKING:
    from separatrix.experiment import LeaderboardRow, Progress, Result

__all__ = ["Bars", "Lines", "Silence", "show"]


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
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[setting]:>17}"),
            TextColumn("{task.fields[held_out]:>16}"),
            # Time left; when a learner is done, the time that it took.
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console,
        )
        self._tasks: dict[str, Any] = {}
        self._stage: Any = None

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
        if self._stage is not None:
            self._bars.remove_task(self._stage)
            self._stage = None
        if progress.stage:
            self._stage = self._bars.add_task(
                f"{progress.stage} …", total=None, setting="", held_out=""
            )
            return
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(
                f"{name:<22}", total=progress.n_steps, setting="", held_out=""
            )
        if progress.step == 0:
            return
        self._bars.update(
            self._tasks[name],
            completed=progress.step,
            # A learner that stopped early is done: its bar is full.
            total=progress.step if progress.row is not None else progress.n_steps,
            setting=progress.setting,
            held_out=f"held-out {progress.held_out:.4f}",
        )


def show(result: Result, console: Console) -> None:
    """Print the leaderboard and the champion: a rich table on a terminal, plain text elsewhere."""
    if not console.is_terminal:
        console.print(str(result), markup=False, highlight=False, soft_wrap=True)
        return
    from rich import box
    from rich.table import Table

    from separatrix.report.content import HEADINGS

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
    for row in result.leaderboard:
        champion = row is result.champion
        table.add_row(*row.cells(), style="bold green" if champion else "dim" * row.baseline)
    console.print(*result.opening(), sep="\n", markup=False, highlight=False)
    console.print(table)
    for note in result.remarks():
        console.print(note, markup=False, highlight=False)
    for warning in result.warnings():
        console.print(warning, style="bold red", markup=False, highlight=False)
    console.print(result.verdict(), style="bold", markup=False, highlight=False)
