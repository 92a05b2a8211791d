"""A model at work on the rows of a SOURCE, piece by piece, under a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from separatrix.cli.model import SavedModel
    from separatrix.data import Dataset

__all__ = ["ROWS", "piecewise"]

Result = TypeVar("Result")

#: Rows of a piece: enough to keep the kernels busy, few enough for any memory.
ROWS = 10_000


def piecewise(
    work: Callable[[Any, Dataset], Result],
    model: SavedModel,
    source: str,
    *,
    what: str,
    target: str | bool = False,
    quiet: bool = False,
    **reading: Any,
) -> Iterator[Result]:
    """Results of `work` for each piece of SOURCE.

    Parameters
    ----------
    work : callable
        (X, data) -> result, where X is what the model is fed of a piece.
    model : SavedModel
    source : str
        As `open_source` takes it.
    what : str
        What is going on, for the bar.
    target : str or bool
        Whether the labels are needed, and where they stand.
    quiet : bool
        Show no bar.
    **reading
        Further options of `open_source`.

    Raises
    ------
    DataError
        With the name of the file, and the row in the whole file.
    """
    from separatrix.cli.messages import waiting
    from separatrix.cli.model import naming_rows
    from separatrix.cli.source import open_source
    from separatrix.errors import DataError

    bar = waiting(what, quiet=quiet)
    shown = "<stdin>" if source == "-" else source
    with naming_rows(shown):
        opened = open_source(source, needs=model.options(target=target), **reading)
        # A text is looked at once for the kinds of its columns, and then read.
        n_bytes = opened.watch(bar.advance, passes=2)
        bar.expect(opened.count() if n_bytes is None else n_bytes)
    done = 0
    with bar:
        parts = opened.chunks(ROWS)
        while True:
            with naming_rows(shown, done):
                data = next(parts, None)
                if data is None:
                    break
                result = work(model.take(data), data)
            yield result
            done += len(data)
            if n_bytes is None:
                bar.advance(len(data))
    if not done:
        raise DataError(f"{shown}: there are no rows")
