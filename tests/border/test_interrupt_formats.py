"""Ctrl-C stops the parsing of a large text."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import os, signal, threading, time
from separatrix.data import read

text = {text} * 4_000_000
threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    while time.perf_counter() < start + 30:
        read(text, {format!r}, n_jobs=1)
    print("finished")
except KeyboardInterrupt:
    print("stopped")
"""


@pytest.mark.parametrize(
    ("format", "text"),
    [("svmlight", b"1 1:0.5 7:1.25\n"), ("conll", b"the DT B\ncat NN I\n\n")],
)
def test_interrupt(format, text):
    script = textwrap.dedent(SCRIPT).format(format=format, text=text)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["stopped"]
