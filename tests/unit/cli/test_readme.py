"""The commands that the README and the page on the command line show print what they show."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def shown(page):
    """(command, lines) of the blocks of a page that begin with a command."""
    found, inside = [], False
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        inside = line.startswith("    $ ") or (inside and line.startswith("    "))
        if line.startswith("    $ "):
            found.append((shlex.split(line[6:])[1:], []))
        elif inside:
            found[-1][1].append(line[4:])
    return found


@pytest.mark.data("sms_spam")
@pytest.mark.parametrize(("page", "count"), [("README.md", 3), ("docs/command_line.md", 5)])
def test_pages_tell_the_truth(page, count, run, data_dir, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    packed = (data_dir / "sms_spam" / "SMSSpamCollection.gz").read_bytes()
    rows = [b"\t".join(line.split(b"\t")[:2]) for line in gzip.decompress(packed).splitlines()]
    Path("sms.tsv").write_bytes(b"\n".join([b"label\tmessage", *rows]) + b"\n")
    Path("new.txt").write_text("call now to claim your prize\nsee you at lunch\n", encoding="utf-8")
    commands = shown(page)
    assert len(commands) == count
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
