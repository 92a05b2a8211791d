"""Requests are prepared, predicted and answered on two threads beside the event loop.

The quick lane takes short requests, all that wait at a time: those for one model become one call of
it. The slow lane takes one long request (many bytes, a piece of a stream, explanations) at a time,
so that a short one never waits for it. In each lane clients take turns; where too many requests
wait, the client with most of them is told to come again.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from separatrix.errors import SeparatrixError
from separatrix.models import Model
from separatrix.serve.metrics import Metrics
from separatrix.serve.problems import RETRY, Problem
from separatrix.serve.settings import Settings
from separatrix.tasks import FieldError, Options

__all__ = ["SHORT", "Batcher", "Finish", "Prepared", "run_together"]

#: Bytes below which a request is for the quick lane.
SHORT = 1 << 13
#: Numbers (of rows and of their answers) up to which it stays there: some milliseconds.
_QUICK_WORK = 1 << 16
#: Requests that the quick lane prepares at a time.
_QUICK_JOBS = 64

#: From what was found, places of the rows, and the request, to what its client waits for.
Finish = Callable[[Any, slice, "Prepared"], Any]


class Prepared(NamedTuple):
    """A request that was parsed and checked.

    Parameters
    ----------
    model : Model
        The model that the rows were checked for.
    rows : list
        As the model's reader checked them.
    form : str
        Form of the rows.
    options : Options
        What is wanted.
    finish : callable
        Makes the result, in the thread of the lane.
    work : int
        Numbers of the rows and of what is predicted for them.
    """

    model: Model
    rows: list[Any]
    form: str
    options: Options
    finish: Finish
    work: int


class _Job:
    """A request that waits: how to prepare it, whose it is, and the future of its result."""

    __slots__ = ("client", "future", "prepare")

    def __init__(self, prepare: Callable[[], Prepared], client: str) -> None:
        self.prepare, self.client = prepare, client
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()


class FairQueue:
    """What waits, by client; clients take turns.

    Examples
    --------
    >>> queue = FairQueue()
    >>> for client, job in (("a", 1), ("a", 2), ("a", 3), ("b", 4)):
    ...     queue.push(client, job)
    >>> queue.greediest, queue.pop(), queue.pop(), queue.drop("a"), queue.pop(), len(queue)
    ('a', 1, 4, 3, 2, 0)
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Any]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def count(self, client: str) -> int:
        """How much of a client waits."""
        return len(self._waiting.get(client, ()))

    @property
    def greediest(self) -> str:
        """The client with most that waits."""
        return max(self._waiting, key=self.count)

    def push(self, client: str, job: Any) -> None:
        """Let something wait."""
        self._waiting.setdefault(client, deque()).append(job)
        self._size += 1

    def pop(self) -> Any:
        """The oldest of the client whose turn it is."""
        client = next(iter(self._waiting))
        waiting = self._waiting.pop(client)
        job = waiting.popleft()
        if waiting:
            self._waiting[client] = waiting  # behind the others
        self._size -= 1
        return job

    def drop(self, client: str) -> Any:
        """The newest of a client, taken out."""
        waiting = self._waiting[client]
        job = waiting.pop()
        if not waiting:
            del self._waiting[client]
        self._size -= 1
        return job


def run_together(several: Sequence[Prepared]) -> list[Any]:
    """Results of requests for one model and of one form, or the exceptions that they raised.

    All rows are predicted in one call. Where that fails, every request is tried alone, so that
    rows that a model cannot take spoil nobody else's.
    """
    first = several[0]
    model = first.model
    rows = first.rows if len(several) == 1 else [row for one in several for row in one.rows]
    try:
        X = model.reader.join(rows)
        found = model.task.predict(model, X, [one.options for one in several])
    except Exception as error:
        if len(several) > 1:
            return [result for one in several for result in run_together([one])]
        return [_told(error)]
    results: list[Any] = []
    start = 0
    for one in several:
        end = start + len(one.rows)
        try:
            results.append(one.finish(found, slice(start, end), one))
        except Exception as error:
            results.append(_told(error))
        start = end
    return results


def _told(error: Exception) -> Exception:
    """The model's complaint about rows as a Problem of the request; others as they are.

    What is told keeps nothing of the request alive: the frames of an error, which it is a part of
    itself, would hold bodies and rows until the next full collection of garbage.
    """
    if isinstance(error, Problem):
        # Made anew: this one knows the error that it came of, and where.
        return Problem(error.code, error.message, error.field, error.headers)
    if isinstance(error, FieldError):
        return Problem.of(error)
    if isinstance(error, SeparatrixError | ValueError):
        return Problem("invalid", str(error), "rows")
    if isinstance(error, MemoryError):
        return Problem("too_large", "there is no memory for so many rows; send fewer", "rows")
    traceback.clear_frames(error.__traceback__)
    return error


class _Lane:
    """One thread, and the requests that wait for it.

    Parameters
    ----------
    settings : Settings
    metrics : Metrics
    slower : _Lane, optional
        Takes what turns out to be long; what waits there is prepared already.
    """

    def __init__(self, settings: Settings, metrics: Metrics, slower: _Lane | None = None) -> None:
        self._settings, self._metrics, self._slower = settings, metrics, slower
        self._loop = asyncio.get_running_loop()
        self._waiting = FairQueue()
        self._n_running, self._busy = 0, False
        self._work: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        name = "slow lane" if slower is None else "quick lane"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def add(self, job: _Job) -> None:
        """Queue a job; work begins when this turn of the event loop is over."""
        if len(self._waiting) + self._n_running >= self._settings.max_concurrent:
            told = f"{len(self._waiting)} requests wait; come again"
            refusal = Problem("too_many_requests", told, headers=RETRY)
            greediest = self._waiting.greediest if len(self._waiting) else job.client
            if self._waiting.count(greediest) <= self._waiting.count(job.client) + 1:
                job.future.set_exception(refusal)
                return
            dropped: _Job = self._waiting.drop(greediest)
            if not dropped.future.done():
                dropped.future.set_exception(refusal)
        self._waiting.push(job.client, job)
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._begin)

    def stop(self) -> None:
        """End the thread after the work that it has."""
        self._work.put(None)

    def _begin(self) -> None:
        """Hand what waits to the thread: a long request alone, short ones together."""
        most = 1 if self._slower is None else _QUICK_JOBS
        jobs: list[_Job] = []
        while len(self._waiting) and len(jobs) < most:
            job: _Job = self._waiting.pop()
            if not job.future.done():  # else its time is over
                jobs.append(job)
        self._n_running, self._busy = len(jobs), bool(jobs)
        if jobs:
            self._work.put(jobs)

    def _run(self) -> None:
        while (jobs := self._work.get()) is not None:
            results, batches = self._results(jobs)
            try:
                self._loop.call_soon_threadsafe(self._deliver, jobs, results, batches)
            except RuntimeError:  # the loop was closed meanwhile: nobody waits
                return
            del jobs, results, batches  # not kept until the next ones come

    def _results(self, jobs: list[_Job]) -> tuple[list[Any], list[list[Prepared]]]:
        """Results or exceptions by job, Prepared for what is too long here; and the batches."""
        results: list[Any] = [None] * len(jobs)
        batches: list[list[Prepared]] = []
        places: list[list[int]] = []
        latest: dict[tuple[int, str], int] = {}  # by model and form, the batch that may grow
        for at, job in enumerate(jobs):
            try:
                one = job.prepare()
            except Exception as error:
                results[at] = _told(error)
                continue
            long = one.options.explain is not None or one.work > _QUICK_WORK
            if long and self._slower is not None:
                results[at] = one
                continue
            if not one.rows:  # blank lines of a stream
                results[at] = b""
                continue
            key = (id(one.model), one.form)
            here = latest.get(key)
            if here is not None:
                n_rows = sum(len(other.rows) for other in batches[here])
                if n_rows + len(one.rows) > self._settings.batch_rows:
                    here = None
            if here is None:
                here = latest[key] = len(batches)
                batches.append([])
                places.append([])
            batches[here].append(one)
            places[here].append(at)
        for batch, where in zip(batches, places, strict=True):
            for at, result in zip(where, run_together(batch), strict=True):
                results[at] = result
        return results, batches

    def _deliver(self, jobs: list[_Job], results: list[Any], batches: list[list[Prepared]]) -> None:
        for batch in batches:
            n_rows = sum(len(one.rows) for one in batch)
            self._metrics.batch(batch[0].model.name, len(batch), n_rows)
        for job, result in zip(jobs, results, strict=True):
            if job.future.done():
                continue
            if isinstance(result, Prepared) and self._slower is not None:
                job.prepare = lambda ready=result: ready  # type: ignore[misc]
                self._slower.add(job)
            elif isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)
        self._begin()


class Batcher:
    """The two lanes.

    Parameters
    ----------
    settings : Settings
    metrics : Metrics
        Told of every batch.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings, self._metrics = settings, metrics
        self._lanes: tuple[_Lane, _Lane] | None = None

    def submit(
        self, prepare: Callable[[], Prepared], size: int, client: str
    ) -> asyncio.Future[Any]:
        """Queue a request.

        Parameters
        ----------
        prepare : callable
            Parses and checks it; called on the thread of a lane.
        size : int
            Bytes of it.
        client : str
            Whose turn it takes.

        Returns
        -------
        asyncio.Future
            Of its result.
        """
        if self._lanes is None:
            slow = _Lane(self._settings, self._metrics)
            self._lanes = (_Lane(self._settings, self._metrics, slow), slow)
        job = _Job(prepare, client)
        self._lanes[size >= SHORT].add(job)
        return job.future

    def stop(self) -> None:
        """End the threads."""
        for lane in self._lanes or ():
            lane.stop()
        self._lanes = None
