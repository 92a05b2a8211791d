"""Files that commands write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["check_writable", "write_parts"]


def check_writable(path: Path) -> None:
    """Raise OSError now rather than after a long run if `path` cannot be written."""
    from separatrix.atomic import written_directly

    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    if written_directly(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"cannot write to {path}")
        return
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write in {folder}")


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text piece by piece; what stood at `path` is replaced when all of it is there."""
    from separatrix.atomic import replacing

    with replacing(path) as file:
        for part in parts:
            file.write(part.encode())
