"""Writing a file whole or not at all; pipes and devices as they come."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["replacing", "written_directly"]

#: Folders whose entries are open files of a process, not files of their own.
_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(\d+)(/task/\d+)?/fd")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well; else nothing changes.

    The bytes go to a temporary name in the same folder (renaming is atomic only within one file
    system), reach the disk, and then the name is moved. Whoever opens `path` at any moment, also
    after a crash or a loss of power, finds the old file or the new one, both whole. A file that is
    replaced keeps its mode; a new one gets the mode that `open` gives.

    What a killed process left of such a write is removed by the next write to the same name. A
    writer holds a lock on its temporary file, so that one at work is told from one that is gone;
    on systems without such locks (Windows) left-over files stay.

    Where `written_directly` says so (pipes, devices, ``/dev/stdout``), there is nothing to replace:
    the bytes go there as they come.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a") as file:
    ...         _ = file.write(b"whole")
    ...     os.listdir(folder)
    ['a']
    """
    if written_directly(path):
        with _open_directly(path) as file:
            yield file
        return
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
    _remove_leftovers(target)
    temporary, descriptor = _open_temporary(target, 0o666 if kept is None else kept)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if kept is not None:
                os.chmod(temporary, kept)  # what the umask took away at the opening
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # the lock ends with the file: the name must be moved before
                os.replace(temporary, target)
        if fcntl is None:  # Windows moves no file that is open
            os.replace(temporary, target)
    except BaseException:  # Ctrl-C too must not leave half a file behind
        with suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def written_directly(path: str | os.PathLike[str]) -> bool:
    """Whether `path` is no file that could be replaced: a pipe, a device, a descriptor.

    Examples
    --------
    >>> written_directly(os.devnull), written_directly("a new file")
    (True, False)
    """
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _descriptor(path: str | os.PathLike[str]) -> tuple[str, int] | None:
    """Process ("" for this one) and number of the open file that `path` stands for, if it does.

    ``/dev/stdout`` leads to ``/proc/self/fd/1``, and that to the file behind it, which may be a
    regular one; whoever names it means the stream.
    """
    place = os.fspath(path)
    for _ in range(40):  # as many links as the kernel follows
        folder, name = os.path.split(os.path.abspath(place))
        match = _DESCRIPTORS.fullmatch(os.path.realpath(folder))
        if match and name.isdecimal():
            process = match[1] or ""
            return ("" if process == str(os.getpid()) else process), int(name)
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


def _open_directly(path: str | os.PathLike[str]) -> BinaryIO:
    found = _descriptor(path)
    if found is None or found[0]:
        return open(path, "wb")
    # A second opening would begin at the start of a redirected file and write over its contents.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return os.fdopen(os.dup(found[1]), "wb")


def _prefix(target: Path) -> str:
    # Names of files have at most 255 bytes on most systems, and the rest takes 22.
    return f".{target.name.encode(errors='surrogateescape')[:200].decode(errors='ignore')}."


def _open_temporary(target: Path, mode: int) -> tuple[Path, int]:
    """A new file beside `target`, open and locked."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
        descriptor = os.open(temporary, flags, mode)
        if _lock(descriptor, wait=True) is not False and _is_named(descriptor, temporary):
            return temporary, descriptor
        os.close(descriptor)  # taken for a left-over file before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of `target` whose writers are gone."""
    if fcntl is None:
        return
    prefix = _prefix(target)
    pattern = re.compile(re.escape(prefix) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError), os.scandir(target.parent) as entries:
        found = [entry.path for entry in entries if pattern.fullmatch(entry.name)]
        for path in found:
            with suppress(OSError):  # gone by now, or another user's
                descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    if _lock(descriptor, wait=False):
                        os.unlink(path)
                finally:
                    os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool | None:
    """Whether the file is locked now; None where the system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody's left-over files are removed there
        return None
    return True


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where the system lets folders be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
