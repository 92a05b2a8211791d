"""Ctrl-C stops the encoding of a large text."""

import subprocess
import sys

SCRIPT = """
import os, signal, threading, time
import numpy as np
from separatrix import Templates
from separatrix.data import TokenColumn, TokenSequences

n = 1_000_000
codes = np.random.default_rng(0).integers(0, 50_000, size=n).astype(np.int32)
words = TokenColumn.of([[f"w{i}" for i in range(50_000)]]).vocabulary
offsets = np.arange(0, n + 1, 20)
X = TokenSequences({"word": TokenColumn(codes, words, offsets)}, offsets)
for method, options in (("fit", {}), ("transform", {"hashing": 1 << 20})):
    templates = Templates("ngrams(word[-3..3], 1..7)", n_jobs=2, **options)
    start = time.perf_counter()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while time.perf_counter() < start + 60:
            getattr(templates, method)(X)
        print("finished")
    except KeyboardInterrupt:
        print("stopped", hasattr(templates, "_model"))
"""


def test_interrupt():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["stopped", "False"] * 2
