"""The container of a model file: safetensors, with a checksum over every byte.

    8 bytes   length of the header, little-endian
    header    JSON: "__metadata__" (str -> str) and name -> {dtype, shape, data_offsets}; padded
              with blanks so that the data begin at a multiple of 64
    data      the arrays one after the other without holes, wide types first, so that each begins
              at a multiple of its item size

The metadata hold "sha256": the digest of the whole file with these 64 digits taken as zeros. Other
programs read the arrays with any safetensors library. See
https://huggingface.co/docs/safetensors/index#format
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import mmap as mmaps
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.atomic import replacing
from separatrix.errors import ModelFileError, NotSavableError

__all__ = [
    "DTYPES",
    "HEADER_LIMIT",
    "MAPPED_FROM",
    "VERSION",
    "Container",
    "parse_json",
    "read",
    "write",
]

_FORMAT = "separatrix"
#: The format that is written, and the only one that is read.
VERSION = 1

#: Types of arrays, under their names in the file.
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}

#: The largest header, in bytes; safetensors itself stops at 100 MB.
HEADER_LIMIT = 1 << 25
#: Smaller files are copied even where mapping is allowed: it takes 0.1 s at most, and a copy cannot
#: change or end under the model.
MAPPED_FROM = 256 << 20
_ALIGNMENT = 64
_ZEROS = "0" * 64
_MARK = b'"sha256":"'
_BLOCK = 1 << 22
_CHANGED = "the file was changed while it was read; load it again when it is complete"


@dataclass(frozen=True, eq=False)
class Container:
    """An opened file whose header has been checked.

    Attributes
    ----------
    metadata : dict of str to str
        The strings of the header.
    arrays : dict of str to ndarray
        The arrays, read-only views of the copied or mapped file.
    n_bytes : int
        Size of the file.
    digest : str
        The checksum that the header states.
    """

    metadata: dict[str, str]
    arrays: dict[str, npt.NDArray[Any]]
    n_bytes: int
    digest: str
    _memory: mmaps.mmap
    _digest_at: int
    _identity: tuple[int, int, int, int]

    def check_unchanged(self, path: str | os.PathLike[str]) -> None:
        """Raise ModelFileError where the file was changed in place since it was opened.

        A file that another one took the place of is whole all the same.
        """
        try:
            now = _identity(os.stat(path))
        except OSError:  # its name is gone
            return
        if now != self._identity and now[1:3] == self._identity[1:3]:
            raise ModelFileError(_CHANGED)

    def verify(self) -> None:
        """Raise ModelFileError unless the checksum is that of the file."""
        hasher = hashlib.sha256()
        with memoryview(self._memory) as view:
            hasher.update(view[: self._digest_at])
            hasher.update(_ZEROS.encode())
            for first in range(self._digest_at + 64, self.n_bytes, _BLOCK):
                hasher.update(view[first : first + _BLOCK])
        if hasher.hexdigest() != self.digest:
            raise ModelFileError(
                "the checksum does not fit the contents: the file is damaged; copy or save it again"
            )


def write(
    path: str | os.PathLike[str],
    metadata: Mapping[str, str],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Write a container, whole or not at all; arrays must be in C order, types as in `DTYPES`."""
    ordered = sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)
    header: dict[str, Any] = {
        "__metadata__": {
            "format": _FORMAT,
            "format_version": str(VERSION),
            "sha256": _ZEROS,
            **metadata,
        }
    }
    place = 0
    for name, array in ordered:
        header[name] = {
            "dtype": _NAMES[array.dtype.newbyteorder("<")],
            "shape": list(array.shape),
            "data_offsets": [place, place + array.nbytes],
        }
        place += array.nbytes
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    if len(text) > HEADER_LIMIT:
        raise NotSavableError(
            f"the header of the model file would have {len(text)} bytes, more than {HEADER_LIMIT}; "
            "the model holds too many small objects"
        )
    opening = len(text).to_bytes(8, "little") + text
    hasher = hashlib.sha256(opening)
    views = [_as_bytes(array) for _, array in ordered]
    for view in views:
        hasher.update(view)
    at = opening.index(_MARK) + len(_MARK)
    opening = opening[:at] + hasher.hexdigest().encode() + opening[at + 64 :]
    with replacing(path) as file:
        file.write(opening)
        for view in views:
            file.write(view)


def _as_bytes(array: npt.NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def read(path: str | os.PathLike[str], mmap: bool = False) -> Container:
    """Open a file and check its header: names, types, shapes, sizes.

    Parameters
    ----------
    path : str or path
        The file.
    mmap : bool
        Map a file of at least `MAPPED_FROM` bytes instead of copying it.

    Raises
    ------
    ModelFileError
        The file is no such container, or changed while it was read; the message says what is wrong.
    """
    with open(path, "rb", buffering=0) as file:
        before = _identity(os.fstat(file.fileno()))
        size = before[0]
        if size < 8:
            raise ModelFileError(f"the file has {size} bytes, too few for a model file")
        memory = _mapped(file, size) if mmap and size >= MAPPED_FROM else _copied(file, size)
    container = _parse(memory, before)
    container.check_unchanged(path)
    return container


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    """Size, device, number and time of a file: what tells it from another, or from a later one."""
    return found.st_size, found.st_dev, found.st_ino, found.st_mtime_ns


def _mapped(file: io.FileIO, size: int) -> mmaps.mmap:
    # Small pages of the header are touched now; those of the arrays when they are used.
    return mmaps.mmap(file.fileno(), size, access=mmaps.ACCESS_READ)


def _copied(file: io.FileIO, size: int) -> mmaps.mmap:
    """The bytes of a file in memory of its own, which begins at a page and which forks share."""
    try:
        memory = mmaps.mmap(-1, size)
    except OSError as error:
        raise MemoryError(f"no memory for the {size} bytes of the model file: {error}") from None
    place = 0
    with memoryview(memory) as view:
        while place < size and (n_read := file.readinto(view[place : place + _BLOCK])):
            place += n_read
    if place < size:
        raise ModelFileError(_CHANGED)
    return memory


def _parse(memory: mmaps.mmap, identity: tuple[int, int, int, int]) -> Container:
    """Check the header."""
    size = len(memory)
    length = int.from_bytes(memory[:8], "little")
    if length > size and memory[8:9] != b"{" and size > 8:
        text = b"\0" not in memory[: min(size, 4096)]
        what = ", but a text: is it data? The model comes first" if text else ""
        raise ModelFileError(f"this is no model file of separatrix{what}")
    if length > HEADER_LIMIT:
        raise ModelFileError(
            f"the header claims {length} bytes, more than the {HEADER_LIMIT} that are allowed; "
            "this is no model file of separatrix"
        )
    if 8 + length > size:
        raise ModelFileError(f"the header claims {length} bytes, but the file has {size}")
    raw = memory[8 : 8 + length]
    header = parse_json(raw, "the header")
    if not isinstance(header, dict):
        raise ModelFileError("the header is no JSON object")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ModelFileError("the header has no metadata; this is no model file of separatrix")
    _check_version(metadata)
    # A quotation mark within a JSON string is escaped, so the mark can stand in one place only.
    at = raw.find(_MARK)
    digest = metadata.get("sha256", "")
    if at < 0 or len(digest) != 64 or raw[at + len(_MARK) :][:64] != digest.encode("utf-8"):
        raise ModelFileError("the header has no checksum; this is no model file of separatrix")
    arrays = _map_arrays(memory, 8 + length, header)
    return Container(metadata, arrays, size, digest, memory, 8 + at + len(_MARK), identity)


def _check_version(metadata: dict[str, str]) -> None:
    if metadata.get("format") != _FORMAT:
        raise ModelFileError("the header names another format; this is no model file of separatrix")
    version = metadata.get("format_version")
    if version != str(VERSION):
        writer = metadata.get("library_version", "unknown")
        raise ModelFileError(
            f"the file has format version {version} (written by separatrix {writer}), but this "
            f"separatrix reads version {VERSION}; upgrade separatrix, or save the model again"
        )


def parse_json(raw: bytes | str, what: str) -> Any:
    """JSON without repeated keys, NaN or infinity; ModelFileError says `what` is not."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) < len(items):
            raise ValueError("a key is repeated")
        return result

    def constant(name: str) -> Any:
        raise ValueError(f"{name} is not allowed")

    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
        return json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{what} cannot be read: {error}") from None


def _map_arrays(
    memory: mmaps.mmap, start: int, header: dict[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """Read-only arrays over the data, which they must fill without holes or overlaps."""
    entries = [(*_check_entry(name, entry), name) for name, entry in header.items()]
    entries.sort(key=lambda entry: entry[0])
    place = 0
    arrays: dict[str, npt.NDArray[Any]] = {}
    for (begin, end), dtype, shape, name in entries:
        if begin != place:
            raise ModelFileError(f"array {name!r} begins at {begin}, expected {place}")
        place = end
        if start + end > len(memory):
            raise ModelFileError(
                f"array {name!r} ends at byte {start + end}, but the file has {len(memory)}; "
                "it is cut short"
            )
        arrays[name] = _map_array(memory, start + begin, dtype, shape, name)
    if start + place != len(memory):
        raise ModelFileError(
            f"the file has {len(memory)} bytes, but the header describes {start + place}"
        )
    return arrays


def _check_entry(name: str, entry: Any) -> tuple[tuple[int, int], np.dtype[Any], tuple[int, ...]]:
    """Offsets, type and shape of an array, in agreement with each other."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"array {name!r} is not described by dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"array {name!r} has dtype {dtype!r}, known are {', '.join(DTYPES)}")
    if not _is_sizes(shape) or len(shape) > 32:
        raise ModelFileError(f"array {name!r} has shape {shape!r}")
    if not _is_sizes(offsets) or len(offsets) != 2:
        raise ModelFileError(f"array {name!r} has data_offsets {offsets!r}")
    n_bytes = math.prod(shape) * DTYPES[dtype].itemsize
    if offsets[1] - offsets[0] != n_bytes:
        raise ModelFileError(
            f"array {name!r} of dtype {dtype} and shape {shape} takes {n_bytes} bytes, "
            f"but has {offsets[1] - offsets[0]}"
        )
    return (offsets[0], offsets[1]), DTYPES[dtype], tuple(shape)


def _is_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in values)


def _map_array(
    memory: mmaps.mmap, begin: int, dtype: np.dtype[Any], shape: tuple[int, ...], name: str
) -> npt.NDArray[Any]:
    try:
        if 0 in shape:
            array: npt.NDArray[Any] = np.empty(shape, dtype)
        else:
            array = np.ndarray(shape, dtype, buffer=memory, offset=begin)
    except (ValueError, MemoryError) as error:
        raise ModelFileError(f"array {name!r} of shape {shape} is impossible: {error}") from None
    if not array.flags.aligned:  # another program wrote it; the kernels want whole words
        array = array.copy()
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError(f"array {name!r} is of dtype BOOL but holds other values than 0 and 1")
    array.flags.writeable = False
    return array
