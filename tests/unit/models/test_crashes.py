"""A save that is killed, interrupted or out of space leaves the old file, whole."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

from separatrix import LogisticRegression, load, save
from tests.unit.models.models import TWO, X

# Children that kill themselves without warning when a step of the save is reached.
KILLED = """
import os, signal, sys
import numpy as np
from separatrix import LogisticRegression, save
from separatrix import atomic

paths = dict(argument.split("=", 1) for argument in sys.argv[1:])

def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)

class File:
    def __init__(self, file):
        self.file, self.writes = file, 0
    def write(self, data):
        self.writes += 1
        if step == "write" and self.writes == 2:
            self.file.write(memoryview(data)[: len(data) // 2])
            self.file.flush()
            die()
        return self.file.write(data)
    def __getattr__(self, name):
        return getattr(self.file, name)
    def __enter__(self):
        return self
    def __exit__(self, *rest):
        self.file.close()

true_open = os.fdopen
rng = np.random.default_rng(1)
X = rng.normal(size=(40, 20_000))
model = LogisticRegression(tol=0.1).fit(X, X[:, 0] > 0)
for step, path in paths.items():
    child = os.fork()
    if not child:
        os.fdopen = lambda *a, **k: File(true_open(*a, **k))
        if step in ("fsync", "replace"):
            setattr(os, step, die)
        if step == "folder":
            atomic._sync_folder = die
        save(model, path)
        os._exit(0)
    print(step, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

# Saves again and again, until it is killed.
SAVING = """
import sys
import numpy as np
from separatrix import LogisticRegression, save

X = np.random.default_rng(1).normal(size=(40, 20_000))
model = LogisticRegression(tol=0.1).fit(X, X[:, 0] > 0)
print("ready", flush=True)
while True:
    save(model, sys.argv[1])
"""


@pytest.fixture
def old(tmp_path):
    """A saved model, its path and its bytes."""
    model = LogisticRegression().fit(X, TWO)
    save(model, tmp_path / "model.sx")
    return model, tmp_path / "model.sx", (tmp_path / "model.sx").read_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_kill_9_leaves_a_whole_file(old, tmp_path):
    model, _, before = old
    paths = {step: tmp_path / f"{step}.sx" for step in ("write", "fsync", "replace", "folder")}
    for path in paths.values():
        path.write_bytes(before)
    words = [f"{step}={path}" for step, path in paths.items()]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{step} {-signal.SIGKILL:d}" for step in paths]
    # After the rename the new file, whole; before it the old one.
    assert load(paths.pop("folder"), verify=True).n_features_in_ == 20_000
    for path in paths.values():
        assert path.read_bytes() == before
        np.testing.assert_array_equal(load(path, verify=True).predict(X), model.predict(X))


@pytest.mark.slow
def test_kill_9_at_any_time_leaves_a_whole_file(old):
    _, path, _ = old
    rng = np.random.default_rng(0)
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVING, str(path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            process.wait(timeout=float(rng.uniform(0, 0.05)))
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        process.stdout.close()
        load(path, verify=True)


def _large():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 20_000))
    return LogisticRegression(tol=0.1).fit(rows, rows[:, 0] > 0)


def test_no_space_is_an_error_and_leaves_no_half_file(old, tmp_path):
    _, path, before = old
    model = _large()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OSError) as caught:
            save(model, path)
        with pytest.raises(OSError):
            save(model, tmp_path / "new.sx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert os.listdir(tmp_path) == ["model.sx"]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]
)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_errors_at_the_end_leave_the_old_file(old, tmp_path, monkeypatch, error, step):
    model, path, before = old

    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        save(model, path)
    assert os.listdir(tmp_path) == ["model.sx"]
    assert path.read_bytes() == before


def test_links_and_permissions_stay(old, tmp_path):
    model, path, _ = old
    path.chmod(0o640)
    link = tmp_path / "link.sx"
    link.symlink_to(path)
    save(model, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    load(link)


def test_a_model_in_use_survives_its_file_being_replaced(old):
    model, path, _ = old
    used = load(path)
    save(_large(), path)
    np.testing.assert_array_equal(used.predict(X), model.predict(X))
    path.unlink()
    np.testing.assert_array_equal(used.predict(X), model.predict(X))


# Loads a model, spoils its file, and uses the model; then loads the file while it changes.
SPOILED = """
import os, sys
import numpy as np
from separatrix import load
from separatrix.errors import ModelFileError
from separatrix.models.file import container

path, how, mapped = sys.argv[1], sys.argv[2], sys.argv[3] == "mapped"
container.MAPPED_FROM = 1

def spoil():
    with open(path, "r+b") as stream:
        if how == "cut":
            stream.truncate(300)
        else:
            stream.seek(300)
            stream.write(b"\\xff" * (os.path.getsize(path) - 300))

if not mapped:
    model = load(path)
    X = np.eye(3, model.n_features_in_)
    before = model.predict_proba(X)
    whole = open(path, "rb").read()
    spoil()
    assert (model.predict_proba(X) == before).all()
    with open(path, "wb") as stream:
        stream.write(whole)

name = "_mapped" if mapped else "_copied"
true = getattr(container, name)

def spoiled(file, size):
    if not mapped:
        spoil()  # between looking at the size and reading
    memory = true(file, size)
    if mapped:
        os.utime(path, ns=(1, 1))  # what was mapped stays there: only the time tells
    return memory

setattr(container, name, spoiled)
try:
    load(path, verify=False, mmap=mapped)
except ModelFileError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["cut", "overwritten"])
@pytest.mark.parametrize("read", ["copied", "mapped"])
def test_a_file_that_is_spoiled_in_place_kills_nobody(tmp_path, how, read):
    path = tmp_path / "model.sx"
    save(_large(), path)
    done = subprocess.run(
        [sys.executable, "-c", SPOILED, str(path), how, read], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: ")
    if (how, read) != ("overwritten", "copied"):  # its header cannot be read either
        assert "the file was changed while it was read" in done.stdout
