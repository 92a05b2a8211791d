"""Writing a file whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well; else nothing changes.

    The bytes go to a temporary name in the same folder (renaming is atomic only within one file
    system), reach the disk, and then the name is moved. Whoever opens `path` at any moment, also
    after a crash or a loss of power, finds the old file or the new one, both whole. A file that is
    replaced keeps its mode; a new one gets the mode that `open` gives.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a") as file:
    ...         _ = file.write(b"whole")
    ...     os.listdir(folder)
    ['a']
    """
    # A link stays a link: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    try:
        old = target.stat()
    except FileNotFoundError:
        kept = None
    else:
        if stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file in it")
        kept = stat.S_IMODE(old.st_mode)
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666 if kept is None else kept)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if kept is not None:
                os.chmod(temporary, kept)  # what the umask took away at the opening
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:  # Ctrl-C too must not leave half a file behind
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where the system lets folders be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
