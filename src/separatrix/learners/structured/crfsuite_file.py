"""CRFsuite's model files: the weights of a chain of first order, and the names of what they weigh.

A file is a header, a table of features (type, source, label, weight), the labels and the attributes
as constant databases (CQDB), and lists of the features of every label and attribute, all in
little-endian numbers; CRFsuite describes it in ``crf1d_model.c`` and ``cqdb.c``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.data import Vocabulary
from separatrix.errors import ModelFileError

__all__ = [
    "BYTE_ORDER",
    "CHUNK",
    "DATABASE_HEADER",
    "FEATURES",
    "HEADER",
    "N_TABLES",
    "VERSION",
    "CrfsuiteModel",
    "read_crfsuite_model",
]

#: Header of a file: magic, size, type, version, features, labels, attributes, and where the
#: features, labels, attributes, features of labels and features of attributes begin.
HEADER = np.dtype(
    [
        ("magic", "S4"),
        ("size", "<u4"),
        ("type", "S4"),
        ("version", "<u4"),
        ("n_features", "<u4"),  # CRFsuite leaves it zero; the table of features has its own
        ("n_labels", "<u4"),
        ("n_attributes", "<u4"),
        ("features", "<u4"),
        ("labels", "<u4"),
        ("attributes", "<u4"),
        ("label_features", "<u4"),
        ("attribute_features", "<u4"),
    ]
)
VERSION = 100
#: Header of a part: name, bytes, items.
CHUNK = np.dtype([("name", "S4"), ("size", "<u4"), ("n", "<u4")])
#: A feature: type 0 weighs (attribute, label), type 1 (label before, label).
FEATURES = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
#: Header of a database of strings; 256 hash tables (offset, size) follow.
DATABASE_HEADER = np.dtype(
    [
        ("name", "S4"),
        ("size", "<u4"),
        ("flag", "<u4"),
        ("byte_order", "<u4"),
        ("n_backward", "<u4"),
        ("backward", "<u4"),
    ]
)
BYTE_ORDER = 0x62445371
N_TABLES = 256


@dataclass(frozen=True, eq=False)
class CrfsuiteModel:
    """What a model file of CRFsuite holds.

    Attributes
    ----------
    labels : list of str
        In the order of their numbers.
    attributes : Vocabulary
        Names of the attributes.
    states : structured array of shape (n,)
        Weights of (source = attribute, label), sorted.
    transitions : structured array of shape (m,)
        Weights of (source = label before, label), sorted.
    """

    labels: list[str]
    attributes: Vocabulary
    states: npt.NDArray[Any]
    transitions: npt.NDArray[Any]


def read_crfsuite_model(path: str | os.PathLike[str] | bytes) -> CrfsuiteModel:
    """Read a model file of CRFsuite, or the bytes of one.

    Raises
    ------
    ModelFileError
        The file is not one, is cut short, or contradicts itself; the message says where.
    """
    name = "the model" if isinstance(path, bytes) else os.fspath(path)
    content = path if isinstance(path, bytes) else Path(path).read_bytes()
    return _File(name, np.frombuffer(content, dtype=np.uint8)).model()


class _File:
    """A file in memory; every access is checked against its size."""

    def __init__(self, name: str, data: npt.NDArray[np.uint8]) -> None:
        self.name = name
        self.data = data

    def fail(self, message: str) -> ModelFileError:
        return ModelFileError(f"{self.name}: {message}")

    def take(self, dtype: Any, at: int, n: int, what: str) -> npt.NDArray[Any]:
        """`n` items from byte `at` on."""
        kind = np.dtype(dtype)
        end = at + n * kind.itemsize
        if end > len(self.data):
            raise self.fail(
                f"{what} should end at byte {end}, but the file has {len(self.data)}; it is cut "
                "short or damaged"
            )
        return self.data[at:end].view(kind)

    def model(self) -> CrfsuiteModel:
        if len(self.data) < HEADER.itemsize or bytes(self.data[:4]) != b"lCRF":
            begin = bytes(self.data[:4])
            raise self.fail(f"not a CRFsuite model: it begins with {begin!r}, not with b'lCRF'")
        header = self.take(HEADER, 0, 1, "the header")[0]
        if header["type"] != b"FOMC" or header["version"] != VERSION:
            raise self.fail(
                f"a model of type {bytes(header['type'])!r} in version {header['version']}; only "
                f"b'FOMC' (first-order chains) in version {VERSION} can be read"
            )
        if header["size"] != len(self.data):
            raise self.fail(
                f"the header gives {header['size']} bytes, the file has {len(self.data)}; it "
                "is cut short or damaged"
            )
        labels = self._names(int(header["labels"]), int(header["n_labels"]), "label")
        attributes = self._names(
            int(header["attributes"]), int(header["n_attributes"]), "attribute"
        )
        if len(labels) == 0:
            raise self.fail("there are no labels")
        sizes = {0: len(attributes), 1: len(labels)}
        features = self._features(int(header["features"]), sizes)
        order = np.lexsort((features["label"], features["source"], features["type"]))
        features = features[order]
        keys = features[["type", "source", "label"]]
        twice = np.flatnonzero(keys[1:] == keys[:-1])
        if len(twice):
            raise self.fail(f"features {order[twice[0]]} and {order[twice[0] + 1]} are the same")
        n_states = int((features["type"] == 0).sum())
        return CrfsuiteModel(labels[:], attributes, features[:n_states], features[n_states:])

    def _features(self, at: int, sizes: dict[int, int]) -> npt.NDArray[Any]:
        chunk = self.take(CHUNK, at, 1, "the table of features")[0]
        if chunk["name"] != b"FEAT":
            raise self.fail(f"there is no table of features at byte {at}")
        n = int(chunk["n"])
        features = self.take(FEATURES, at + CHUNK.itemsize, n, "the table of features")
        types = features["type"]
        bad = types > 1
        if bad.any():
            number = int(np.argmax(bad))
            raise self.fail(f"feature {number} has the unknown type {types[number]}")
        bad = (features["source"] >= np.where(types == 0, sizes[0], sizes[1])) | (
            features["label"] >= sizes[1]
        )
        if bad.any():
            raise self.fail(
                f"feature {int(np.argmax(bad))} names an attribute or a label that is not there"
            )
        bad = ~np.isfinite(features["weight"])
        if bad.any():
            raise self.fail(f"the weight of feature {int(np.argmax(bad))} is not finite")
        return features

    def _names(self, at: int, n: int, what: str) -> Vocabulary:
        """The strings of a database by their numbers."""
        base = self.take(DATABASE_HEADER, at, 1, f"the database of {what}s")[0]
        if base["name"] != b"CQDB" or base["byte_order"] != BYTE_ORDER:
            raise self.fail(f"there is no database of {what}s at byte {at}")
        if n == 0:
            return Vocabulary.of([])
        places = self.take("<u4", at + int(base["backward"]), n, f"the numbers of the {what}s")
        records = places.astype(np.int64) + at
        bad = (places == 0) | (records + 8 > len(self.data))
        if bad.any():
            raise self.fail(f"{what} {int(np.argmax(bad))} has no name")
        heads = self.data[records[:, None] + np.arange(8)].view("<u4")
        sizes = heads[:, 1].astype(np.int64)
        ends = records + 8 + sizes
        bad = (heads[:, 0] != np.arange(n)) | (sizes == 0) | (ends > len(self.data))
        if bad.any():
            raise self.fail(f"the name of {what} {int(np.argmax(bad))} is damaged")
        # Names end with a zero that is counted, and is left out here.
        offsets = np.concatenate([[0], np.cumsum(sizes - 1)]).astype(np.int64)
        at_byte = np.arange(offsets[-1]) + np.repeat(records + 8 - offsets[:-1], sizes - 1)
        data = self.data[at_byte].tobytes()
        try:
            data.decode()
        except UnicodeDecodeError as error:
            number = int(np.searchsorted(offsets, error.start, side="right")) - 1
            raise self.fail(f"the name of {what} {number} is not UTF-8") from None
        return Vocabulary(data, offsets)
