"""Beside the answers: how rows drift from the training data, and what another model says of them.

A sample of the rows that are answered is looked at once more, on a thread of its own, so that
nobody waits for it: what it costs is bounded by rows per second.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections import Counter
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.models import Model
from separatrix.serve.metrics import Metrics, quoted
from separatrix.serve.store import ModelStore

__all__ = ["Observer"]

log = logging.getLogger("separatrix.serve")

#: Rows of one request that are looked at, and requests that wait for it.
_ROWS, _WAITING = 8, 16
#: Bytes of a request above which none of its rows is kept for it.
_LONGEST = 1 << 16
#: Classes above which predictions are not counted by class.
_MOST_CLASSES = 100
#: Relative difference of two predicted numbers that rounding may explain.
_ROUNDING = 1e-6


class Observer:
    """Looks at a sample of rows.

    Parameters
    ----------
    store : ModelStore
        Knows which model shadows another one.
    metrics : Metrics
        Told what was seen, by this thread alone.
    per_second : int
        Rows that are looked at; none for 0.
    """

    def __init__(self, store: ModelStore, metrics: Metrics, per_second: int) -> None:
        self._store, self._metrics, self._per_second = store, metrics, per_second
        self._left, self._since = float(per_second), time.monotonic()
        self._queue: queue.Queue[tuple[Model, list[Any]] | None] = queue.Queue(_WAITING)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def see(self, model: Model, rows: list[Any], n_bytes: int) -> None:
        """Keep some of the rows of a request for a look, if it is time for one."""
        if not self._per_second or n_bytes > _LONGEST:
            return
        with self._lock:
            now = time.monotonic()
            more = (now - self._since) * self._per_second
            self._left, self._since = min(self._left + more, self._per_second), now
            n = min(len(rows), _ROWS, int(self._left))
            if n == 0:
                return
            self._left -= n
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="observer", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait((model, rows[:n]))
        except queue.Full:  # it does not keep up: the sample is smaller
            return

    def stop(self) -> None:
        """End the thread after what it has."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._look(*item)
            except Exception:  # whatever it is, the service answers without it
                log.exception("looking at rows failed")

    def _look(self, model: Model, rows: list[Any]) -> None:
        wanted = "probabilities" in model.offers
        answers = model.predict(rows, probabilities=wanted)
        found: Counter[tuple[str, str]] = Counter()
        name = f'model="{quoted(model.name)}"'
        found["separatrix_sampled_rows_total", name] += len(rows)
        for column, kind in model.reader.oddities(rows):
            found[f"separatrix_{kind}_values_total", f'{name},column="{quoted(column)}"'] += 1
        self._outputs(model, name, answers, found)
        shadow = self._store.shadow_of(model.name)
        if shadow is not None:
            _compare(shadow, name, rows, answers, found)
        self._metrics.observed.update(found)

    def _outputs(
        self, model: Model, name: str, answers: list[Any], found: Counter[tuple[str, str]]
    ) -> None:
        counts = model.labels is not None and len(model.labels) <= _MOST_CLASSES
        for answer in answers:
            if "label" in answer:
                if counts:
                    label = quoted(str(answer["label"]))
                    found["separatrix_sampled_labels_total", f'{name},label="{label}"'] += 1
                if "probabilities" in answer:
                    self._metrics.confidence[model.name].add(max(answer["probabilities"]))
            elif "value" in answer and math.isfinite(answer["value"]):
                value = answer["value"]
                found["separatrix_sampled_values_sum", name] += value
                found["separatrix_sampled_values_squares", name] += value * value


def _compare(
    shadow: Model, name: str, rows: list[Any], answers: list[Any], found: Counter[tuple[str, str]]
) -> None:
    """Count the rows of which the shadow says something else than the answers."""
    try:
        others = shadow.predict(rows)
    except SeparatrixError:  # FieldError too: it takes other rows
        found["separatrix_shadow_rows_total", f'{name},result="failed"'] += len(rows)
        return
    for answer, other in zip(answers, others, strict=True):
        result = "agrees" if _same(answer, other) else "differs"
        found["separatrix_shadow_rows_total", f'{name},result="{result}"'] += 1
        if "value" in answer and "value" in other:
            apart = abs(answer["value"] - other["value"])
            found["separatrix_shadow_difference_sum", name] += apart


def _same(answer: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two answers predict the same."""
    for what in ("label", "labels", "image"):
        if what in answer or what in other:
            return bool(answer.get(what) == other.get(what))
    return math.isclose(answer["value"], other.get("value", math.nan), rel_tol=_ROUNDING)
