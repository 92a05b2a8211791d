"""What a fit shows while it runs: nothing, a bar, or a line per pass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from separatrix.results import TraceRow, relative_gap

__all__ = ["progress"]


@contextmanager
def progress(name: str, verbose: int, tol: float) -> Iterator[Callable[[TraceRow], None] | None]:
    """Yield a reporter: none for verbose=0, a bar towards the tolerance for 1, lines for 2."""
    if not verbose:
        yield None
    elif verbose == 1:
        with _bar(name, tol) as report:
            yield report
    else:
        yield _line(name)


def _held_out(row: TraceRow) -> str:
    return "" if math.isnan(row.held_out) else f"  held-out score {row.held_out:.4f}"


def _line(name: str) -> Callable[[TraceRow], None]:
    def report(row: TraceRow) -> None:
        print(
            f"{name}: pass {row.n_passes:.1f}  objective {row.objective:.8g}  "
            f"gap {row.gap:.2e}  {row.seconds:.2f} s{_held_out(row)}"
        )

    return report


@contextmanager
def _bar(name: str, tol: float) -> Iterator[Callable[[TraceRow], None]]:
    """A rich bar that fills as the relative gap falls from 1 to `tol`, on a log scale."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=1.0)

        def report(row: TraceRow) -> None:
            relative = relative_gap(row.gap, row.objective)
            done = 0.0
            if math.isfinite(relative):
                done = 1.0 if relative <= tol else max(0.0, math.log(relative) / math.log(tol))
            text = f"{name}: pass {row.n_passes:.0f}, relative gap {relative:.1e}{_held_out(row)}"
            bar.update(task, completed=min(1.0, done), description=text)

        yield report
