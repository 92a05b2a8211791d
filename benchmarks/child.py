"""One measured run in a process of its own: time of the fit alone, its peak memory, its objective.

The child loads the data, converts it, warms the contender up on a few rows (so that imports and
thread pools are nobody's cost), and only then starts the clock. The parent stops it at the cap.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import statistics
import time
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks import data as datasets
from benchmarks.data import Data
from benchmarks.memory import peak_mb, reset_peak
from benchmarks.objectives import predict
from benchmarks.spec import Case, Contender, Outcome, Run, Setting

_SETUP_LIMIT = 900.0  # seconds for loading, converting and warming up, before the clock starts
_READ_LIMIT = 300.0  # seconds for objective and accuracy, after the clock stopped
_REPEAT_SECONDS = 0.5  # a short throughput run is repeated for about this long, median taken
_REPEAT_MOST = 2000


def measure(case: Case, contender: Contender, setting: Setting) -> Run:
    """Run `contender` once at `setting` in a fresh child and return what it measured.

    A run longer than ``case.cap`` is stopped: ``Run(stopped=True)`` with the seconds it was given.
    An exception or a crash becomes ``Run(error=…)``.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_main, args=(sender, case, contender, setting))
    process.start()
    sender.close()
    try:
        if not receiver.poll(_SETUP_LIMIT):
            return Run(0.0, error=f"not ready after {_SETUP_LIMIT:.0f} s")
        first = receiver.recv()
        if isinstance(first, Run):  # the set-up failed
            return first
        started = time.perf_counter()
        if not receiver.poll(case.cap):
            return Run(time.perf_counter() - started, stopped=True)
        seconds = receiver.recv()
        if isinstance(seconds, Run):
            return seconds
        if not receiver.poll(_READ_LIMIT):
            return Run(seconds, error=f"objective not computed after {_READ_LIMIT:.0f} s")
        run: Run = receiver.recv()
        process.join(timeout=5.0)
        return run
    except EOFError:
        process.join()
        return Run(0.0, error=f"the child died with exit code {process.exitcode}")
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        receiver.close()


def _main(sender: Connection, case: Case, contender: Contender, setting: Setting) -> None:
    """Entry of the child: sends "ready", then the seconds, then the Run; or a failed Run."""
    warnings.simplefilter("ignore")  # peers warn when they stop at their iteration limit
    if "SEPARATRIX_BENCH_DEBUG" not in os.environ:
        _silence()
    try:
        data = datasets.load(case.data)
        few = datasets.few_rows(data)
        contender.run(contender.prepare(few), **setting.params)
        prepared = contender.prepare(data)
        gc.collect()
        before = reset_peak()
        sender.send("ready")

        start = time.perf_counter()
        raw = contender.run(prepared, **setting.params)
        seconds = time.perf_counter() - start

        peak = peak_mb() - before
        if case.throughput:
            seconds = _repeat(lambda: contender.run(prepared, **setting.params), seconds)
        sender.send(seconds)
        outcome = contender.read(prepared, raw)
        peak = peak if outcome.peak_mb is None else outcome.peak_mb
        sender.send(
            Run(
                seconds=seconds,
                objectives=_objectives(case, outcome, data),
                accuracy=_accuracy(case, outcome, data),
                peak_mb=max(peak, 0.0),
                passes=outcome.passes,
            )
        )
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        if "SEPARATRIX_BENCH_DEBUG" in os.environ:
            traceback.print_exc()
        sender.send(Run(0.0, error=text))
    finally:
        sender.close()


def _repeat(call: Callable[[], Any], first: float) -> float:
    """Return the median time of `call`, repeated while it is cheap; `first` is its first time."""
    times = [first]
    deadline = time.perf_counter() + _REPEAT_SECONDS
    while len(times) < _REPEAT_MOST and time.perf_counter() + first < deadline:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:] or times)


def _objectives(case: Case, outcome: Outcome, data: Data) -> tuple[float, ...]:
    if case.throughput:
        return ()
    return tuple(
        objective(coef, intercept, data.X_train, data.y_train)
        for objective, (coef, intercept) in zip(case.objectives, outcome.models, strict=True)
    )


def _accuracy(case: Case, outcome: Outcome, data: Data) -> float | None:
    if data.y_test.dtype.kind == "f":  # a regression has no labels to get right
        return None
    if outcome.score is not None:
        return outcome.score
    labels = outcome.predictions
    if labels is None and outcome.models:
        coef, intercept = outcome.models[case.score_model]
        W = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        labels = predict(W, np.asarray(intercept, dtype=np.float64), data.X_test)
    if labels is None:
        return None
    return float(np.mean(labels == data.y_test))


def _silence() -> None:
    """Send what the peers print, from C too, to nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
