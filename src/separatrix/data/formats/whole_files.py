"""Files written whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, cast

from separatrix.atomic import replacing
from separatrix.errors import DataError, ParameterError

__all__ = ["write_atomically"]


def write_atomically(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write the `parts` of a text under another name beside `path`, then rename; ``.gz`` packs.

    When anything fails, what stood at `path` before stands there still and no other file is left.
    """
    target = Path(path)
    if target.suffix.lower() in (".zst", ".zstd"):
        raise ParameterError(f"{path}: Zstandard is read, not written; use .gz or no packing")
    with replacing(target) as raw:
        if target.suffix.lower() == ".gz":
            # No time stamp inside: the same data give the same file.
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                _write(cast("IO[bytes]", packed), parts)
        else:
            _write(raw, parts)


def _write(stream: IO[bytes], parts: Iterable[bytes]) -> None:
    first = True
    for part in parts:
        if b"\0" in part:
            raise DataError("a NUL cannot be written: the file would count as binary")
        if first and part.startswith(b"\xef\xbb\xbf"):
            raise DataError("a text cannot begin with U+FEFF: it would be taken for a mark")
        first = first and not part
        stream.write(part)
