"""What separatrix says it works with, and the environments in which that is tried."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest
from tools.environments import EXTRAS, ROOT, main, pythons

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LISTS = {
    "core": PROJECT["project"]["dependencies"],
    "build": PROJECT["build-system"]["requires"],
    **PROJECT["project"]["optional-dependencies"],
}


@pytest.mark.parametrize("name", LISTS)
def test_every_package_has_a_lower_bound_and_no_other(name):
    for line in LISTS[name]:
        requirement = line.partition(";")[0].strip()
        if not requirement.startswith("separatrix["):
            assert re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=[\d.]+", requirement), requirement


def test_a_package_that_is_named_twice_has_one_bound():
    bounds: dict[str, set[str]] = {}
    for line in (line for lines in LISTS.values() for line in lines):
        name, found, bound = line.partition(";")[0].strip().partition(">=")
        if found:
            bounds.setdefault(name, set()).add(bound)
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


def test_all_extras_but_those_of_peers_and_of_the_site_are_tried():
    assert set(EXTRAS) == set(LISTS) - {"core", "build", "bench", "docs"}


def test_pythons_are_found_on_path_and_others_are_not(monkeypatch, tmp_path):
    minor = sys.version_info[1]
    (tmp_path / f"python3.{minor}").symlink_to(sys.executable)
    # A starter of pyenv for a version that is not chosen.
    starter = tmp_path / f"python3.{minor + 1}"
    starter.write_text("#!/bin/sh\necho 'command not found' >&2; exit 127\n", encoding="utf-8")
    starter.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    assert pythons([minor + 1, minor]) == {minor: str(tmp_path / f"python3.{minor}")}


def test_other_names_are_refused():
    with pytest.raises(SystemExit, match="not older"):
        main(["older"])
