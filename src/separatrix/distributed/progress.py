"""What a fit on a cluster shows while it runs: passes, and the partitions of the present one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from separatrix.results import TraceRow, relative_gap
from separatrix.solvers.progress import progress

__all__ = ["Watch", "watching"]


class Watch(NamedTuple):
    """Whom to tell; None where nobody looks.

    Attributes
    ----------
    on_pass : callable or None
        Takes the row of the trace after every pass.
    on_partition : callable or None
        Takes the number of partitions done and of all.
    """

    on_pass: Callable[[TraceRow], None] | None
    on_partition: Callable[[int, int], None] | None


@contextmanager
def watching(name: str, verbose: int, tol: float) -> Iterator[Watch]:
    """Nothing for verbose=0, two bars for 1, a line per pass for 2."""
    if verbose != 1:
        with progress(name, verbose, tol) as report:
            yield Watch(report, None)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns) as bars:
        whole = bars.add_task(name, total=1.0)
        single = bars.add_task("partitions", total=None)

        def on_pass(row: TraceRow) -> None:
            relative = relative_gap(row.gap, row.objective)
            done = 0.0
            if math.isfinite(relative):
                near = relative <= tol or tol <= 0 or relative <= 0
                done = 1.0 if near else max(0.0, math.log(relative) / math.log(tol))
            text = f"{name}: pass {row.n_passes:.0f}, relative gap {relative:.1e}"
            bars.update(whole, completed=min(1.0, done), description=text)

        def on_partition(done: int, total: int) -> None:
            bars.update(
                single, completed=done, total=total, description=f"partition {done} of {total}"
            )

        yield Watch(on_pass, on_partition)
