"""Where bytes come from: paths, open files, buffers; and the name that errors carry."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from separatrix._core import Source
from separatrix.errors import FormatError, ParameterError

__all__ = ["LINE_LIMIT", "UNPACK_LIMIT", "Origin", "TextStream", "naming", "origin_of"]

#: Bytes from the beginning that formats are told by.
SAMPLE = 1 << 16

#: Bytes of a line (1 GiB), and plain bytes for each packed one: no table or text that was meant to
#: be one is beyond these, and what is made to fill the memory is.
LINE_LIMIT = 1 << 30
UNPACK_LIMIT = 200


@dataclass(frozen=True)
class Origin:
    """A place that can be read from its beginning, more than once.

    Parameters
    ----------
    content : str or bytes
        A path, or the bytes themselves.
    name : str
        For messages.
    watch : callable, optional
        Told how many bytes more were read, where a text is read line by line; for progress bars.
    line_limit : int, optional
        Most bytes of a line; more is a FormatError.
    unpack_limit : int, optional
        Most plain bytes for each packed one, beyond 256 MiB; more is a FormatError.
    """

    content: str | bytes
    name: str
    watch: Callable[[int], None] | None = None
    line_limit: int | None = LINE_LIMIT
    unpack_limit: int | None = UNPACK_LIMIT

    def open(self) -> Source:
        """A new stream from the beginning, unpacked when it is gzip or Zstandard."""
        if isinstance(self.content, str):
            # Python's own complaint names the file; the kernel's would not.
            with open(self.content, "rb"):
                pass
        return Source(self.content, self.line_limit, self.unpack_limit)

    @cached_property
    def sample(self) -> bytes:
        """The first bytes, unpacked."""
        return self.open().peek(SAMPLE)

    def recode(self, encoding: str | None) -> Origin:
        """The same text in UTF-8."""
        if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
            return self
        try:
            text = self.open().read(None).decode(encoding)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            message = f"byte 0x{error.object[error.start]:02x} is not {encoding}"
            raise FormatError(message, line, self.name) from None
        except LookupError:
            raise ParameterError(f"there is no encoding {encoding!r}") from None
        return replace(self, content=text.encode())


def origin_of(path_or_buffer: Any) -> Origin:
    """The origin for a path, bytes, or an object with ``read``; an origin as it is.

    Examples
    --------
    >>> origin_of(b"1 2:3").open().read(None)
    b'1 2:3'
    """
    if isinstance(path_or_buffer, Origin):
        return path_or_buffer
    if isinstance(path_or_buffer, str | os.PathLike):
        path = os.fspath(path_or_buffer)
        return Origin(path if isinstance(path, str) else os.fsdecode(path), str(path_or_buffer))
    if isinstance(path_or_buffer, bytes | bytearray | memoryview):
        return Origin(bytes(path_or_buffer), "<bytes>")
    if hasattr(path_or_buffer, "read"):
        content = path_or_buffer.read()
        name = getattr(path_or_buffer, "name", None)
        shown = name if isinstance(name, str) else "<buffer>"
        return Origin(content.encode() if isinstance(content, str) else content, shown)
    raise ParameterError(
        f"a path, bytes or an object with read() is needed, not {type(path_or_buffer).__name__}"
    )


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Put the file's name into every FormatError that has none."""
    try:
        yield
    except FormatError as error:
        if error.file is None:
            raise FormatError(error.message, error.line, name) from None
        raise


class _Raw(io.RawIOBase):
    """A source as a raw stream of the standard library."""

    def __init__(self, origin: Origin) -> None:
        self._source, self._watch = origin.open(), origin.watch

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        if self._watch is not None:
            self._watch(len(data))
        return len(data)


class TextStream:
    """The lines of a text in UTF-8, with the number of the one that was read last.

    Lines keep their ends. What is not UTF-8 is a FormatError that names the line.
    """

    def __init__(self, origin: Origin) -> None:
        # A million bytes at a time: one crossing of the border each.
        self._lines = io.BufferedReader(_Raw(origin), 1 << 20)
        self.line = 0

    def __iter__(self) -> TextStream:
        return self

    def __next__(self) -> str:
        raw = self._lines.readline()
        if not raw:
            raise StopIteration
        self.line += 1
        if self.line == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            column = len(raw[: error.start].decode(errors="replace")) + 1
            byte = raw[error.start]
            hint = "pass encoding= (such as 'latin-1' or 'utf-16')"
            message = f"byte 0x{byte:02x} at column {column} is not UTF-8; {hint}"
            raise FormatError(message, self.line) from None
