"""One fit: its session on the cluster, its progress and its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.distributed.checkpoint import Checkpoint
from separatrix.distributed.session import Session
from separatrix.protocols import Array, Solver
from separatrix.results import Monitor, Solution, StopReason, TraceRow
from separatrix.validation import check_positive

__all__ = ["Run"]


class _SavingMonitor(Monitor):
    """A monitor that writes the weights every few passes."""

    def __init__(self, checkpoint: Checkpoint | None, **settings: Any) -> None:
        super().__init__(**settings)
        self._checkpoint = checkpoint

    def record(
        self,
        n_passes: float,
        objective: float,
        gap: float,
        weights: Callable[[], Any],
        *,
        proven: bool = True,
        seconds: float | None = None,
    ) -> StopReason | None:
        """Note the state after `n_passes`; return why to stop, or None to go on."""
        stopped = super().record(n_passes, objective, gap, weights, proven=proven, seconds=seconds)
        checkpoint = self._checkpoint
        total = n_passes + self.offset
        if checkpoint is not None and (checkpoint.due(total) or stopped is not None):
            checkpoint.save({"w": weights(), "n_passes": np.array(total)})
        return stopped


class Run:
    """What all ways of fitting share.

    Parameters
    ----------
    session : Session
        The cluster.
    estimator : estimator
        What is fitted; its parameters say what a checkpoint belongs to.
    on_pass : callable or None
        Called with every row of the trace.
    checkpoint : str, path or None
        Folder or fsspec URL of the checkpoints.
    every : int
        Passes from one checkpoint to the next.
    """

    def __init__(
        self,
        session: Session,
        estimator: Any,
        *,
        on_pass: Callable[[TraceRow], None] | None = None,
        checkpoint: Any = None,
        every: int = 10,
    ) -> None:
        check_positive(checkpoint_every=every)
        self.session = session
        self.estimator = estimator
        self.on_pass = on_pass
        self._place = checkpoint
        self._every = int(every)

    def checkpoint(self, stage: str, **facts: Any) -> Checkpoint | None:
        """The checkpoint of one stage of the fit, where there is to be one."""
        if self._place is None:
            return None
        unimportant = {"n_jobs", "verbose", "tol", "max_iter", "warm_start", "on_interrupt"}
        problem = {"estimator": type(self.estimator).__name__}
        for name, value in self.estimator.get_params(deep=False).items():
            if name not in unimportant:
                problem[name] = " ".join(repr(value).split())
        problem |= {name: str(value) for name, value in facts.items()}
        return Checkpoint(self._place, stage, problem, self._every)

    def minimize(
        self,
        solver: Solver,
        objective: Any,
        w0: Array | None,
        *,
        stage: str = "fit",
        tol: float | None = None,
        max_passes: float | None = None,
    ) -> Solution:
        """Minimize from the last checkpoint, else from `w0`, and write further ones."""
        shape = tuple(objective.weight_shape)
        checkpoint = self.checkpoint(stage, weights=shape, rows=objective.n_rows)
        monitor = _SavingMonitor(
            checkpoint,
            tol=self.estimator.tol if tol is None else tol,
            max_passes=self.estimator.max_iter if max_passes is None else max_passes,
            report=self.on_pass,
        )
        state = None if checkpoint is None else checkpoint.load()
        if state is None:
            return solver.minimize(objective, w0, monitor)
        before = float(state["n_passes"])
        monitor.offset = before
        solution = solver.minimize(objective, state["w"], monitor)
        return solution._replace(n_passes=solution.n_passes + before)
