"""A file that is replaced keeps what it was until the new one is whole, and keeps its mode."""

from __future__ import annotations

import os

import pytest

from separatrix.atomic import replacing
from separatrix.cli.files import write_parts
from separatrix.data.writing import write_atomically


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
