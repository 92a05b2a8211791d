"""What a benchmark case is: data, problem, contenders, targets and required ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from benchmarks.data import Data, IntArray
from benchmarks.objectives import FloatArray, Objective

DEFAULT_TARGETS = (1e-3, 1e-4, 1e-6)


class Outcome(NamedTuple):
    """What a contender learned, read off outside the timing.

    Parameters
    ----------
    models : tuple of (coef, intercept)
        One pair per objective of the case, `coef` (K, d) or (1, d), `intercept` (K,) or (1,).
        Empty where only time counts and `predictions` tell the accuracy.
    passes : float or None
        Passes over the data or iterations, as the contender counts them.
    predictions : array of shape (m,) or None
        Labels of the test rows, where there is no model to compute them from.
    score : float or None
        Shown in place of the accuracy, where that is not the measure.
    peak_mb : float or None
        Peak memory of the run where it is that of another process than the one that was timed.
    """

    models: tuple[tuple[FloatArray, FloatArray], ...] = ()
    passes: float | None = None
    predictions: IntArray | None = None
    score: float | None = None
    peak_mb: float | None = None


@dataclass(frozen=True)
class Setting:
    """One rung of a contender's ladder: keyword parameters, and whether it is its default."""

    label: str
    params: Mapping[str, Any] = field(default_factory=dict)
    default: bool = False


@dataclass(frozen=True)
class Contender:
    """Ours or a peer. The three functions live at module level: they travel to a child process.

    Parameters
    ----------
    name : str
        Unique within the case.
    prepare : callable
        ``prepare(data) -> prepared``, outside the timing: conversions the contender needs.
    run : callable
        ``run(prepared, **setting.params) -> raw``; this call, and nothing else, is timed.
    read : callable
        ``read(prepared, raw) -> Outcome``, outside the timing.
    ladder : tuple of Setting
        From loose to tight. Throughput cases use the first rung only.
    ours : bool
    rival : bool
        False for a peer that is shown but left out of the ratio: it solves another problem.
    """

    name: str
    prepare: Callable[[Data], Any]
    run: Callable[..., Any]
    read: Callable[[Any, Any], Outcome]
    ladder: tuple[Setting, ...] = (Setting("one"),)
    ours: bool = False
    rival: bool = True


@dataclass(frozen=True)
class Bound:
    """The ratio that closes an issue (`must`) and the record (`goal`) at one column.

    `at` is a relative gap among the case's targets, ``"default"`` for the column "at the peer's
    default", or ``"time"`` for a throughput case; ``"memory"`` for the peak memory of one, and
    ``"accuracy"`` for our test accuracy over the best of any peer, in the ratio of time or not.
    """

    at: float | Literal["default", "time", "memory", "accuracy"]
    must: float
    goal: float


@dataclass(frozen=True)
class Case:
    """A data set, a problem, its contenders and the ratios they are held to.

    Parameters
    ----------
    name, title : str
        Key on the command line; one line for the reader.
    data : str
        Name of a data set of `benchmarks.data`.
    contenders : tuple of Contender
    objectives : tuple of Objective
        Usually one; one per point for a path. Empty: a throughput case, where only time counts.
    targets : tuple of float
        Relative objective gaps, loose to tight.
    bounds : tuple of Bound
    cap : float
        Seconds after which a single fit is stopped.
    optima : tuple of float
        The optima, one per objective, where they are known beforehand.
    reference : tuple of (str, Setting) or None
        Contender and setting of the one very tight, untimed run that fixes the optimum.
    quoted : float or None
        The optimum that the design notes quote, shown beside ours.
    score_model : int
        Index of the model that the test accuracy is computed from.
    note : str
        What a reader has to know to trust the comparison.
    """

    name: str
    title: str
    data: str
    contenders: tuple[Contender, ...]
    objectives: tuple[Objective, ...] = ()
    targets: tuple[float, ...] = DEFAULT_TARGETS
    bounds: tuple[Bound, ...] = ()
    cap: float = 120.0
    optima: tuple[float, ...] = ()
    reference: tuple[str, Setting] | None = None
    quoted: float | None = None
    score_model: int = 0
    note: str = ""

    @property
    def throughput(self) -> bool:
        """Whether the case compares time alone."""
        return not self.objectives


@dataclass(frozen=True)
class Run:
    """One measured run, as the child reports it.

    `seconds` is the time of the fit, or the time after which it was stopped (`stopped`).
    """

    seconds: float
    objectives: tuple[float, ...] = ()
    accuracy: float | None = None
    peak_mb: float | None = None
    passes: float | None = None
    stopped: bool = False
    error: str | None = None
