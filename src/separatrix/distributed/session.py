"""One fit on a cluster: what it keeps there, passes over it, and nothing left behind.

Dask schedules, moves and serializes. A pass sends the weights to every worker once, runs one task
per partition where the partition lies, and adds what comes back in a tree whose shape depends on
the number of partitions alone, so that neither the number of workers nor their speed changes a bit
of the sum.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from separatrix.distributed.packages import dask_distributed
from separatrix.errors import SeparatrixError

__all__ = ["LostDataError", "Sent", "Session", "active_client"]

#: Children of a node of the tree in which results are added.
_FAN_IN = 8
#: Times a pass is tried when what was sent for it was lost with a worker.
_ATTEMPTS = 5

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
        self._name = uuid.uuid4().hex[:8]
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release(list(self._kept.values()))

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
        from dask import delayed

        sent = [
            item.future if isinstance(item, Sent) else delayed(item, pure=False, traverse=False)
            for item in shared
        ]
        tasks = self._tasks(function, parts, sent)
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
        self, function: Callable[..., Any], parts: Sequence[tuple[Any, ...]], sent: list[Any]
    ) -> list[Any]:
        from dask import delayed

        self._count += 1
        call = delayed(function, pure=False, traverse=False)
        name = f"{function.__name__.strip('_')}-{self._name}-{self._count}"
        return [
            call(*part, *sent, dask_key_name=(name, number)) for number, part in enumerate(parts)
        ]

    def _tree(self, merge: Callable[..., Any], nodes: list[Any]) -> Any:
        from dask import delayed

        call = delayed(merge, pure=False, traverse=False)
        while True:
            groups = [nodes[i : i + _FAN_IN] for i in range(0, len(nodes), _FAN_IN)]
            nodes = [call(*group) for group in groups]
            if len(nodes) == 1:
                return nodes[0]
            if merge is tuple_of:
                call = delayed(joined_tuples, pure=False, traverse=False)

    def _run(
        self,
        function: Callable[..., Any],
        parts: Sequence[tuple[Any, ...]],
        shared: Sequence[Any],
        merge: Callable[..., Any],
    ) -> Any:
        lost: BaseException | None = None
        for _ in range(_ATTEMPTS):
            own: list[Any] = []
            futures: list[Any] = []
            try:
                sent = [self._argument(item, own, again=lost is not None) for item in shared]
                tasks = self._tasks(function, parts, sent)
                total = self._tree(merge, tasks)
                wanted = [total] if self.on_partition is None else [total, *tasks]
                futures = self.client.compute(wanted, optimize_graph=False)
                if self.on_partition is not None:
                    self._watch(futures[1:])
                result = futures[0].result()
                self.n_passes += 1
                self.release([*futures, *own])
                return result
            except _LOST as error:
                lost = error
            except BaseException:
                self.release([*futures, *own])
                raise
        raise LostDataError(
            f"a pass was tried {_ATTEMPTS} times, and each time workers were lost with what had "
            "been sent to them; look at their logs (memory?)"
        ) from lost

    def _argument(self, item: Any, own: list[Any], *, again: bool) -> Any:
        """What stands in the graph for a shared value; arrays are sent beforehand."""
        from dask import delayed

        if isinstance(item, Sent):
            if again:
                self._kept.pop(item.future.key, None)
                item.future = self._scatter(item.value)
                self._kept[item.future.key] = item.future
            return item.future
        if isinstance(item, np.ndarray):
            own.append(self._scatter(item))
            return own[-1]
        return delayed(item, pure=False, traverse=False)

    def _watch(self, futures: list[Any]) -> None:
        assert self.on_partition is not None
        with self.client.as_current():
            finished = dask_distributed().as_completed(futures, raise_errors=False)
            for done, _ in enumerate(finished, start=1):
                self.on_partition(done, len(futures))


def tuple_of(*values: Any) -> tuple[Any, ...]:
    """The values, in order."""
    return values


def joined_tuples(*values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The members of all tuples, in order."""
    return tuple(member for value in values for member in value)
