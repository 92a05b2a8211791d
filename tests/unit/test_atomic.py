"""A file that is replaced keeps what it was until the new one is whole, and keeps its mode."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from separatrix.atomic import replacing, written_directly
from separatrix.cli.files import write_parts
from separatrix.data.formats.whole_files import write_atomically


@pytest.fixture
def umask():
    """A umask of 027 while the test runs."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def _replace(path):
    with replacing(path) as file:
        file.write(b"new")


WRITERS = [
    pytest.param(_replace, id="replacing"),
    pytest.param(lambda path: write_atomically(path, [b"new"]), id="data"),
    pytest.param(lambda path: write_parts(path, ["n", "ew"]), id="command-line"),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("mode", [0o666, 0o600, 0o755])
def test_an_old_file_keeps_its_mode_whatever_the_umask(tmp_path, umask, write, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert path.stat().st_mode & 0o7777 == mode
    assert b"new" in path.read_bytes()
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_new_file_gets_the_mode_that_open_gives(tmp_path, umask, write):
    write(tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_stays_a_link(tmp_path, write):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path)
    write(link)
    assert link.is_symlink()
    assert b"new" in path.read_bytes()


@pytest.mark.parametrize("write", WRITERS)
def test_a_folder_is_not_replaced(tmp_path, write):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        write(tmp_path)


def test_an_error_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def parts():
        yield "new"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_parts(path, parts())
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


# -- what is not a regular file -------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITERS)
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path, write):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(link)
        assert os.read(reader, 100).strip() == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


@pytest.mark.parametrize("write", WRITERS)
def test_a_device_stays_a_device(tmp_path, write):
    # A folder of its own, so that a test that fails as root spoils no device of the machine.
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    assert written_directly(link)
    write(link)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


WRITES_TO_STDOUT = """
from separatrix.atomic import replacing
print("before")
with replacing("/dev/stdout") as file:
    file.write(b"bytes\\n")
print("after")
"""


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
def test_the_standard_output_is_a_stream_also_where_it_is_a_file(tmp_path):
    command = [sys.executable, "-c", WRITES_TO_STDOUT]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stdout.split() == ["before", "bytes", "after"]
    with open(tmp_path / "out", "w", encoding="utf-8") as file:
        subprocess.run(command, stdout=file, check=True)
    assert (tmp_path / "out").read_text(encoding="utf-8").split() == ["before", "bytes", "after"]
    assert os.listdir(tmp_path) == ["out"]


# -- what killed writers leave --------------------------------------------------------------------

STARTS_TO_WRITE = """
import sys
from separatrix.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"from the other process")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    """Another process in the midst of a write to `file`."""
    command = [sys.executable, "-c", STARTS_TO_WRITE, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        yield process
        process.kill()


def test_what_a_killed_write_left_goes_with_the_next_write(tmp_path, writer):
    writer.kill()
    writer.wait()
    (left,) = os.listdir(tmp_path)
    others = {f"x{left}", f"{left}x", left.replace(".file.", ".file2."), ".file.tmp"}
    for name in others:
        (tmp_path / name).write_bytes(b"of somebody else")
    _replace(tmp_path / "file")
    assert set(os.listdir(tmp_path)) == {"file", *others}


def test_a_writer_at_work_keeps_its_file(tmp_path, writer):
    _replace(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert len(os.listdir(tmp_path)) == 2
    writer.communicate(b"")
    assert writer.returncode == 0
    assert (tmp_path / "file").read_bytes() == b"from the other process"
    assert os.listdir(tmp_path) == ["file"]


def test_many_writers_of_one_name_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "file"

    def write(number):
        for _ in range(40):
            with replacing(path) as file:
                file.write(b"%d " % number * 100)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len(set(path.read_bytes().split())) == 1
    assert os.listdir(tmp_path) == ["file"]


def test_the_longest_names_can_be_written(tmp_path):
    for name in ("a" * 255, "ß" * 127, "語" * 85):
        _replace(tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"new"
    assert len(os.listdir(tmp_path)) == 3
