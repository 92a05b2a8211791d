"""The commands of the tutorial print what it shows."""

from __future__ import annotations

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from separatrix.cli.app import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def blocks():
    """The commands of the page with the lines shown below each."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def same(printed, shown, numbers=True):
    """Whether both have the same words and, up to the machine's last digits, numbers."""
    words = [[NUMBER.sub("N", line).split() for line in lines] for lines in (printed, shown)]
    assert words[0] == words[1]
    if numbers:
        for new, old in zip(printed, shown, strict=True):
            assert [float(n) for n in NUMBER.findall(new)] == pytest.approx(
                [float(n) for n in NUMBER.findall(old)], rel=0.03, abs=0.01
            )


def serve(model):
    """Start the service at a free port; return the process and its address."""
    command = [sys.executable, "-m", "separatrix", "serve", model, "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    for line in process.stderr:
        if found := re.search(r"serving cancer at (http://\S+)", line):
            return process, found[1]
    raise AssertionError("the service did not start")


def test_the_tutorial_tells_the_truth(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    service = address = None
    commands = blocks()
    assert len(commands) >= 10
    try:
        for command, shown in commands:
            if command.startswith("separatrix serve"):
                service, address = serve(command.split()[-1])
            elif command.startswith("separatrix "):
                assert main(shlex.split(command)[1:]) == 0
                out, err = capfd.readouterr()
                if "compare" in command:
                    err = ""  # progress, with times of its own
                printed = (out + err).splitlines()
                table = [i for i, line in enumerate(shown) if line.startswith("learner ")]
                if table:
                    end = next(
                        i
                        for i, line in enumerate(shown)
                        if line.lower().startswith(("temperature", "a temp"))
                    )
                    # Seconds and gaps are the machine's.
                    same(printed[table[0] : end], shown[table[0] : end], numbers=False)
                    same(printed[end:], shown[end:])
                else:
                    same(printed, shown)
            else:
                if command.startswith("curl"):
                    if not shutil.which("curl"):
                        continue
                    command = command.replace("http://", "").replace(
                        "localhost:8000", address.removeprefix("http://")
                    )
                done = subprocess.run(
                    ["bash", "-c", command], capture_output=True, text=True, check=True
                )
                same(done.stdout.splitlines(), shown)
        ask_from_python(address, capfd)
    finally:
        if service is not None:
            service.terminate()
            service.wait(120)


def ask_from_python(address, capfd):
    """The block of the client, with the address of this run."""
    block = re.search(
        r"```python\n(import csv.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )[1]
    exec(block.replace("http://127.0.0.1:8000", address) + "client.close()\n", {})
    assert capfd.readouterr().out.strip() == block.rstrip().split("# ")[-1]


def test_the_recording_of_the_first_page_is_that_of_these_commands():
    import tools.record_terminal as recording

    picture = html.unescape(recording.TARGET.read_text(encoding="utf-8"))
    shown = " ".join(re.findall(r">([^<]*)</text>", picture))
    known = " ".join(command for command, _ in blocks())
    for command in recording.COMMANDS:
        assert " ".join(f"$ {command}".split()) in " ".join(shown.split())
        verb = " ".join(command.split()[:3]).removesuffix(" --port")
        assert verb in known, verb
    assert "Champion: linear_svm" in shown
