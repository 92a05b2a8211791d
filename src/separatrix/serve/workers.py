"""Several processes at one socket, which share the memory of the models.

The first process opens the models and the socket, and forks; what it has read is shared by all. It
answers nothing itself: it starts a worker again that ended, opens models that changed, and then
replaces the workers one generation by the next, while the old ones finish what is under way.
"""

from __future__ import annotations

import logging
import marshal
import mmap
import os
import select
import signal
import socket
import time
import zlib
from collections.abc import Callable
from typing import Any

from separatrix.serve.listening import turn_away
from separatrix.serve.store import ModelStore

__all__ = ["Board", "supervise"]

log = logging.getLogger("separatrix.serve")

#: Bytes of what one process tells the others.
_SLOT = 1 << 18
#: Seconds before a worker that ended is started again, so that one that cannot live costs little.
_AGAIN = 1.0


class Board:
    """Memory in which each process writes what all of them may read.

    Parameters
    ----------
    n_slots : int
        Writers.

    Examples
    --------
    >>> board = Board(2)
    >>> board.write(1, {"requests": 3})
    >>> board.read(1), board.read(0)
    ({'requests': 3}, None)
    """

    def __init__(self, n_slots: int) -> None:
        self.n_slots = n_slots
        self._memory = mmap.mmap(-1, n_slots * _SLOT)

    def write(self, slot: int, value: Any) -> None:
        """Put plain values in a slot; what is too long is left out."""
        text = marshal.dumps(value)
        if len(text) <= _SLOT - 8:
            head = len(text).to_bytes(4, "little") + zlib.crc32(text).to_bytes(4, "little")
            self._memory[slot * _SLOT : slot * _SLOT + 8 + len(text)] = head + text

    def read(self, slot: int) -> Any:
        """The values of a slot; None where there are none, or they are being written."""
        start = slot * _SLOT
        for _ in range(10):
            length = int.from_bytes(self._memory[start : start + 4], "little")
            check = int.from_bytes(self._memory[start + 4 : start + 8], "little")
            text = self._memory[start + 8 : start + 8 + min(length, _SLOT - 8)]
            if length and zlib.crc32(text) == check:
                return marshal.loads(text)
            time.sleep(0.001 if length else 0)
        return None


class _Workers:
    """The children of one process."""

    def __init__(self, n_workers: int, work: Callable[[int, int], None]) -> None:
        self._n_workers, self._work = n_workers, work
        # Closed with this process, however it ends: its children read so, and stop.
        self._alive, self._held = os.pipe()
        self.generation = 0
        #: Slot by process: those that answer, and those that finish what is under way.
        self.current: dict[int, int] = {}
        self.leaving: dict[int, int] = {}

    def fill(self) -> None:
        """Start as many as are missing."""
        first = self._n_workers * (self.generation % 2)
        for slot in range(first, first + self._n_workers):
            if slot not in self.current.values():
                self.current[self._fork(slot)] = slot

    def replace(self) -> None:
        """Start a generation, and let the one before it end."""
        self.leaving, self.current = self.current, {}
        self.generation += 1
        self.fill()
        self.stop(self.leaving)

    def stop(self, which: dict[int, int]) -> None:
        """Ask processes to finish."""
        for pid in which:
            os.kill(pid, signal.SIGTERM)

    def reap(self) -> bool:
        """Take note of processes that ended; whether one did that should not."""
        lost = False
        while self.current or self.leaving:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if self.leaving.pop(pid, None) is None and self.current.pop(pid, None) is not None:
                lost = True
                log.error("worker %d ended (%s)", pid, os.waitstatus_to_exitcode(status))
        return lost

    def _fork(self, slot: int) -> int:
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.close(self._held)
            os.setpgid(0, 0)  # Ctrl-C is for the first process alone
            signal.set_wakeup_fd(-1)
            for name in _SIGNALS:
                signal.signal(name, signal.SIG_DFL)
            self._work(slot, self._alive)
            code = 0
        except BaseException:
            log.exception("a worker failed")
        finally:
            os._exit(code)


_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


def supervise(
    n_workers: int,
    work: Callable[[int, int], None],
    store: ModelStore,
    board: Board,
    listener: socket.socket,
    patience: float,
) -> None:
    """Run workers until a signal ends it.

    Parameters
    ----------
    n_workers : int
    work : callable
        What a worker does, with its slot on the board, and a descriptor that ends with this
        process; called in a new process.
    store : ModelStore
        Opened again upon SIGHUP, and where its files are watched.
    board : Board
        Two slots per worker, and a last one for what becomes of reloads.
    listener : socket.socket
    patience : float
        Seconds in which workers must have finished when all of it stops.
    """
    workers = _Workers(n_workers, work)
    received: list[int] = []
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    before = {name: signal.signal(name, lambda number, _: received.append(number))
              for name in _SIGNALS}  # fmt: skip
    signal.set_wakeup_fd(writer.fileno())
    watch = store.settings.watch
    wanted = False
    try:
        workers.fill()
        while not {signal.SIGTERM, signal.SIGINT} & {*received}:
            wanted |= signal.SIGHUP in received
            received.clear()
            if workers.reap():
                time.sleep(_AGAIN)
                workers.fill()
            # One generation at a time leaves: their numbers on the board are taken over.
            if not workers.leaving and (wanted or watch is not None):
                done = store.reload(only_changed=not wanted)
                wanted = False
                board.write(board.n_slots - 1, store.reloads())
                if done:
                    workers.replace()
            _sleep(reader, watch)
        _stop(workers, listener, reader, patience)
    finally:
        signal.set_wakeup_fd(-1)
        for name, handler in before.items():
            signal.signal(name, handler)


def _sleep(reader: socket.socket, seconds: float | None) -> None:
    """Wait for a signal."""
    if select.select([reader], [], [], seconds)[0]:
        reader.recv(4096)


def _stop(
    workers: _Workers, listener: socket.socket, reader: socket.socket, patience: float
) -> None:
    log.info("stopping: %d workers", len(workers.current))
    turn_away(listener)
    workers.stop(workers.current)
    workers.leaving |= workers.current
    workers.current = {}
    end = time.monotonic() + patience
    while workers.leaving and time.monotonic() < end:
        workers.reap()
        _sleep(reader, 0.05)
    for pid in workers.leaving:
        os.kill(pid, signal.SIGKILL)
