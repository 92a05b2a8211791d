"""Names that packages import on first use (PEP 562), and forks that wait for such imports.

A child that is forked while another thread imports a module waits forever when it needs the same
module: the import's lock stays taken, and the thread that would release it is not in the child.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Mapping
from typing import Any

__all__ = ["imported"]


class _Imports:
    """Counts the imports under way; a fork waits until there are none but its own thread's."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way = 0
        self._own = threading.local()

    def __enter__(self) -> None:
        with self._changed:
            self._under_way += 1
        self._own.under_way = getattr(self._own, "under_way", 0) + 1

    def __exit__(self, *error: object) -> None:
        self._own.under_way -= 1
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def before_fork(self) -> None:
        """Wait, and keep others from beginning until `after_fork`."""
        self._changed.acquire()
        own = getattr(self._own, "under_way", 0)
        while self._under_way > own:
            self._changed.wait()

    def after_fork(self) -> None:
        self._changed.release()


_IMPORTS = _Imports()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_IMPORTS.before_fork,
        after_in_parent=_IMPORTS.after_fork,
        after_in_child=_IMPORTS.after_fork,
    )


def imported(package: str, homes: Mapping[str, str], name: str) -> Any:
    """The value of a name from its home, a module below the package; AttributeError without one.

    Examples
    --------
    >>> imported("separatrix", {"DataError": "errors"}, "DataError")
    <class 'separatrix.errors.DataError'>
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    with _IMPORTS:
        module = importlib.import_module(f"{package}.{homes[name]}")
    return getattr(module, name)
