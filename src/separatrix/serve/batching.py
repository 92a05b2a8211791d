"""Requests that arrive together become one call of the model, off the event loop.

No request waits for others: a lane that is idle starts at once with what there is, and whatever
arrives meanwhile is the next batch. Under load batches grow by themselves.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.models import Model
from separatrix.serve.problems import Problem
from separatrix.tasks import FieldError, Options

__all__ = ["Batcher", "Finish", "Job", "run_jobs"]

log = logging.getLogger("separatrix.serve")

#: From what was found, places of the rows, and the job, to what the job waits for.
Finish = Callable[[Any, slice, "Job"], Any]


class Job:
    """Rows of one request that wait for their answers.

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
    """

    __slots__ = ("finish", "form", "future", "model", "options", "rows")

    def __init__(
        self, model: Model, rows: list[Any], form: str, options: Options, finish: Finish
    ) -> None:
        self.model, self.rows, self.form, self.options = model, rows, form, options
        self.finish = finish
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()


def run_jobs(jobs: Sequence[Job]) -> list[Any]:
    """Results of jobs for one model and of one form, or the exceptions that they raised.

    All rows are predicted in one call. Where that fails, every job is tried alone, so that rows
    that a model cannot take spoil nobody else's.
    """
    first = jobs[0]
    model = first.model
    rows = first.rows if len(jobs) == 1 else [row for job in jobs for row in job.rows]
    try:
        X = model.reader.join(rows)
        found = model.task.predict(model, X, [job.options for job in jobs])
    except Exception as error:
        if len(jobs) > 1:
            return [result for job in jobs for result in run_jobs([job])]
        return [_told(error)]
    results: list[Any] = []
    start = 0
    for job in jobs:
        end = start + len(job.rows)
        try:
            results.append(job.finish(found, slice(start, end), job))
        except Exception as error:
            results.append(_told(error))
        start = end
    return results


def _told(error: Exception) -> Exception:
    """The model's complaint about rows as a Problem of the request; others as they are."""
    if isinstance(error, FieldError):
        return Problem.of(error)
    if isinstance(error, SeparatrixError | ValueError) and not isinstance(error, Problem):
        return Problem("invalid", str(error), "rows")
    return error


class _Lane:
    """One thread that predicts, and the jobs that wait for it."""

    def __init__(self, name: str, batch_rows: int, observe: Callable[[int, int], None]) -> None:
        self._batch_rows = batch_rows
        self._observe = observe
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Job] = deque()
        self._busy = False
        self._work: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"predict {name}", daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        """Queue a job; a batch begins when this turn of the event loop is over."""
        self._waiting.append(job)
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._begin)

    def stop(self) -> None:
        """End the thread after the work that it has."""
        self._work.put(None)

    def _begin(self) -> None:
        """Hand the next batch to the thread: jobs for one model, of one form, in their order."""
        batch: list[Job] = []
        rest: list[Job] = []
        n_rows = 0
        while self._waiting:
            job = self._waiting.popleft()
            if job.future.done():  # its time is over
                continue
            fits = not batch or (
                job.model is batch[0].model
                and job.form == batch[0].form
                and n_rows + len(job.rows) <= self._batch_rows
            )
            if fits:
                batch.append(job)
                n_rows += len(job.rows)
            else:
                rest.append(job)
        self._waiting.extend(rest)
        if not batch:
            self._busy = False
            return
        self._observe(len(batch), n_rows)
        self._work.put(batch)

    def _run(self) -> None:
        while (batch := self._work.get()) is not None:
            results = run_jobs(batch)
            try:
                self._loop.call_soon_threadsafe(self._deliver, batch, results)
            except RuntimeError:  # the loop was closed meanwhile: nobody waits
                return

    def _deliver(self, batch: list[Job], results: list[Any]) -> None:
        for job, result in zip(batch, results, strict=True):
            if job.future.done():
                continue
            if isinstance(result, Exception):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)
        self._begin()


class Batcher:
    """Lanes by model: a quick one, and one for explanations, which take longer.

    Parameters
    ----------
    batch_rows : int
        Most rows of a batch of several jobs.
    observe : callable
        Told the number of jobs and of rows of every batch.
    """

    def __init__(self, batch_rows: int, observe: Callable[[int, int], None]) -> None:
        self._batch_rows = batch_rows
        self._observe = observe
        self._lanes: dict[tuple[str, bool], _Lane] = {}

    def submit(self, job: Job) -> asyncio.Future[Any]:
        """Queue a job; its future holds the result."""
        key = (job.model.name, job.options.explain is not None)
        lane = self._lanes.get(key)
        if lane is None:
            name = f"{key[0]}{' (explain)' if key[1] else ''}"
            lane = self._lanes[key] = _Lane(name, self._batch_rows, self._observe)
        lane.add(job)
        return job.future

    def stop(self) -> None:
        """End the threads."""
        for lane in self._lanes.values():
            lane.stop()
        self._lanes.clear()
