"""Every kind of costly request at once, from other addresses: an honest client hardly notices."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.unit.serve.served import ROOT


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="attacks from other loopback addresses")
def test_an_honest_client_under_attack():
    """p99 below 100 ms, memory below 1.5 times that of the idle service, nothing refused."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.attacks", "--seconds", "120"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
