"""Files that are damaged, foreign or forged: a typed error or the same model, and no code run."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import random

import numpy as np
import pytest

from separatrix import LogisticRegression, load, save
from separatrix.errors import ModelFileError
from separatrix.models import describe
from separatrix.models.file import container
from tests.unit.models.models import CASES, SPARSE, TWO, X
from tests.unit.models.test_round_trip import same


def take_apart(raw: bytes) -> tuple[dict, bytes]:
    """Header and data of a file."""
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def put_together(header: dict, data: bytes) -> bytes:
    """A file with a right checksum, whatever it holds."""
    header["__metadata__"]["sha256"] = "0" * 64
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    raw = len(text).to_bytes(8, "little") + text + data
    digest = hashlib.sha256(raw).hexdigest()
    return raw.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest.encode(), 1)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A model with text, sparse parts, nested estimators; and its bytes."""
    path = tmp_path_factory.mktemp("files") / "model.sx"
    save(CASES["pipeline_of_columns"].fit(), path)
    return path.read_bytes()


@pytest.fixture
def write(tmp_path):
    """Write bytes, return the path."""

    def write(raw):
        path = tmp_path / "model.sx"
        path.write_bytes(raw)
        return path

    return write


def corrupt(raw: bytes, rng: random.Random) -> bytes:
    """Damage of the kinds that disks, networks and editors do."""
    raw = bytearray(raw)
    kind = rng.randrange(7)
    at = rng.randrange(len(raw))
    length = rng.choice([1, 2, 8, 64, 1000])
    if kind == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        for _ in range(rng.randrange(2, 20)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    elif kind == 2:
        del raw[at:]
    elif kind == 3:
        del raw[at : at + length]
    elif kind == 4:
        raw[at:at] = rng.randbytes(length)
    elif kind == 5:
        raw[at : at + length] = bytes(len(raw[at : at + length]))
    else:
        other = rng.randrange(len(raw))
        raw[at : at + length], raw[other : other + length] = (
            raw[other : other + length],
            raw[at : at + length],
        )
    return bytes(raw)


def _fuzz(file, write, n, seed):
    rng = random.Random(seed)
    truth = CASES["pipeline_of_columns"].ask(load(write(file)))
    refused = 0
    for _ in range(n):
        damaged = corrupt(file, rng)
        path = write(damaged)
        try:
            model = load(path, verify=True)
        except ModelFileError as error:
            refused += str(path) in str(error)
        else:
            assert damaged == file
            same(truth, CASES["pipeline_of_columns"].ask(model))
    assert refused > 0.9 * n


def test_corruptions_are_found(file, write):
    _fuzz(file, write, 500, seed=0)


@pytest.mark.slow
def test_ten_thousand_corruptions_are_found(file, write):
    _fuzz(file, write, 10_000, seed=1)


def mutate(value, rng, large=True):
    """Change a random place of a JSON tree.

    Parameters get no large numbers: a model that is asked for 2^40 columns tries to make them.
    """
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = rng.choice(list(value))
        if rng.random() < 0.05:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: mutate(value[key], rng, large and key != "params")}
    if isinstance(value, list) and value and rng.random() < 0.95:
        at = rng.randrange(len(value))
        if rng.random() < 0.1:
            return value[:at] + value[at + 1 :]
        return [*value[:at], mutate(value[at], rng, large), *value[at + 1 :]]
    if isinstance(value, str) and rng.random() < 0.5:
        return value[1:] + rng.choice(["", "x", "\ud800"])
    if type(value) is int and rng.random() < 0.5:
        return value + rng.choice([-1, 1, 2**40 if large else 2])
    changes = [None, True, -1, 0, "", "os", [], {}, {"$": "list", "items": [1]}]
    changes += [2**63, 1e300] if large else []
    classes = ["Lbfgs", "Vote", "Trace", "Pipeline", "CategoryEncoder", "Solution"]
    changes += [{"$": "part", "class": name, "fields": {}, "state": {}} for name in classes]
    return rng.choice(changes)


def _forge(raw, ask, write, n, seed):
    """Forgeries with right checksums: refused, or a model that answers or raises."""
    rng = random.Random(seed)
    header, data = take_apart(raw)
    tree = json.loads(header["__metadata__"]["model"])
    refused = 0
    for _ in range(n):
        forged = json.loads(json.dumps(header))
        if rng.random() < 0.3:
            metadata = forged.pop("__metadata__")
            changed = mutate(forged, rng)
            forged = {"__metadata__": metadata} | (changed if isinstance(changed, dict) else {})
        else:
            forged["__metadata__"]["model"] = json.dumps(mutate(tree, rng))
        try:
            model = load(write(put_together(forged, data)), verify=rng.random() < 0.5)
        except ModelFileError:
            refused += 1
            continue
        with contextlib.suppress(Exception):  # a forged model may be useless, but not deadly
            ask(model)
    assert refused > 0.3 * n


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["pipeline_of_columns", "perceptron_vote_sparse", "joint_seen"])
def test_forgeries_do_no_harm(name, write, tmp_path):
    case = CASES[name]
    save(case.fit(), tmp_path / "true.sx")
    _forge((tmp_path / "true.sx").read_bytes(), case.ask, write, 300, seed=2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_many_forgeries_do_no_harm(name, write, tmp_path):
    case = CASES[name]
    save(case.fit(), tmp_path / "true.sx")
    _forge((tmp_path / "true.sx").read_bytes(), case.ask, write, 300, seed=3)


def test_every_truncation_is_found(file, write):
    for length in [*range(200), *range(200, len(file), 97), len(file) - 1]:
        with pytest.raises(ModelFileError):
            load(write(file[:length]), verify=False)


def _with(raw, **changes):
    """The file with changed metadata and a right checksum."""
    header, data = take_apart(raw)
    header["__metadata__"] |= changes
    return put_together(header, data)


def test_the_helper_makes_true_files(file, write):
    assert put_together(*take_apart(file)) == file


def test_a_later_version_is_refused_with_a_sentence(file, write):
    path = write(_with(file, format_version="2", library_version="9.1"))
    with pytest.raises(ModelFileError, match=r"format version 2 .*9\.1.* reads version 1; upgrade"):
        load(path)
    with pytest.raises(ModelFileError, match="format version 2"):
        describe(path)


FOREIGN = ["builtins.eval", "os:system", "subprocess.Popen", "KMeans", "__import__", "object", ""]


@pytest.mark.parametrize("name", FOREIGN)
def test_a_class_outside_the_table_is_refused_and_not_imported(file, write, name, monkeypatch):
    header, data = take_apart(file)
    tree = json.loads(header["__metadata__"]["model"])
    tree["class"] = name
    header["__metadata__"] |= {"model": json.dumps(tree), "class": name}
    path = write(put_together(header, data))

    def no_import(module, *rest):
        raise AssertionError(f"{module} was imported")

    monkeypatch.setattr(importlib, "import_module", no_import)
    with pytest.raises(ModelFileError, match="does not know"):
        load(path)


def test_an_oversized_header_is_refused(file, write):
    for length in (len(file), 2**25 + 1, 2**40, 2**64 - 1):
        with pytest.raises(ModelFileError, match="the header claims"):
            load(write(length.to_bytes(8, "little") + file[8:]))


def test_other_files_are_refused(write):
    for raw in (b"", b"short", b"\x80\x04K\x01.", b"a,b,c\n1,2,3\n" * 50):
        with pytest.raises(ModelFileError):
            load(write(raw))
    from safetensors.numpy import save as save_tensors

    with pytest.raises(ModelFileError, match="no model file of separatrix"):
        load(write(save_tensors({"a": np.zeros(3)})))
    with pytest.raises(ModelFileError, match="no model file of separatrix"):
        load(write(save_tensors({"a": np.zeros(3)}, {"format": "pt"})))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A flat model; its header and data."""
    path = tmp_path_factory.mktemp("files") / "model.sx"
    save(LogisticRegression(fit_intercept=False).fit(X, TWO), path)
    return take_apart(path.read_bytes())


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("dtype", "F32", "takes 24 bytes, but has 48"),
        ("dtype", "C64", "has dtype 'C64'"),
        ("dtype", 3, "has dtype 3"),
        ("shape", [1, 7], "takes 56 bytes"),
        ("shape", [-1, -6], "has shape"),
        ("shape", [1, 6.0], "has shape"),
        ("shape", [True, 6], "has shape"),
        ("shape", [1] * 40 + [6], "has shape"),
        ("shape", "6", "has shape"),
        ("shape", [6], "coef_ has shape"),
        ("data_offsets", [0], "has data_offsets"),
        ("data_offsets", [-48, 0], "has data_offsets"),
        ("data_offsets", [2**40, 2**40 + 48], "begins at"),
        ("dtype", "I64", "coef_ has dtype"),
    ],
)
def test_wrong_descriptions_of_arrays_are_refused(small, write, key, value, message):
    header, data = json.loads(json.dumps(small[0])), small[1]
    header["model.coef_"][key] = value
    with pytest.raises(ModelFileError, match=message):
        load(write(put_together(header, data)))


def test_holes_overlaps_repeated_keys_and_extra_bytes_are_refused(small, write):
    header, data = small
    with pytest.raises(ModelFileError, match="but the header describes"):
        load(write(put_together(header, data + b"more")))
    other = json.loads(json.dumps(header))
    other["again"] = dict(other["model.coef_"])
    with pytest.raises(ModelFileError, match="begins at"):
        load(write(put_together(other, data)))
    raw = put_together(header, data).replace(b'"format":"separatrix"', b'"sha256":"separatrix"')
    with pytest.raises(ModelFileError, match="a key is repeated"):
        load(write(raw))
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(write((80_000).to_bytes(8, "little") + b"[" * 80_000))


def test_damage_in_the_data_is_found_unless_it_is_not_looked_for(small, write, monkeypatch):
    raw = bytearray(put_together(*small))
    raw[-1] ^= 1
    path = write(bytes(raw))
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)
    load(path, verify=False)
    monkeypatch.setattr("separatrix.models.file.model.VERIFY_BELOW", 10)
    load(path)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path, verify=True)


def test_sparse_matrices_that_point_outside_are_refused(tmp_path, write):
    save(CASES["radial_sparse"].fit(), tmp_path / "true.sx")
    header, data = take_apart((tmp_path / "true.sx").read_bytes())
    begin, end = header["model.centers_.indices"]["data_offsets"]
    wrong = np.frombuffer(data[begin:end], np.int32).copy()
    for value in (-1, SPARSE.shape[1], 2**30):
        wrong[3] = value
        path = write(put_together(header, data[:begin] + wrong.tobytes() + data[end:]))
        with pytest.raises(ModelFileError, match="outside its shape"):
            load(path, verify=False)
    begin, end = header["model.centers_.indptr"]["data_offsets"]
    wrong = np.frombuffer(data[begin:end], np.int32).copy()
    wrong[1] = 2**30
    path = write(put_together(header, data[:begin] + wrong.tobytes() + data[end:]))
    with pytest.raises(ModelFileError, match="do not follow each other"):
        load(path)


def test_parameters_and_attributes_that_do_not_exist_are_refused(small, write):
    for part in ("params", "state"):
        header = json.loads(json.dumps(small[0]))
        tree = json.loads(header["__metadata__"]["model"])
        tree[part]["predict"] = 1
        header["__metadata__"]["model"] = json.dumps(tree)
        with pytest.raises(ModelFileError, match=r"LogisticRegression has no .* 'predict'"):
            load(write(put_together(header, small[1])))


def test_the_limit_of_the_header_holds_for_saving_too(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "HEADER_LIMIT", 1000)
    with pytest.raises(TypeError, match="too many small objects"):
        save(CASES["table"].fit(), tmp_path / "model.sx")
    assert list(tmp_path.iterdir()) == []
