"""Load for minutes: no request fails, memory stays, and the peer is left behind."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.unit.serve.served import ROOT


@pytest.mark.slow
@pytest.mark.data("20newsgroups")
def test_ten_minutes_at_four_fifths_of_the_peak():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.serving", "--soak", "600"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ratio = float(re.search(r"throughput .*: ([\d.]+)x", done.stdout)[1])
    worse = float(re.search(r"p99 .*: ([\d.]+)\n", done.stdout)[1])
    before, after = map(float, re.search(r"memory (\d+) to (\d+) MB", done.stdout).groups())
    assert ratio > 2
    assert worse < 0.5
    assert after < before + 20
