"""What a connection may cost before anybody knows who asks: its number, its head, its time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from separatrix.serve.problems import Problem
from separatrix.serve.settings import Settings

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["connections_for"]

#: Descriptors that a service needs beside its connections: models, logs, the event loop.
_OTHER_DESCRIPTORS = 64


class Door:
    """Counts connections, all of them and by address.

    Parameters
    ----------
    settings : Settings
    """

    def __init__(self, settings: Settings) -> None:
        self.max_head = settings.max_head
        self.head_time = min(settings.head_time, settings.time_limit)
        self.time_limit = settings.time_limit
        self._most = settings.max_connections
        if resource is not None:
            descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            if descriptors != resource.RLIM_INFINITY:
                self._most = max(1, min(self._most, descriptors - _OTHER_DESCRIPTORS))
        self._most_of_one = settings.max_per_address
        self._inside: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a connection; False where there are too many already."""
        self._inside[address] += 1
        of_one = self._inside[address] <= self._most_of_one
        return of_one and self._inside.total() <= self._most

    def leave(self, address: str) -> None:
        """Forget a connection."""
        self._inside[address] -= 1
        if not self._inside[address]:
            del self._inside[address]


class Connection(HttpToolsProtocol):
    """uvicorn's connection, with limits of its own on bytes and time.

    uvicorn waits forever for a head, for the rest of a body that nobody reads any more and for a
    client that does not read its answer, and keeps however many bytes of a head come.
    """

    door: ClassVar[Door]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a connection in, or turn it away."""
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        self._head_size, self._in_head = 0, True
        self._timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None
        if self.door.enter(self._address):
            self._wait(self.door.head_time, self._too_slow)
        else:
            self._refuse(Problem("too_many_connections", "there are too many; come again"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Let it go."""
        self._stop_waiting()
        self.resume_writing()
        self.door.leave(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes in; of a head not too many."""
        if self.transport.is_closing():
            return
        if self._in_head:
            if not self._head_size and self._timer is None:
                self._wait(self.door.head_time, self._too_slow)
            self._head_size += len(data)
        super().data_received(data)
        if self._in_head and self._head_size > self.door.max_head:
            most = self.door.max_head
            self._refuse(Problem("head_too_large", f"the head has more than {most} bytes"))

    def on_headers_complete(self) -> None:
        """End a head."""
        self._in_head, self._head_size = False, 0
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request: what comes next is a head."""
        super().on_message_complete()
        self._in_head = True
        self._stop_waiting()

    def on_response_complete(self) -> None:
        """End an answer; if not all of the request was there, wait a little for the rest."""
        super().on_response_complete()
        if self.transport.is_closing():
            # What was not read by then never will be.
            self._wait(self.door.time_limit, self.transport.abort)
        elif not self._in_head:
            self._wait(self.door.head_time, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection."""
        self._wait(self.door.time_limit, self.transport.abort)
        super().timeout_keep_alive_handler()

    def pause_writing(self) -> None:
        """Wait for a client that does not read, but not forever."""
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.door.time_limit, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def _wait(self, seconds: float, then: Callable[[], None]) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, then)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        told = f"the head was not there within {self.door.head_time:g} seconds"
        self._refuse(Problem("timeout", told))

    def _refuse(self, problem: Problem) -> None:
        """Say what is wrong, and close."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        head = (
            f"HTTP/1.1 {problem.status} refused\r\ncontent-type: application/json\r\n"
            f"content-length: {len(problem.body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + problem.body)
        self._wait(self.door.time_limit, self.transport.abort)
        self.transport.close()


def connections_for(settings: Settings) -> Any:
    """The class of connections that keeps the limits of a service."""
    return type("Connection", (Connection,), {"door": Door(settings)})
