"""idx files (LeCun's MNIST format): a big-endian array of bytes, integers or floats."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data.dataset import Dataset
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, naming, origin_of
from separatrix.errors import FormatError, ParameterError

__all__ = ["ELEMENTS", "read_idx"]

#: Third byte of the file -> type of the elements.
ELEMENTS = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
#: More bytes than this a header may not ask for.
_MOST = 1 << 46


def _array(origin: Origin) -> npt.NDArray[Any]:
    with naming(origin.name):
        source = origin.open()
        head = source.read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in ELEMENTS or not head[3]:
            raise FormatError("not an idx file: it must begin with 0, 0, type, dimensions")
        dtype = np.dtype(ELEMENTS[head[2]])
        lengths = source.read(4 * head[3])
        if len(lengths) < 4 * head[3]:
            raise FormatError("the header ends early: the file is truncated")
        shape = tuple(int(length) for length in np.frombuffer(lengths, ">u4"))
        wanted = math.prod(shape) * dtype.itemsize
        if wanted > _MOST:
            raise FormatError(f"the header asks for shape {shape}, which is too large")
        data = source.read(None)
        if len(data) != wanted:
            less = "truncated" if len(data) < wanted else "too long"
            message = (
                f"shape {shape} takes {wanted} bytes, there are {len(data)}: the file is {less}"
            )
            raise FormatError(message)
        return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="), copy=False).reshape(shape)


def _labels_beside(origin: Origin) -> str | None:
    """The file of labels that goes with one of images, by MNIST's names."""
    if not isinstance(origin.content, str):
        return None
    path = Path(origin.content)
    name = re.sub(r"images([-.])idx\d", r"labels\1idx1", path.name)
    beside = path.with_name(name)
    return str(beside) if name != path.name and beside.exists() else None


def read_idx(origin: Origin, format: str, options: Options) -> Dataset:
    """The array as images, with labels from a second file where there is one."""
    X = _array(origin)
    target = options.target
    if isinstance(target, str) and target == "auto":
        target = _labels_beside(origin)
    y = None
    if target is not None:
        labels = origin_of(target)
        y = _array(labels)
        if y.ndim != 1:
            raise FormatError(f"labels need one dimension, there are {y.ndim}", None, labels.name)
        if X.ndim == 0 or len(y) != len(X):
            raise ParameterError(f"{labels.name} has {len(y)} labels for {len(X)} images")
    name = None if y is None else "label"
    return Dataset("images", X, y, target_name=name, source=origin.name, format=format)
