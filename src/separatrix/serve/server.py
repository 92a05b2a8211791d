"""Running a service: signals, reloads, and a stop that finishes what is under way."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import logging
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from separatrix.serve.app import Service
from separatrix.serve.connections import connections_for
from separatrix.serve.listening import listen, take_in_waiting, turn_away
from separatrix.serve.metrics import Metrics
from separatrix.serve.settings import Settings
from separatrix.serve.store import ModelStore, Reloads
from separatrix.serve.workers import Board, supervise

__all__ = ["run"]

log = logging.getLogger("separatrix.serve")

#: Seconds between looks whether the last connection has gone.
_LOOK = 0.02
#: Seconds between looks of a worker at its counters, for the others to tell.
_TELL = 0.5
#: Seconds after which a thread that computes lets another one have the interpreter: the event loop
#: waits for it several times per request.
_SWITCH = 0.001
#: Options of glibc's malloc (malloc.h): bytes from which on memory comes from the system and goes
#: back to it at once, free bytes at the end of the heap that are kept, and heaps.
_MALLOPT = {-3: 1 << 17, -1: 1 << 20, -8: 2}
#: New containers between collections of garbage; with Python's own 700, a request of many rows is
#: looked through again and again while it is parsed.
_GARBAGE = 20_000


class _Server(uvicorn.Server):
    """uvicorn, which on a signal closes connections with their next answer before it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        service: Service,
        listener: socket.socket,
        parent: int | None = None,
        publish: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._service = service
        self._listener = listener
        # Of a worker: a descriptor that ends with its parent, and what tells its counters.
        self._parent, self._publish = parent, publish
        self._drain = service.settings.drain
        self._leaving = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; from here on SIGHUP and changed files exchange models."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._chores: list[asyncio.Task[None]] = []
        if self._parent is not None and self._publish is not None:
            self._loop.add_reader(self._parent, self.handle_exit, signal.SIGTERM, None)
            self._chores.append(self._loop.create_task(self._tell(self._publish)))
            return
        if hasattr(signal, "SIGHUP"):
            self._loop.add_signal_handler(signal.SIGHUP, self._reload)
        watch = self._service.settings.watch
        if watch is not None:
            self._chores.append(self._loop.create_task(self._watch(watch)))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; a second signal stops at once."""
        if self._leaving or self._loop is None:
            self.force_exit = self.should_exit = True
            return
        self._leaving = True
        self._loop.call_soon_threadsafe(self._begin_stop)

    def _begin_stop(self) -> None:
        log.info("stopping: %d connections", len(self.server_state.connections))
        if self._parent is None:  # else others may still listen at the same socket
            turn_away(self._listener)
        else:
            asyncio.get_running_loop().remove_reader(self._parent)
        for chore in self._chores:
            chore.cancel()
        self._stop = asyncio.get_running_loop().create_task(self._close_and_drain())

    async def _close_and_drain(self) -> None:
        """Close the door behind those at it; wait until no connection is left with a question."""
        loop = asyncio.get_running_loop()
        # Those who were in the middle of connecting come through.
        await asyncio.sleep(_LOOK)
        waiting = list(take_in_waiting(self._listener))
        for server in self.servers:
            server.close()
        for one in waiting:
            await loop.connect_accepted_socket(self._protocol, one)
        # Only when nobody can come in any more is everybody sent away: whoever comes back is then
        # refused, and not taken in to be cut off.
        await asyncio.sleep(_LOOK)
        self._service.app.stopping = True
        end = loop.time() + self._drain
        while self.server_state.connections and loop.time() < end:
            await asyncio.sleep(_LOOK)
        self.should_exit = True

    def _protocol(self) -> asyncio.Protocol:
        # As uvicorn makes them in its own `startup`.
        return self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    async def _tell(self, publish: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(_TELL)
            publish()

    def _reload(self) -> None:
        asyncio.get_running_loop().run_in_executor(None, self._service.store.reload)

    async def _watch(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await asyncio.to_thread(self._service.store.reload, only_changed=True)
            except Exception:  # whatever a file can cause, the next look comes
                log.exception("looking at the model files failed")


def run(
    paths: Iterable[Path],
    settings: Settings,
    *,
    access_log: bool = True,
    log_format: str = "text",
) -> None:
    """Serve model files until a signal ends it.

    Parameters
    ----------
    paths : iterable of Path
        Model files.
    settings : Settings
    access_log : bool
        Whether every request is told on standard error.
    log_format : {"text", "json"}
        Lines for people, or of JSON.

    Raises
    ------
    ModelFileError, ParameterError
        A file cannot be served.
    OSError
        The address is taken, or not allowed.
    """
    # Rows come as arrays, whatever the frames of the training were.
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    _set_up_logs(access_log, log_format)
    _return_memory()
    store = ModelStore(paths, settings)
    # All that is here by now stays: a full collection would hold up requests for 0.1 s to find so.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE, 50, 100)
    sys.setswitchinterval(_SWITCH)
    patience = int(settings.time_limit) + 5
    with listen(settings.host, settings.port) as listener:
        host, port = listener.getsockname()[:2]
        names = ", ".join(store.models)
        log.info("serving %s at http://%s:%d", names, f"[{host}]" if ":" in host else host, port)
        if settings.workers == 1:
            service = Service(store)
            _Server(_config(service, patience), service, listener).run(sockets=[listener])
        else:
            board = Board(2 * settings.workers + 1)

            def work(slot: int, parent: int) -> None:
                service = Service(store)
                publish = _on_board(service, board, slot)
                config = _config(service, patience)
                _Server(config, service, listener, parent, publish).run(sockets=[listener])
                publish()

            supervise(settings.workers, work, store, board, listener, patience)
    log.info("stopped")


def _config(service: Service, patience: int) -> uvicorn.Config:
    return uvicorn.Config(
        service.app,
        http=connections_for(service.settings),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_keep_alive=service.settings.idle_time,  # type: ignore[arg-type]
        timeout_graceful_shutdown=patience,
    )


def _on_board(service: Service, board: Board, slot: int) -> Callable[[], None]:
    """Let a worker tell the counters of all; what is returned writes its own."""
    before = board.read(slot)
    if before is not None:  # of the worker whose place it takes
        service.metrics.merge({**before, "in_progress": 0})

    def counted() -> tuple[Metrics, Reloads]:
        every = Metrics()
        every.merge(service.metrics.state)
        for other in range(board.n_slots - 1):
            state = None if other == slot else board.read(other)
            if state is not None:
                every.merge(state)
        return every, board.read(board.n_slots - 1) or service.store.reloads()

    service.counted = counted
    return lambda: board.write(slot, service.metrics.state)


def _return_memory() -> None:
    """Let the C library give back what a long request took, where it is glibc.

    It would else learn from the first such request to keep the memory for the next one.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            for option, value in _MALLOPT.items():
                mallopt(option, value)


class JsonLines(logging.Formatter):
    """A record of the log as a line of JSON, with what a request is known by.

    Examples
    --------
    >>> record = logging.makeLogRecord({"msg": "GET", "status": 200, "levelname": "INFO"})
    >>> print(JsonLines().format(record))
    {"time":"...","level":"INFO","message":"GET","status":200}
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        told: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "message": record.getMessage(),
        }
        known = vars(record)
        fields = ("request_id", "client", "method", "route", "status", "ms")
        told |= {name: known[name] for name in fields if name in known}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, separators=(",", ":"))


def _set_up_logs(access_log: bool, log_format: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    handler.setFormatter(JsonLines() if log_format == "json" else plain)
    for name, level in (
        ("separatrix.serve", logging.INFO),
        ("separatrix.serve.access", logging.INFO if access_log else logging.WARNING),
        ("uvicorn.error", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        if name != "separatrix.serve.access":
            logger.handlers = [handler]
            logger.propagate = False
