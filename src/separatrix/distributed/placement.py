"""Which partitions share a task: those that lie on one worker, while a task stays short.

A task costs Dask a few milliseconds of the scheduler, the client and its worker, and where all of
them live on one machine they take these from the kernels. The result does not depend on who shares
a task with whom, since answers are added in the order of the partitions.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

__all__ = ["Answers", "Literal", "Pace", "Placement", "serve", "shares"]

#: Seconds up to which partitions share a task: Ctrl-C and the progress bar wait for one.
_LONGEST_TASK = 0.5
#: Share of a worker's memory that its partitions may take when several are asked for at once.
_MEMORY_SHARE = 0.5


class Pace(NamedTuple):
    """What the last pass of a kind has cost.

    Attributes
    ----------
    seconds : float
        Time of one partition.
    nbytes : int
        Size of one answer.
    """

    seconds: float
    nbytes: int


class Literal:
    """A value that travels inside a task and is not looked into.

    Parameters
    ----------
    value : object
        The value.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


class Answers(NamedTuple):
    """What a task says about the partitions it serves.

    Attributes
    ----------
    values : list
        The answer of each.
    worker : str
        Address of the worker that computed them.
    seconds : float
        Time that it took.
    """

    values: list[Any]
    worker: str
    seconds: float


def serve(function: Any, count: int, width: int, *arguments: Any) -> Answers:
    """Call ``function(*part, *shared)`` for `count` parts of `width` arguments each."""
    from dask.distributed import get_worker

    start = perf_counter()
    shared = [
        item.value if isinstance(item, Literal) else item for item in arguments[count * width :]
    ]
    values = [
        function(*arguments[first : first + width], *shared)
        for first in range(0, count * width, width)
    ]
    return Answers(values, get_worker().address, perf_counter() - start)


class Placement:
    """Where partitions lie, and what their workers have to offer.

    Parameters
    ----------
    client : distributed.Client
        The cluster, asked when it is not known where a partition lies.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._sizes: dict[Hashable, int] = {}
        self._where: dict[Hashable, str] = {}
        self._workers: dict[str, Any] = {}

    def forget(self) -> None:
        """Ask anew: partitions have moved."""
        self._where = {}

    def groups(self, futures: Sequence[Any], pace: Pace) -> dict[tuple[int, ...], str] | None:
        """Numbers of the partitions that share a task, and where they lie; None: not known."""
        if not all(future.key in self._where for future in futures):
            self._ask(futures)
        here: dict[str, list[int]] = {}
        for number, future in enumerate(futures):
            worker = self._where.get(future.key)
            if worker is None:
                return None
            here.setdefault(worker, []).append(number)
        found = {}
        for worker, numbers in here.items():
            facts = self._workers[worker]
            sizes = [self._sizes[futures[number].key] for number in numbers]
            limit = facts.get("memory_limit") or float("inf")
            longest = _LONGEST_TASK if sum(sizes) <= _MEMORY_SHARE * limit else 0.0
            for places in shares(sizes, facts["nthreads"], pace.seconds, longest):
                found[tuple(numbers[place] for place in places)] = worker
        return found

    def _ask(self, futures: Sequence[Any]) -> None:
        self._workers = dict(self._client.scheduler_info(n_workers=-1)["workers"])
        for key, holders in self._client.who_has(list(futures)).items():
            known = [worker for worker in holders if worker in self._workers]
            if known:
                self._where[key] = known[0]
        # The scheduler does not know of what was not made yet.
        found = [future.key for future in futures if future.key in self._where]
        self._sizes |= self._client.nbytes(found, summary=False)


def shares(
    sizes: Sequence[int], n_threads: int, seconds: float, longest: float
) -> list[tuple[int, ...]]:
    """Split partitions of one worker over tasks of about the same size.

    As many tasks as threads, or a multiple of that where tasks would take longer than `longest`.

    Examples
    --------
    >>> shares([5, 5, 5, 5], n_threads=2, seconds=0.1, longest=0.5)
    [(0, 2), (1, 3)]
    >>> shares([9, 5, 5], n_threads=1, seconds=0.1, longest=0.2)
    [(0,), (1, 2)]
    """
    fits = max(1, int(longest / max(seconds, 1e-9)))
    rounds = -(-len(sizes) // (n_threads * fits))
    count = min(len(sizes), n_threads * rounds)
    # The largest first, each to the task that has least (Graham 1969).
    loads = [(0, task) for task in range(count)]
    tasks: list[list[int]] = [[] for _ in range(count)]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        load, task = heapq.heappop(loads)
        tasks[task].append(place)
        heapq.heappush(loads, (load + max(1, sizes[place]), task))
    return [tuple(sorted(task)) for task in tasks]
