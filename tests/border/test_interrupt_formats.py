"""Ctrl-C stops the parsing of a large text."""

import subprocess
import sys

SCRIPT = """
import os, signal, threading, time
from separatrix.data import read

for format, line in (("svmlight", b"1 1:0.5 7:1.25\\n"), ("conll", b"the DT B\\ncat NN I\\n\\n")):
    text = line * 4_000_000
    threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        while time.perf_counter() < start + 30:
            read(text, format, n_jobs=1)
        print("finished")
    except KeyboardInterrupt:
        print("stopped")
"""


def test_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["stopped", "stopped"]
