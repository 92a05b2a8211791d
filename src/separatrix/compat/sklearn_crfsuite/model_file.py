"""`CRF.modelfile`: where the model lies as a file of CRFsuite."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress

__all__ = ["ModelFile"]


class ModelFile:
    """A file that holds a fitted model, written when its name is first requested.

    Parameters
    ----------
    filename : str or None
        The file; None stands for a temporary one, which goes with this object.
    keep_tempfiles : bool
        Leave the temporary file.

    Examples
    --------
    >>> ModelFile(None).name is None, ModelFile("a.crfsuite").name
    (True, 'a.crfsuite')
    """

    suffix, prefix = ".crfsuite", "model"

    def __init__(self, filename: str | None, keep_tempfiles: bool = False) -> None:
        self.auto = filename is None
        self.keep_tempfiles = keep_tempfiles
        self._name = filename
        self._content: Callable[[], bytes] | None = None

    def hold(self, content: Callable[[], bytes]) -> None:
        """Take over what a temporary file is to hold."""
        self.cleanup()
        self._content = content

    @property
    def name(self) -> str | None:
        """Path of the file; None where nothing was fitted and no name given."""
        if self._name is None and self._content is not None:
            data = self._content()
            handle, self._name = tempfile.mkstemp(self.suffix, self.prefix)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            if not self.keep_tempfiles:
                self._remove = weakref.finalize(self, _remove, self._name)
        return self._name

    def cleanup(self) -> None:
        """Remove a temporary file."""
        if self.auto and self._name is not None and not self.keep_tempfiles:
            self._remove()
        if self.auto:
            self._name = None


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
