"""Writing CRFsuite's model files, see `crfsuite_file`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from separatrix.learners.structured.crfsuite_file import (
    BYTE_ORDER,
    CHUNK,
    DATABASE_HEADER,
    HEADER,
    N_TABLES,
    VERSION,
    CrfsuiteModel,
)

__all__ = ["crfsuite_bytes"]

Words = npt.NDArray[np.uint32]


def crfsuite_bytes(model: CrfsuiteModel) -> bytes:
    """The model as the bytes of a file; weights that are zero are left out, as CRFsuite does."""
    states = model.states[model.states["weight"] != 0]
    transitions = model.transitions[model.transitions["weight"] != 0]
    used = np.unique(states["source"])
    states = states.copy()
    states["source"] = np.searchsorted(used, states["source"])
    names = [model.attributes[int(number)] for number in used]
    features = np.concatenate([states, transitions])
    n_labels = len(model.labels)
    by_attribute = np.searchsorted(states["source"], np.arange(len(names) + 1))
    by_label = np.searchsorted(transitions["source"], np.arange(n_labels + 1)) + len(states)
    table = _chunk(b"FEAT", len(features), features.tobytes())
    parts: dict[str, Callable[[int], bytes]] = {
        "features": lambda _: table,
        "labels": lambda _: _database(model.labels),
        "attributes": lambda _: _database(names),
        # CRFsuite keeps two places for the beginning and the end of sequences, and leaves them.
        "label_features": lambda at: _references(b"LFRF", by_label, 2, at),
        "attribute_features": lambda at: _references(b"AFRF", by_attribute, 0, at),
    }
    header = np.zeros(1, dtype=HEADER)
    pieces, at = [], HEADER.itemsize
    for name, make in parts.items():
        padding = b"\0" * (-at % 4)
        at += len(padding)
        header[name] = at
        pieces += [padding, make(at)]
        at += len(pieces[-1])
    header["magic"], header["type"], header["version"] = b"lCRF", b"FOMC", VERSION
    header["size"], header["n_labels"], header["n_attributes"] = at, n_labels, len(names)
    return header.tobytes() + b"".join(pieces)


def _chunk(name: bytes, n: int, body: bytes) -> bytes:
    head = np.array([(name, CHUNK.itemsize + len(body), n)], dtype=CHUNK)
    return head.tobytes() + body


def _references(name: bytes, bounds: npt.NDArray[Any], spare: int, at: int) -> bytes:
    """For every label or attribute the numbers of its features, which stand together."""
    n = len(bounds) - 1
    sizes = np.diff(bounds)
    begin = at + CHUNK.itemsize + 4 * (n + spare)
    places = begin + 4 * (np.cumsum(sizes + 1) - (sizes + 1))
    lists = np.insert(np.arange(bounds[0], bounds[-1]), bounds[:-1] - bounds[0], sizes)
    numbers = np.concatenate([places, np.zeros(spare, dtype=np.int64), lists])
    return _chunk(name, n + spare, numbers.astype("<u4").tobytes())


def _database(words: Iterable[str]) -> bytes:
    """A constant database: records, 256 hash tables by open addressing, records by number."""
    keys = [word.encode() + b"\0" for word in words]
    head = DATABASE_HEADER.itemsize + 8 * N_TABLES
    sizes = np.array([8 + len(key) for key in keys], dtype=np.int64)
    places = head + np.cumsum(sizes) - sizes
    records = b"".join(
        number.to_bytes(4, "little") + len(key).to_bytes(4, "little") + key
        for number, key in enumerate(keys)
    )
    hashes = hash_words(keys)
    tables: list[bytes] = []
    references = np.zeros((N_TABLES, 2), dtype="<u4")
    at = head + len(records)
    for table in range(N_TABLES):
        members = np.flatnonzero(hashes % N_TABLES == table)
        buckets = np.zeros((2 * len(members), 2), dtype="<u4")
        for hashed, place in zip(hashes[members].tolist(), places[members].tolist(), strict=True):
            bucket = (hashed >> 8) % len(buckets)
            while buckets[bucket, 1]:
                bucket = (bucket + 1) % len(buckets)
            buckets[bucket] = hashed, place
        references[table] = (at if len(members) else 0), len(buckets)
        tables.append(buckets.tobytes())
        at += buckets.nbytes
    backward = places.astype("<u4").tobytes()
    header = np.array(
        [(b"CQDB", at + len(backward), 0, BYTE_ORDER, len(keys), at if keys else 0)],
        dtype=DATABASE_HEADER,
    )
    return b"".join([header.tobytes(), references.tobytes(), records, *tables, backward])


def _rotated(x: Words, by: int) -> Words:
    return (x << np.uint32(by)) | (x >> np.uint32(32 - by))


def hash_words(keys: list[bytes]) -> Words:
    """Jenkins' lookup3 hash (`hashlittle`, initial value 0) of every key; none is empty.

    Examples
    --------
    >>> [hex(int(h)) for h in hash_words([b"Four score and seven years ago"])]
    ['0x17770551']
    """
    if not keys:
        return np.zeros(0, dtype=np.uint32)
    lengths = np.array([len(key) for key in keys])
    blocks = (lengths + 11) // 12
    order = np.argsort(-blocks, kind="stable")
    size = 12 * int(blocks.max())
    # One row per key, those of most blocks first, so that every round works on the first rows.
    rows = np.zeros((len(keys), size), dtype=np.uint8)
    for row, number in enumerate(order.tolist()):
        rows[row, : lengths[number]] = np.frombuffer(keys[number], dtype=np.uint8)
    words = rows.view("<u4").astype(np.uint32)
    counts = blocks[order]
    a = np.uint32(0xDEADBEEF) + lengths[order].astype(np.uint32)
    b, c = a.copy(), a.copy()
    for round_number in range(int(counts[0])):
        active = int(np.searchsorted(-counts, -round_number, side="left"))
        last = int(np.searchsorted(-counts, -(round_number + 1), side="left"))
        for part, turn in ((slice(0, last), _mixed), (slice(last, active), _finished)):
            block = words[part, 3 * round_number : 3 * round_number + 3]
            x, y, z = (v[part] + block[:, i] for i, v in enumerate((a, b, c)))
            a[part], b[part], c[part] = turn(x, y, z)
    result = np.zeros(len(keys), dtype=np.uint32)
    result[order] = c
    return result


def _mixed(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    for by in (4, 6, 8, 16, 19, 4):
        a = (a - c) ^ _rotated(c, by)
        c = c + b
        a, b, c = b, c, a
    return a, b, c


def _finished(a: Words, b: Words, c: Words) -> tuple[Words, Words, Words]:
    for by in (14, 11, 25, 16, 4, 14, 24):
        c = (c ^ b) - _rotated(b, by)
        a, b, c = b, c, a
    # Seven turns leave the last change in b.
    return c, a, b
