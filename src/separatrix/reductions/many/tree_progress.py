"""What the long work on a label tree shows while it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from separatrix._core import TreeProgress

__all__ = ["progress_bar"]

#: Seconds between two looks.
_SLICE = 0.2


@contextmanager
def progress_bar(name: str, total: int, verbose: int) -> Iterator[TreeProgress]:
    """Yield a counter for a kernel, and show it as a bar unless `verbose` is zero.

    Examples
    --------
    >>> with progress_bar("nodes", 10, verbose=0) as counter:
    ...     counter.done
    0
    """
    counter = TreeProgress()
    if not verbose:
        yield counter
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    ended = threading.Event()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task(name, total=total)

        def watch() -> None:
            while not ended.wait(_SLICE):
                bar.update(task, completed=min(counter.done, total))

        watcher = threading.Thread(target=watch, name="label-tree-progress", daemon=True)
        watcher.start()
        try:
            yield counter
            bar.update(task, completed=total)
        finally:
            ended.set()
            watcher.join()
