"""Files that commands write."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_writable"]


def check_writable(path: Path) -> None:
    """Raise OSError now rather than after a long run if `path` cannot be written."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write in {folder}")
