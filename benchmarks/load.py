"""Load on a service: so many connections, each with one request at a time; times of all answers.

Runs in a process of its own: ``python -m benchmarks.load PORT PATH BODIES``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Measured:
    """What a load of some seconds saw.

    Parameters
    ----------
    requests : int
        Whole answers with status 200.
    failed : int
        Other answers, and connections that ended before their answer.
    seconds : float
    p50, p99, worst : float
        Milliseconds from request to answer.
    """

    requests: int
    failed: int
    seconds: float
    p50: float
    p99: float
    worst: float

    @property
    def throughput(self) -> float:
        """Answers per second."""
        return self.requests / self.seconds


class _Connection(asyncio.Protocol):
    """Sends the next request when the answer to the last one is whole."""

    def __init__(self, load: _Load, first: int) -> None:
        self._load = load
        self._at = first
        self._buffer = b""
        self._due = 0.0
        self._waiting = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        load = self._load
        now = time.perf_counter()
        over = load.answers is not None and self._at >= len(load.requests)
        if over or now >= load.end:
            self._transport.close()
            load.finished()
            return
        if load.pause:
            # A steady rate: late answers do not lower it, up to one request per connection.
            self._due = max(self._due + load.pause, now - load.pause) if self._due else now
            if self._due > now:
                asyncio.get_running_loop().call_later(self._due - now, self._send)
                return
        self._send()

    def _send(self) -> None:
        load = self._load
        self._began = time.perf_counter()
        self._waiting = True
        self._transport.write(load.requests[self._at % len(load.requests)])
        self._at += load.connections

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            self._buffer = buffer
            return
        head = buffer[:end].lower()
        at = head.find(b"content-length: ") + 16
        length = int(head[at:].split(b"\r\n", 1)[0])
        if len(buffer) < end + 4 + length:
            self._buffer = buffer
            return
        self._buffer = b""
        self._waiting = False
        self._load.answered(time.perf_counter() - self._began, head.startswith(b"http/1.1 200"))
        if self._load.answers is not None:
            self._load.answers[self._at - self._load.connections] = buffer[end + 4 :]
        if b"\r\nconnection: close" in head:
            self._transport.close()
            self._load.finished()
            return
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if self._waiting:
            self._load.answered(0.0, False)
            self._load.finished()


class _Load:
    def __init__(
        self, requests: list[bytes], connections: int, seconds: float | None, rate: float | None
    ) -> None:
        self.requests, self.connections = requests, connections
        # Without a time every request is sent once, and its answer kept.
        self.answers: dict[int, bytes] | None = {} if seconds is None else None
        self.pause = connections / rate if rate else 0.0
        self.end = time.perf_counter() + (seconds if seconds is not None else 1e9)
        self.times: list[float] = []
        self.failed = 0
        self._open = connections
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def answered(self, seconds: float, good: bool) -> None:
        """Count an answer."""
        if good:
            self.times.append(seconds)
        else:
            self.failed += 1

    def finished(self) -> None:
        """Count a connection that is done."""
        self._open -= 1
        if self._open == 0 and not self.done.done():
            self.done.set_result(None)


async def run_load(
    port: int,
    requests: list[bytes],
    connections: int = 64,
    seconds: float | None = None,
    rate: float | None = None,
) -> tuple[Measured, list[bytes]]:
    """Load a service on this machine; without `seconds`, until every request has its answer.

    Parameters
    ----------
    port : int
    requests : list of bytes
        As they go over the wire; sent in turn.
    connections : int
    seconds : float, optional
        How long.
    rate : float, optional
        Requests a second; as many as the service takes without.

    Returns
    -------
    Measured, and the bodies of the answers in the order of the requests (none with `seconds`)
    """
    loop = asyncio.get_running_loop()
    load = _Load(requests, connections, seconds, rate)
    began = time.perf_counter()
    for at in range(connections):
        await loop.create_connection(lambda at=at: _Connection(load, at), "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.wait_for(load.done, None if seconds is None else seconds + 60)
    took = time.perf_counter() - began
    times = 1000 * np.array(load.times or [np.nan])
    p50, p99 = np.percentile(times, [50, 99]).tolist()
    seen = Measured(len(load.times), load.failed, took, p50, p99, float(times.max()))
    return seen, [answer for _, answer in sorted((load.answers or {}).items())]


def http_requests(path: str, bodies: list[bytes]) -> list[bytes]:
    """Requests as they go over the wire."""
    return [
        b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (path.encode(), len(body), body)
        for body in bodies
    ]


def main() -> None:
    """Load a service and print what was seen as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("path")
    parser.add_argument("bodies", type=Path, help="a file with a JSON body a line")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rate", type=float, help="requests a second; as many as it takes without")
    options = parser.parse_args()
    import uvloop

    requests = http_requests(options.path, options.bodies.read_bytes().splitlines())
    seen, _ = uvloop.run(
        run_load(options.port, requests, options.connections, options.seconds, options.rate)
    )
    print(json.dumps(asdict(seen)))


if __name__ == "__main__":
    main()
