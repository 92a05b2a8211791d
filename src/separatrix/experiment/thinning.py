"""Fewer rows where the budget does not reach for all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from separatrix.data import Dataset
from separatrix.experiment.clock import Clock
from separatrix.tasks import Task
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import PREPARATIONS
from separatrix.validation import drawn_rows

__all__ = ["within_budget"]

#: Rows whose preparation is timed; so many are always kept.
PROBED = 2000
#: What an experiment with one learner takes, in times of the preparation of its rows: splitting,
#: features twice, some settings, two last fits, findings, test. A rough estimate from one profile
#: of 100,000 rows of 17 numbers and 3 categories.
_PASSES = 30
#: Share of the budget that is left for all of that.
_SHARE = 0.8


def within_budget(
    data: Dataset, task: Task, drop: Sequence[str], clock: Clock
) -> tuple[Dataset, tuple[str, ...]]:
    """The rows, or as many of them as can be learned from in the time that is left.

    Parameters
    ----------
    data : Dataset
        All rows.
    task : Task
        Names the rows.
    drop : sequence of str
        Columns that are not used.
    clock : Clock
        Without a budget all rows are kept.

    Returns
    -------
    data : Dataset
        Some of its rows, in its order.
    notes : tuple of str
        What was left out, in words.
    """
    if math.isinf(clock.budget) or len(data) <= PROBED:
        return data, ()
    inputs = Inputs.of(data, drop)
    if inputs.kind not in PREPARATIONS:
        return data, ()
    some = data.take(drawn_rows(len(data), PROBED))
    start = time.perf_counter()
    prepare = PREPARATIONS[inputs.kind](inputs).fit(inputs.take(some), some.y)
    if prepare is not None:
        prepare.transform(inputs.take(some))
    each = (time.perf_counter() - start) / PROBED
    left = _SHARE * clock.budget - clock.seconds
    n = len(data) if each == 0 else int(max(PROBED, left / (_PASSES * each)))
    if n >= len(data):
        return data, ()
    note = (
        f"Learned from {n} of {len(data)} {task.units}, drawn at random: the budget does not reach "
        "for more. A longer one does better."
    )
    return data.take(drawn_rows(len(data), n)), (note,)
