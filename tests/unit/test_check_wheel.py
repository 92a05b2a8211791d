"""The check of a wheel finds what is missing and what does not belong."""

from __future__ import annotations

import zipfile

import pytest
from tools.check_wheel import WheelError, check_contents, expected

NAME = "separatrix-0.1.0-cp311-abi3-manylinux_2_17_x86_64.whl"
INFO = "separatrix-0.1.0.dist-info"
ABOUT = {
    f"{INFO}/METADATA": "License-Expression: BSD-3-Clause\nRequires-Python: >=3.11\n"
    "Provides-Extra: report\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\nseparatrix=separatrix.cli.app:main\n",
    f"{INFO}/licenses/LICENSE": "BSD 3-Clause\n",
    f"{INFO}/RECORD": "",
}


def wheel(folder, files, name=NAME):
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            archive.writestr(file, text)
    return path


@pytest.fixture
def files():
    return {**dict.fromkeys(expected(), ""), "separatrix/_core.abi3.so": "", **ABOUT}


def test_what_a_wheel_must_hold_is_what_the_package_uses():
    assert {
        "separatrix/__init__.py",
        "separatrix/py.typed",
        "separatrix/_core.pyi",
        "separatrix/report/templates/report.html",
        "separatrix/serve/page/static/main.js",
    } <= expected()
    assert not any(name.endswith((".so", ".pyc")) for name in expected())


def test_a_whole_wheel_passes(tmp_path, files):
    assert str(len(files)) in check_contents(wheel(tmp_path, files))[0]


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("separatrix/py.typed", "py.typed"),
        ("separatrix/_core.pyi", "_core.pyi"),
        ("separatrix/_core.abi3.so", "extension module"),
        ("separatrix/report/templates/report.html", "report.html"),
        ("separatrix/serve/page/static/main.js", "main.js"),
        (f"{INFO}/licenses/LICENSE", "license"),
        (f"{INFO}/entry_points.txt", "entry_points.txt"),
        (f"{INFO}/METADATA", "METADATA"),
    ],
)
def test_what_is_missing_is_named(tmp_path, files, gone, said):
    del files[gone]
    with pytest.raises(WheelError, match=said):
        check_contents(wheel(tmp_path, files))


@pytest.mark.parametrize("more", ["separatrix/notes.txt", "tests/test_a.py"])
def test_what_does_not_belong_is_named(tmp_path, files, more):
    with pytest.raises(WheelError, match=more):
        check_contents(wheel(tmp_path, {**files, more: ""}))


def test_a_wheel_for_one_python_only_is_refused(tmp_path, files):
    name = NAME.replace("abi3", "cp311")
    with pytest.raises(WheelError, match="every Python"):
        check_contents(wheel(tmp_path, files, name))
