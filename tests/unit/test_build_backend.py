"""The build without a Rust tool chain ends with what to install, not with a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[2] / "build_backend"


def run(code, path):
    environment = {**os.environ, "PATH": str(path)}
    command = [sys.executable, "-c", f"import separatrix_build as b; {code}"]
    return subprocess.run(
        command, cwd=BACKEND, env=environment, capture_output=True, text=True, check=False
    )


def tool(folder, name, answer):
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{answer}'\n")
    file.chmod(0o755)


@pytest.mark.parametrize("hook", ["build_wheel", "build_sdist", "get_requires_for_build_wheel"])
def test_without_cargo_every_hook_says_what_to_install(tmp_path, hook):
    result = run(f"b.{hook}", tmp_path)
    assert result.returncode == 1
    assert "cargo is not on PATH" in result.stderr
    assert "https://rustup.rs" in result.stderr
    assert "Traceback" not in result.stderr


def test_old_tools_are_named_with_their_version(tmp_path):
    tool(tmp_path, "cargo", "cargo 1.95.0 (f2d3ce0bd 2026-03-21)")
    tool(tmp_path, "rustc", "rustc 1.63.0")
    result = run("b.check_tool_chain()", tmp_path)
    assert result.returncode == 1
    assert "rustc 1.63.0 is too old" in result.stderr
    assert "1.89" in result.stderr


def test_a_shim_without_a_tool_chain_counts_as_missing(tmp_path):
    tool(tmp_path, "cargo", "error: rustup could not choose a version of cargo to run")
    result = run("b.check_tool_chain()", tmp_path)
    assert "cargo is not on PATH, or does not run" in result.stderr


def test_good_tools_pass(tmp_path):
    tool(tmp_path, "cargo", "cargo 1.89.0")
    tool(tmp_path, "rustc", "rustc 1.100.0-nightly (abc 2027-01-01)")
    result = run("b.check_tool_chain()", tmp_path)
    assert result.returncode == 0, result.stderr
