"""A model at work on the rows of a SOURCE, piece by piece, under a progress bar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from separatrix.data import Dataset
    from separatrix.models import Model

__all__ = ["ROWS", "open_model", "piecewise"]

Result = TypeVar("Result")

#: Rows of a piece: enough to keep the kernels busy, few enough for any memory.
ROWS = 32_768


def open_model(path: Path) -> Model:
    """Open a model file; a wrong name is told before everything is imported."""
    with open(path, "rb"):
        pass
    from separatrix import models

    return models.open(path)


def piecewise(
    work: Callable[[Any, Dataset], Result],
    model: Model,
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
    model : Model
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
    from separatrix.cli.source import open_source
    from separatrix.errors import DataError

    bar = waiting(what, quiet=quiet)
    shown = "<stdin>" if source == "-" else source
    with _naming_rows(shown):
        opened = open_source(source, needs=model.inputs.options(target), **reading)
        # A text is looked at once for the kinds of its columns, and then read.
        n_bytes = opened.watch(bar.advance, passes=2)
        bar.expect(opened.count() if n_bytes is None else n_bytes)
    done = 0
    with bar:
        parts = opened.chunks(ROWS)
        while True:
            with _naming_rows(shown, done):
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


@contextmanager
def _naming_rows(source: str, first_row: int = 0) -> Iterator[None]:
    """Put the file's name, and row numbers of the whole file, into errors about a piece of it."""
    from separatrix.errors import DataError, FormatError, ParameterError

    try:
        yield
    except FormatError:
        raise
    except ParameterError as error:
        # That a column which the model needs is not there is the file's fault.
        told = re.sub(r"^(columns|text): ", "", str(error))
        if told == str(error):
            raise
        raise DataError(f"{source}: {told}; the model needs it") from error
    except ValueError as error:
        place = "" if str(error).startswith(source) else f"{source}: "
        message = re.sub(
            r"\brow (\d+)", lambda found: f"row {int(found[1]) + first_row}", str(error)
        )
        raise DataError(place + message) from error
