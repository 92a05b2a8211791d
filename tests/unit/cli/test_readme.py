"""The commands that the README shows print what it shows."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "README.md"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def shown():
    """(command, lines) of the section on the command line."""
    section = README.read_text(encoding="utf-8").split("## Command line\n")[1].split("\n## ")[0]
    block = [line[4:] for line in section.splitlines() if line.startswith("    ")]
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append((shlex.split(line[2:])[1:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.mark.data("sms_spam")
def test_the_readme_tells_the_truth(run, data_dir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packed = (data_dir / "sms_spam" / "SMSSpamCollection.gz").read_bytes()
    rows = [b"\t".join(line.split(b"\t")[:2]) for line in gzip.decompress(packed).splitlines()]
    Path("sms.tsv").write_bytes(b"\n".join([b"label\tmessage", *rows]) + b"\n")
    Path("new.txt").write_text("call now to claim your prize\nsee you at lunch\n", encoding="utf-8")
    commands = shown()
    assert len(commands) == 5
    for words, expected in commands:
        done = run(*words)
        printed = (done.out + done.err).splitlines()
        assert [NUMBER.sub("N", line).split() for line in printed] == [
            NUMBER.sub("N", line).split() for line in expected
        ]
        for new, old in zip(printed, expected, strict=True):
            # The last digits may change with the machine.
            assert [float(n) for n in NUMBER.findall(new)] == pytest.approx(
                [float(n) for n in NUMBER.findall(old)], rel=0.02, abs=0.01
            )
