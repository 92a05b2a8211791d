"""One fit on a cluster: what it keeps there, passes over it, and nothing left behind.

Dask schedules, moves and serializes. A pass sends the weights to every worker once, asks every
partition where it lies, and adds what comes back in a tree whose shape depends on the number of
partitions alone, so that neither the number of workers nor their speed changes a bit of the sum.

Large answers are added on the workers, a task for each partition and each node of the tree. Where
the answers of all partitions are small, partitions of one worker share a task (`placement`) and the
client adds: what costs then is the number of messages, not their size.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Self

import numpy as np

from separatrix.distributed.packages import dask_distributed
from separatrix.distributed.placement import Answers, Literal, Pace, Placement, serve
from separatrix.distributed.tree import merged, tuple_of
from separatrix.errors import SeparatrixError

__all__ = ["LostDataError", "Sent", "Session", "active_client"]

#: Times a pass is tried when what was sent for it was lost with a worker.
_ATTEMPTS = 5

#: Bytes of all answers up to which the client adds them, and of arrays that travel with tasks.
_SMALL_ANSWERS, _SMALL_ARRAYS = 2**24, 2**20
#: Answers that are let go of at once.
_MANY_ANSWERS = 64

#: What a caller sees of a future that was lost: concurrent.futures' and asyncio's are not the same.
_LOST = (CancelledError, asyncio.CancelledError)


class LostDataError(SeparatrixError, RuntimeError):
    """Data that only a worker had went with it, again and again."""


class Sent:
    """A value with its copies on the workers.

    Parameters
    ----------
    value : object
        The value, kept here so that it can be sent again.
    future : Future
        The copies.
    """

    def __init__(self, value: Any, future: Any) -> None:
        self.value = value
        self.future = future


@dataclass
class _Flight:
    """Futures of one pass: what was sent for it, and what is requested."""

    sent: list[Any] = field(default_factory=list)
    requested: list[Any] = field(default_factory=list)


@contextmanager
def active_client(client: Any) -> Iterator[Any]:
    """The client given, the active one, or one of a local cluster that ends with the block."""
    distributed = dask_distributed()
    if client is not None:
        yield client
        return
    try:
        found = distributed.get_client()
    except ValueError:
        with distributed.Client(dashboard_address=None) as own:
            yield own
        return
    yield found


class Session:
    """Partitions of one fit on a cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    on_partition : callable or None
        Called with (partitions done, partitions) while a pass runs.

    Attributes
    ----------
    n_passes : int
        Passes over all partitions so far.
    """

    def __init__(self, client: Any, on_partition: Callable[[int, int], None] | None = None) -> None:
        self.client = client
        self.on_partition = on_partition
        self.n_passes = 0
        self._kept: dict[str, Any] = {}
        self._spent: list[Any] = []
        self._spent_bytes = 0
        self._placement = Placement(client)
        self._paces: dict[Callable[..., Any], Pace] = {}
        self._name = uuid.uuid4().hex[:8]
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release([*self._spent, *self._kept.values()])
        self._spent = []

    def release(self, futures: Sequence[Any]) -> None:
        """Let go of futures: Dask drops what nobody wants, and stops what still computes it.

        Tracebacks of errors would hold them otherwise.
        """
        for future in futures:
            self._kept.pop(future.key, None)
            future.release()

    def send(self, value: Any) -> Sent:
        """Copies of a value for all workers; a later pass may use them again."""
        sent = Sent(value, self._scatter(value))
        self._kept[sent.future.key] = sent.future
        return sent

    def _scatter(self, value: Any) -> Any:
        # In a list, since the members of a tuple would be scattered one by one.
        return self.client.scatter([value], broadcast=True, hash=False)[0]

    def keep(
        self, function: Callable[..., Any], parts: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Futures of ``function(*parts[i], *shared)`` for every partition, which stay there.

        A part is a future, a delayed value, or a plain one. Plain `shared` values are part of the
        graph, so that Dask can make everything again that is lost with a worker.
        """
        return self._keep(self._tasks(function, parts, self._plain(shared)))

    def keep_and_ask(
        self,
        function: Callable[..., Any],
        question: Callable[[Any], Any],
        parts: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> tuple[list[Any], list[Any]]:
        """As `keep`, with the answers of ``question(value)``, small ones.

        Dask asks as soon as it has made a value, before that may have to go to disk.
        """
        tasks = self._tasks(function, parts, self._plain(shared))
        requested = self._tasks(question, [(task,) for task in tasks], [])
        futures = self._keep([*tasks, *requested])
        kept, told = futures[: len(tasks)], futures[len(tasks) :]
        try:
            self._watch(dict.fromkeys(told, 1))
            answers = list(self.client.gather(told))
        except _LOST as error:
            raise LostDataError(
                "partitions were lost with a worker, and Dask cannot make them again; read them "
                "from files, or keep copies (client.replicate)"
            ) from error
        finally:
            self.release(told)
        return kept, answers

    def _plain(self, shared: Sequence[Any]) -> list[Any]:
        from dask import delayed

        return [
            item.future if isinstance(item, Sent) else delayed(item, pure=False, traverse=False)
            for item in shared
        ]

    def _keep(self, tasks: list[Any]) -> list[Any]:
        futures = self.client.compute(tasks, optimize_graph=False)
        self._kept |= {future.key: future for future in futures}
        return list(futures)

    def each(
        self, function: Callable[..., Any], parts: Sequence[tuple[Any, ...]], *shared: Any
    ) -> list[Any]:
        """Values of ``function(*parts[i], *shared)``, one for every partition, small ones."""
        return list(self._run(function, parts, shared, tuple_of))

    def reduce(
        self,
        function: Callable[..., Any],
        merge: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        *shared: Any,
    ) -> Any:
        """The values of all partitions, merged on the workers in a fixed tree.

        ``merge(first, second, ...)`` takes up to eight neighbors in the order of the partitions.
        """
        return self._run(function, parts, shared, merge)

    def _tasks(
        self,
        function: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        sent: list[Any],
        name: str | None = None,
    ) -> list[Any]:
        from dask import delayed

        self._count += 1
        call = delayed(function, pure=False, traverse=False)
        name = f"{(name or function.__name__).strip('_')}-{self._name}-{self._count}"
        return [
            call(*part, *sent, dask_key_name=(name, number)) for number, part in enumerate(parts)
        ]

    def _run(
        self,
        function: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        shared: Sequence[Any],
        merge: Callable[..., Any],
    ) -> Any:
        lost: BaseException | None = None
        for _ in range(_ATTEMPTS):
            flight = _Flight()
            try:
                if lost is not None:
                    self._placement.forget()
                    self._send_again([item for item in shared if isinstance(item, Sent)])
                groups = self._groups(function, parts)
                if groups is None:
                    result = self._by_partition(flight, function, parts, shared, merge)
                else:
                    result = self._by_group(flight, function, parts, shared, merge, groups)
            except _LOST as error:
                self.release([*flight.requested, *flight.sent])
                lost = error
            except BaseException:
                self.release([*flight.requested, *flight.sent])
                raise
            else:
                self.n_passes += 1
                self.release(flight.sent)
                if groups is None:
                    self.release(flight.requested)
                else:
                    self._set_aside(flight.requested, self._paces[function].nbytes * len(parts))
                return result
        raise LostDataError(
            f"a pass was tried {_ATTEMPTS} times, and each time workers were lost with what had "
            "been sent to them; look at their logs (memory?)"
        ) from lost

    def _set_aside(self, futures: list[Any], nbytes: int) -> None:
        """Let go of small answers of some passes at once.

        Dask sends messages at intervals, so that tasks of the next pass would wait behind this one.
        """
        self._spent += futures
        self._spent_bytes += nbytes
        if self._spent_bytes > _SMALL_ANSWERS or len(self._spent) > _MANY_ANSWERS:
            self.release(self._spent)
            self._spent, self._spent_bytes = [], 0

    def _groups(
        self, function: Callable[..., Any], parts: Sequence[tuple[Any, ...]]
    ) -> dict[tuple[int, ...], str] | None:
        """Who shares a task in this pass; None where each partition has its own."""
        pace = self._paces.get(function)
        if pace is None or pace.nbytes * len(parts) > _SMALL_ANSWERS:
            return None
        futures = [part[0] for part in parts]
        if not all(isinstance(future, dask_distributed().Future) for future in futures):
            return None
        return self._placement.groups(futures, pace)

    def _by_partition(
        self,
        flight: _Flight,
        function: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        shared: Sequence[Any],
        merge: Callable[..., Any],
    ) -> Any:
        from dask import delayed
        from dask.sizeof import sizeof

        def lazily(call: Callable[..., Any]) -> Callable[..., Any]:
            found: Callable[..., Any] = delayed(call, pure=False, traverse=False)
            return found

        start = perf_counter()
        tasks = self._tasks(function, parts, [self._argument(item, flight) for item in shared])
        total = merged(merge, tasks, lazily)
        watched = [] if self.on_partition is None else tasks
        flight.requested = self.client.compute([total, *watched], optimize_graph=False)
        self._watch(dict.fromkeys(flight.requested[1:], 1))
        result = flight.requested[0].result()
        # With Dask's own time in it, so that the first groups are rather too small.
        self._paces[function] = Pace((perf_counter() - start) / len(parts), sizeof(result))
        return result

    def _by_group(
        self,
        flight: _Flight,
        function: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        shared: Sequence[Any],
        merge: Callable[..., Any],
        groups: dict[tuple[int, ...], str],
    ) -> Any:
        sent = [self._argument(item, flight, len(groups)) for item in shared]
        width = len(parts[0])
        calls = [
            (function, len(group), width, *(item for n in group for item in parts[n]))
            for group in groups
        ]
        tasks = self._tasks(serve, calls, sent, function.__name__)
        flight.requested = self.client.compute(tasks, optimize_graph=False)
        self._watch(dict(zip(flight.requested, map(len, groups), strict=True)))
        found: list[Answers] = self.client.gather(flight.requested)
        values: list[Any] = [None] * len(parts)
        for (group, worker), answers in zip(groups.items(), found, strict=True):
            if answers.worker != worker:
                self._placement.forget()
            for number, value in zip(group, answers.values, strict=True):
                values[number] = value
        seconds = sum(answers.seconds for answers in found) / len(parts)
        self._paces[function] = self._paces[function]._replace(seconds=seconds)
        return merged(merge, values)

    def _argument(self, item: Any, flight: _Flight, n_tasks: int | None = None) -> Any:
        """What stands in the graph for a shared value.

        Arrays are sent beforehand; with few tasks small ones travel inside these, which saves
        the way there and back.
        """
        from dask import delayed

        if isinstance(item, Sent):
            return item.future
        if isinstance(item, np.ndarray):
            if n_tasks is not None and item.nbytes * n_tasks <= _SMALL_ARRAYS:
                return Literal(item)
            flight.sent.append(self._scatter(item))
            return flight.sent[-1]
        return delayed(item, pure=False, traverse=False) if n_tasks is None else Literal(item)

    def _send_again(self, items: Sequence[Sent]) -> None:
        for item in items:
            self._kept.pop(item.future.key, None)
            item.future = self._scatter(item.value)
            self._kept[item.future.key] = item.future

    def _watch(self, partitions: dict[Any, int]) -> None:
        """Tell how many partitions are done, of tasks that serve so many each."""
        if self.on_partition is None:
            return
        done, total = 0, sum(partitions.values())
        with self.client.as_current():
            for future in dask_distributed().as_completed(list(partitions), raise_errors=False):
                done += partitions[future]
                self.on_partition(done, total)
