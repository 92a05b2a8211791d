"""Model files forged with right checksums: opened as a service does, or one kind of exception."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from separatrix import models
from separatrix.errors import ModelFileError
from tests.unit.models.test_damaged_files import mutate, put_together, take_apart
from tests.unit.serve.served import make_models

#: Kinds of input and output; the others differ in the learner only.
NAMES = ["mail", "people", "sugar", "digits", "tagger", "chunker", "crf"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Bytes of model files by name."""
    paths = make_models(tmp_path_factory.mktemp("true"))
    return {name: path.read_bytes() for name, path in paths.items()}


def forged(raw: bytes, rng: random.Random) -> bytes:
    """A change of the model's tree, of what the file says of itself, of shapes, or of numbers."""
    header, data = take_apart(raw)
    metadata = header.pop("__metadata__")
    what = rng.choice(["model", "model", "model", "input", "summary", "task", "arrays", "data"])
    if what == "arrays":
        changed = mutate(header, rng)
        header = changed if isinstance(changed, dict) else {}
    elif what == "data" and header:
        begin, end = header[rng.choice(sorted(header))]["data_offsets"]
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 8])):
            at = rng.randrange(begin, max(begin + 1, end - 7)) if end > begin else 0
            value = rng.choice(
                [np.float64(np.nan), np.float64(1e300), np.int64(-1), np.int64(2**40)]
            )
            changed[at : at + 8] = value.tobytes()[: len(changed[at : at + 8])]
        data = bytes(changed)
    elif what == "task":
        metadata["task"] = rng.choice(["classes", "quantities", "tagging", "label_sets", "", "x"])
    else:
        tree = json.loads(metadata.get(what, "{}"))
        metadata[what] = json.dumps(mutate(tree, rng))
    return put_together({"__metadata__": metadata} | header, data)


def open_forgeries(raw, path, n, seed):
    """How many of n forgeries are refused by name; anything but ModelFileError is raised."""
    rng = random.Random(seed)
    refused = 0
    for _ in range(n):
        path.write_bytes(forged(raw, rng))
        try:
            models.open(path, verify=True).check()
        except ModelFileError as error:
            refused += str(path) in str(error)
    return refused


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_forgeries_raise_one_kind_of_exception(files, name, tmp_path):
    n = 60
    assert n / 4 < open_forgeries(files[name], tmp_path / "forged.sx", n, seed=1) < n


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", NAMES)
def test_hundred_thousand_forgeries(files, name, seed, tmp_path):
    open_forgeries(files[name], tmp_path / "forged.sx", 720, seed=100 + seed)
