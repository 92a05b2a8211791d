"""A service under attack: times of an honest client, and memory, before and while others misuse it.

``python -m benchmarks.attacks --seconds 60`` starts a service on this machine, measures one client
that sends a short request at a time, then does so again while processes at other addresses
(127.0.0.2, ...) send every kind of costly request in turn. It prints p50, p99 and memory of both,
and exits with 1 where p99 is above 100 ms, memory above 1.5 times that of the idle service, or a
request of the honest client failed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
#: What must hold: milliseconds, and times the memory of the idle service.
MOST_P99, MOST_MEMORY = 100.0, 1.5
#: Attacking addresses, one process each, and threads of each.
ATTACKERS, THREADS = 2, 8
#: Seconds between requests of the honest client.
PAUSE = 0.02

_ARROW = "application/vnd.apache.arrow.stream"
_LINES = "application/x-ndjson"


def _arrow(table: Any, **options: Any) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _bodies() -> list[tuple[str, bytes]]:
    """Requests that cost much: a kind and a body each."""
    import pyarrow as pa

    offsets = pa.array([0, 120_000_000], pa.int64())
    nulls = pa.LargeListArray.from_arrays(offsets, pa.nulls(120_000_000))
    zeros = pa.array(np.zeros(8000, np.int32))
    one_text = pa.DictionaryArray.from_arrays(zeros, pa.array(["x" * 300_000]))
    words = " ".join(f"word{i}" for i in range(600_000)).encode()
    numbers = b",".join([b"1.5"] * 1_500_000)
    return [
        ("application/json", b'{"rows": [' + b",".join([b"[]"] * 2_000_000) + b"]}"),
        ("application/json", b'{"row": [' + numbers + b"]}"),
        ("application/json", b'{"rows": [' + b",".join([b'"free"'] * 10_000) + b"]}"),
        ("application/json", b'{"row": "' + words + b'"}'),
        ("application/json", b'{"row": "' + words[:190_000] + b'", "explain": true}'),
        ("application/json", b'{"row": "a", "cost": [' + b"[0,1]," * 500_000 + b"[0,1]]}"),
        ("application/json", b"{" + b",".join(b'"f%d":1' % i for i in range(300_000)) + b"}"),
        (_LINES, b"\n" * 4_000_000),
        (_LINES, b'"free money"\n' * 100_000),
        (_ARROW, _arrow(pa.table({"a": nulls}))),
        (_ARROW, _arrow(pa.table({"a": one_text}))),
        (_ARROW, _arrow(pa.table({"a": ["x" * 100_000_000]}), compression="zstd")),
        (_ARROW, _arrow(pa.table({"a": pa.array([2**62], pa.timestamp("s"))}))),
    ]


def _connect(port: int, source: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 10, (source, 0))


def _send(port: int, source: str, kind: str, body: bytes, pause: float = 0.0) -> None:
    """Send a request, the body in pieces, and read what comes."""
    head = f"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
    with _connect(port, source) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
        for at in range(0, len(body), 1 << 16):
            connection.sendall(body[at : at + (1 << 16)])
            time.sleep(pause)
        connection.recv(1 << 16)


def _endless_head(port: int, source: str) -> None:
    with _connect(port, source) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(200):
            connection.sendall(b"x-more: " + b"a" * 1000 + b"\r\n")


def _half_open(port: int, source: str) -> None:
    several = []
    try:
        for _ in range(100):
            several.append(_connect(port, source))
            several[-1].sendall(b"POST /v1/predict HTTP/1.1\r\nhost: loc")
        time.sleep(2)
    finally:
        for one in several:
            one.close()


def _unread(port: int, source: str) -> None:
    """Ask for much, and do not read it."""
    rows = b",".join([b'"free"'] * 10_000)
    body = b'{"probabilities": true, "rows": [' + rows + b"]}"
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with connection:
        connection.settimeout(10)
        connection.bind((source, 0))
        connection.connect(("127.0.0.1", port))
        head = "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        time.sleep(3)


def attack(port: int, source: str, seconds: float, seed: int, ready: Any, count: Any) -> None:
    """Send costly requests from one address for some seconds, on several threads; count them."""
    os.nice(10)
    bodies = _bodies()
    ready.release()
    end = time.time() + seconds
    attacks: list[Callable[[], None]] = [
        *(lambda kind=kind, body=body: _send(port, source, kind, body) for kind, body in bodies),
        lambda: _send(port, source, *bodies[3], pause=0.2),
        lambda: _endless_head(port, source),
        lambda: _half_open(port, source),
        lambda: _unread(port, source),
    ]

    def work(number: int) -> None:
        rng = random.Random(seed * 1000 + number)
        while time.time() < end:
            with count.get_lock():
                count.value += 1
            try:
                rng.choice(attacks)()
            except OSError:  # refused, reset or cut off
                time.sleep(0.01)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end + 5 - time.time()))
    os._exit(0)


def honest(port: int, seconds: float) -> tuple[list[float], int]:
    """Milliseconds of all answers to one client that sends short requests, and failures."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"row": "free money for lunch", "probabilities": True})
    headers = {"Content-Type": "application/json"}
    times, failed = [], 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        try:
            client.request("POST", "/v1/predict", body, headers)
            response = client.getresponse()
            response.read()
            failed += response.status != 200
        except (OSError, http.client.HTTPException):
            failed += 1
            client.close()
        times.append(1000 * (time.perf_counter() - began))
        time.sleep(PAUSE)
    return times, failed


def memory(pid: int) -> float:
    """Resident memory of a process and its children in MB, what they share counted once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = 0
    for one in (pid, *map(int, children)):
        rollup = Path(f"/proc/{one}/smaps_rollup").read_text()
        found += int(re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0])
    return found / 1024


class Watch(threading.Thread):
    """Looks at the memory of a process until it is stopped."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self._ended = pid, threading.Event()
        self.most = 0.0

    def run(self) -> None:
        """Look ten times a second."""
        while not self._ended.wait(0.1):
            self.most = max(self.most, memory(self._pid))

    def stop(self) -> float:
        """The most that was seen, in MB."""
        self._ended.set()
        self.join()
        return self.most


def start(folder: Path, *options: str) -> tuple[subprocess.Popen[str], int]:
    """A service of a small model of texts: its process and port."""
    from sklearn.pipeline import make_pipeline

    from separatrix import LogisticRegression, TextVectorizer, save

    texts = ["free money now", "win a free prize", "see you at lunch", "meeting at noon"]
    model = make_pipeline(TextVectorizer(), LogisticRegression())
    save(model.fit(texts, ["spam", "spam", "ham", "ham"]), folder / "mail.sx")
    words = ["serve", str(folder / "mail.sx"), "--port", "0", "--no-access-log", *options]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"serving .* at http://.*:(\d+)", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, int(found[1])
    raise RuntimeError("the service did not start")


def main() -> int:
    """Measure, print, and say whether the bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="under attack")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, port = start(Path(folder))
        try:
            return _measure(process.pid, port, options.seconds)
        finally:
            process.terminate()
            process.wait()


def _measure(pid: int, port: int, seconds: float) -> int:
    import pyarrow as pa

    # Arrow is imported by the first request that needs it: part of a service that is idle.
    _send(port, "127.0.0.1", _ARROW, _arrow(pa.table({"a": ["free"]})))
    honest(port, 1.0)
    idle = memory(pid)
    before, failed_before = honest(port, min(10.0, seconds))
    watch = Watch(pid)
    watch.start()
    context = multiprocessing.get_context("spawn")
    ready, count = context.Semaphore(0), context.Value("i", 0)
    attackers = [
        context.Process(
            target=attack, args=(port, f"127.0.0.{2 + i}", seconds, i, ready, count), daemon=True
        )
        for i in range(ATTACKERS)
    ]
    for one in attackers:
        one.start()
    for _ in attackers:
        ready.acquire()
    under, failed = honest(port, seconds)
    for one in attackers:
        one.join(30)
    most = watch.stop()
    for what, times in (("alone", before), ("under attack", under)):
        p50, p99 = np.percentile(times, [50, 99])
        print(f"{what}: {len(times)} requests, p50 {p50:.1f} ms, p99 {p99:.1f} ms, "
              f"worst {max(times):.1f} ms")  # fmt: skip
    print(f"attacks: {count.value}; failed: {failed_before + failed}; "
          f"memory idle {idle:.0f} MB, at most {most:.0f} MB: {most / idle:.2f}x")  # fmt: skip
    good = np.percentile(under, 99) < MOST_P99 and most < MOST_MEMORY * idle
    return 0 if good and not failed_before + failed else 1


if __name__ == "__main__":
    raise SystemExit(main())
