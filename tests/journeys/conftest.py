"""The command line in this process, on small files made by the tests."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from separatrix.cli.app import main


class Done(NamedTuple):
    """What a run printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd, tmp_path, monkeypatch):
    """Run the command line in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def file(tmp_path):
    """Write a file of lines and give its name."""

    def make(name, lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return name

    return make
