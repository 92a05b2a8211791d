"""How much work solvers do beyond the moment when their weights are good enough.

    python -m benchmarks.tightness [--tol 1e-4] [--cap 10] [--solvers NAME ...] [SHAPE ...]

A run asked for `tol` should stop when P(w) - P* first is at most tol * P*. For every (shape, loss,
penalty, solver) the table gives the seconds until the solver stopped over the seconds until then,
the same of passes over the data (which a busy machine leaves alone), and the true relative gap
where it stopped. Both come from one run: P is evaluated in double after each pass and before each
proof, so that proofs count as work done too late, and the time of looking is taken out. P* is the
lowest value that any run saw, a run at 1e-10 among them.

A ratio is at most 1.5 (`MUST`), better 1.2 (`GOAL`). Runs that did not stop by themselves within
the cap have none: they are listed, and left out of mean and worst. Stochastic solvers, which have
no certificate of their own on the way, run only where they are named.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import scale

from benchmarks import data
from benchmarks.data import Matrix, MissingDataError
from separatrix import LinearClassifier
from separatrix.errors import SolverError
from separatrix.losses import MARGIN_LOSSES, MULTICLASS_LOSSES
from separatrix.objective import Objective
from separatrix.protocols import Array
from separatrix.results import Monitor, Solution, StopReason, Trace, time_limit
from separatrix.solvers import SOLVERS, Certifier, check_needs, make_solver
from separatrix.solvers.certificate import Certified

MUST, GOAL = 1.5, 1.2
TOLERANCES = (1e-4, 1e-6)
#: Tolerance of the run that fixes P*, and how many caps it may take.
TIGHT, PATIENCE = 1e-10, 6.0
MAX_PASSES = 10_000


class Rows(NamedTuple):
    """X (n, d) and labels (n,)."""

    X: Matrix
    y: npt.NDArray[Any]


# -- shapes ---------------------------------------------------------------------------------------


def _tfidf(texts: list[str], labels: list[str]) -> Rows:
    vectorizer = TfidfVectorizer(dtype=np.float32, sublinear_tf=True, min_df=2)
    return Rows(vectorizer.fit_transform(texts), np.array(labels))


def _lines(*parts: str, encoding: str = "utf-8") -> Iterator[str]:
    path = data.data_root().joinpath(*parts)
    if not path.exists():
        raise MissingDataError(f"{path} is missing; set SEPARATRIX_DATA to the folder of data sets")
    with gzip.open(path, "rt", encoding=encoding, newline="") as lines:
        yield from lines


def _banking77() -> Rows:
    rows = list(csv.reader(_lines("banking77", "train.csv.gz")))[1:]
    return _tfidf([row[0] for row in rows], [row[1] for row in rows])


def _trec_qc() -> Rows:
    rows = [line.split(" ", 1) for line in _lines("trec_qc", "train.txt.gz", encoding="latin-1")]
    return _tfidf([row[1] for row in rows], [row[0] for row in rows])


def _sms_spam() -> Rows:
    rows = [line.split("\t", 1) for line in _lines("sms_spam", "SMSSpamCollection.gz")]
    return _tfidf([row[1] for row in rows], [row[0] for row in rows])


def _split_set(name: str) -> Rows:
    part = data.load(name)
    return Rows(part.X_train, part.y_train)


def _svmlight(*parts: str) -> Rows:
    path = data.data_root().joinpath(*parts)
    if not path.exists():
        raise MissingDataError(f"{path} is missing; set SEPARATRIX_DATA to the folder of data sets")
    X, y = datasets.load_svmlight_file(str(path))
    return Rows(X, y)


def _arrays(name: str) -> Rows:
    path = data.data_root() / "shapes" / f"{name}.npz"
    if not path.exists():
        raise MissingDataError(f"{path} is missing; set SEPARATRIX_DATA to the folder of data sets")
    with np.load(path) as arrays:
        return Rows(arrays["X"], arrays["y"])


def _bundled(name: str) -> Rows:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Rows(scale(X), y)


def _generated(n: int, d: int, dtype: str) -> Rows:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)).astype(dtype)
    return Rows(X, X @ random.normal(size=d) + np.sqrt(d) * random.normal(size=n) > 0)


SHAPES: dict[str, Callable[[], Rows]] = {
    "banking77": _banking77,
    "trec_qc": _trec_qc,
    "sms_spam": _sms_spam,
    "20newsgroups": partial(_split_set, "20newsgroups"),
    "a9a": partial(_svmlight, "a9a", "a9a.gz"),
    "w8a": partial(_svmlight, "shapes", "w8a.svm.gz"),
    "skin": partial(_arrays, "skin"),
    "madelon": partial(_arrays, "madelon"),
    "duke": partial(_arrays, "duke"),
    "usps": partial(_arrays, "usps"),
    "breast_cancer": partial(_bundled, "breast_cancer"),
    "iris": partial(_bundled, "iris"),
    "wine": partial(_bundled, "wine"),
    "digits": partial(_bundled, "digits"),
    "tall": partial(_generated, 50_000, 50, "float32"),
    "wide": partial(_generated, 500, 5_000, "float64"),
}

# -- one run --------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """P at weights that a run had after so many seconds and passes."""

    seconds: float
    n_passes: float
    value: float


@dataclass
class Watch:
    """Evaluates P in double wherever a run shows its weights, and keeps the time this took."""

    value: Callable[[Array], float]
    started: float = field(default_factory=time.perf_counter)
    #: When looking ended, and the seconds lost until then.
    lost: list[tuple[float, float]] = field(default_factory=list)
    #: Seconds, rows of the trace until then, and P, where proofs began.
    proofs: list[tuple[float, int, float]] = field(default_factory=list)
    n_rows: int = 0

    def _look(self, w: Array) -> tuple[float, float]:
        before = time.perf_counter() - self.started
        value = self.value(w)
        after = time.perf_counter() - self.started
        self.lost.append((after, self.lost_until(after) + after - before))
        return before, value

    def __call__(self, w: Array) -> float:
        """P(w); what a monitor takes for a held-out score."""
        self.n_rows += 1
        return self._look(w)[1]

    def proving(self, w: Array) -> None:
        """Note weights that are going to be proven."""
        before, value = self._look(w)
        self.proofs.append((before, self.n_rows, value))

    def lost_until(self, seconds: float) -> float:
        """Seconds of looking that ended by then."""
        return max((lost for end, lost in self.lost if end <= seconds), default=0.0)

    def seen(self, trace: Trace) -> list[Seen]:
        """All that was seen of a run, in order."""
        found = [
            Seen(row.seconds - self.lost_until(row.seconds), row.n_passes, row.held_out)
            for row in trace.rows
        ]
        for seconds, n_rows, value in self.proofs:
            # A proof is a pass, counted in the row that follows.
            rows = trace.rows[n_rows : n_rows + 1] or trace.rows[-1:]
            n_passes = max(0.5, rows[0].n_passes - 1) if rows else 0.5
            found.append(Seen(seconds - self.lost_until(seconds), n_passes, value))
        return sorted(found)

    @contextmanager
    def over_proofs(self, objective: Objective) -> Iterator[None]:
        """Look at the weights of every proof of this objective as well."""
        plain = Certifier.at

        def at(certifier: Certifier, w: Array, wanted: float, **options: Any) -> Certified:
            if certifier.objective is objective:
                self.proving(w)
            return plain(certifier, w, wanted, **options)

        with patch.object(Certifier, "at", at):
            yield


@dataclass(frozen=True)
class Run:
    """A run of one solver: what its trace and the watch saw."""

    solution: Solution
    seconds: float
    seen: tuple[Seen, ...]
    final: float

    def first_below(self, level: float) -> tuple[float, float] | None:
        """Seconds and passes after which P was first at most `level`."""
        for seconds, n_passes, value in self.seen:
            if value <= level:
                return seconds, n_passes
        return (self.seconds, self.solution.n_passes) if self.final <= level else None


@dataclass(frozen=True)
class Problem:
    """One loss and penalty on one shape, in the library and in double."""

    model: LinearClassifier
    objective: Objective
    X: Matrix

    @classmethod
    def of(cls, rows: Rows, loss: str, penalty: str) -> Problem:
        """The problem with C = 1 and intercepts that are not penalized."""
        model = LinearClassifier(loss, penalty)
        objective = model._objective(model._take(rows.X, rows.y, None), model.C)
        return cls(model, objective, rows.X.astype(np.float64))

    def value(self, w: Array) -> float:
        """P(w) in double."""
        w = np.asarray(w, dtype=np.float64)
        scores = np.asarray(self.X @ w[:-1]) + w[-1]
        with np.errstate(over="ignore"):
            losses, _ = self.objective.loss.value_and_grad(scores, self.objective.targets)
        return self.objective.value_from_losses(losses, w)

    def run(self, solver: str, tol: float, cap: float) -> Run:
        """Minimize with a solver until it stops or `cap` seconds are over.

        Raises
        ------
        SolverError
            Where the solver cannot handle the loss or the penalty.
        """
        made = make_solver(solver, seed=0)
        check_needs(made, self.objective)
        with time_limit(cap), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            watch = Watch(self.value)
            monitor = Monitor(tol=tol, max_passes=MAX_PASSES, score=watch)
            with watch.over_proofs(self.objective):
                solution = made.minimize(self.objective, None, monitor)
            seconds = time.perf_counter() - watch.started
            seconds -= watch.lost_until(seconds)
        return Run(solution, seconds, tuple(watch.seen(solution.trace)), self.value(solution.w))


# -- the table ------------------------------------------------------------------------------------


class Line(NamedTuple):
    """One row of the table; ratios are NaN where a run did not stop by its certificate."""

    shape: str
    loss: str
    penalty: str
    solver: str
    tol: float
    seconds: float
    seconds_ratio: float
    passes_ratio: float
    true_gap: float
    claimed_gap: float
    stopped: str


def problems(n_classes: int) -> Iterator[tuple[str, str]]:
    """Losses and penalties for so many classes: all that are convex and have a minimum not at zero.

    Examples
    --------
    >>> list(problems(3))[:2]
    [('hinge', 'l2'), ('logistic', 'l2')]
    """
    names = list(MARGIN_LOSSES) if n_classes == 2 else list(MULTICLASS_LOSSES)
    for name in names:
        loss = MARGIN_LOSSES[name]
        if not loss.convex or name == "perceptron":
            continue
        yield name, "l2"
        if name == "logistic":
            yield name, "l1"
            yield name, "elasticnet"


def deterministic() -> list[str]:
    """Names of the solvers that end on a certificate of their own."""
    return [name for name, solver in SOLVERS.items() if not hasattr(solver, "schedule")]


def measure(
    shape: str,
    rows: Rows,
    loss: str,
    penalty: str,
    solvers: list[str],
    tols: list[float],
    cap: float,
) -> list[Line]:
    """Lines of all solvers that fit, at all tolerances."""
    problem = Problem.of(rows, loss, penalty)
    runs: list[tuple[str, float, Run]] = []
    lowest = problem.run("auto", TIGHT, PATIENCE * cap).final
    for solver in solvers:
        for tol in tols:
            try:
                run = problem.run(solver, tol, cap)
            except SolverError:
                break
            runs.append((solver, tol, run))
            lowest = min(lowest, run.final, *(value for _, _, value in run.seen))
    return [_line(shape, loss, penalty, solver, tol, run, lowest) for solver, tol, run in runs]


def _line(
    shape: str, loss: str, penalty: str, solver: str, tol: float, run: Run, lowest: float
) -> Line:
    solution = run.solution
    first = run.first_below(lowest * (1 + tol))
    seconds_ratio = passes_ratio = math.nan
    if solution.stopped is StopReason.CONVERGED and first is not None:
        seconds_ratio = run.seconds / max(first[0], 1e-9)
        # The start of a run may be good enough; looking at it is half a pass at least.
        passes_ratio = max(solution.n_passes, 0.5) / max(first[1], 0.5)
    stopped = solution.stopped.value
    if solution.stopped is StopReason.CONVERGED and run.final > lowest * (1 + tol):
        stopped = "FALSE"
    gap = (run.final - lowest) / lowest
    claimed = solution.gap / abs(solution.objective)
    return Line(
        shape, loss, penalty, solver, tol, run.seconds, seconds_ratio, passes_ratio, gap, claimed,
        stopped,
    )  # fmt: skip


def table(lines: list[Line], tol: float) -> Table:
    """The lines of one tolerance, with the worst and the mean below."""
    shown = Table(title=f"tightness at tol {tol:g}: to stop / until the true gap is below tol")
    for name in ("shape", "loss", "solver", "seconds", "ratio of seconds", "ratio of passes",
                 "true gap", "claimed", "stopped"):  # fmt: skip
        shown.add_column(name, justify="left" if name in ("shape", "loss", "solver") else "right")
    lines = [line for line in lines if line.tol == tol]
    for line in sorted(lines, key=lambda line: -np.nan_to_num(line.passes_ratio)):
        shown.add_row(
            line.shape,
            line.loss if line.penalty == "l2" else f"{line.loss} {line.penalty}",
            line.solver,
            f"{line.seconds:.3g}",
            f"{line.seconds_ratio:.2f}",
            f"{line.passes_ratio:.2f}",
            f"{line.true_gap:.1e}",
            f"{line.claimed_gap:.1e}",
            line.stopped,
        )
    return shown


def summary(lines: list[Line], tol: float) -> str:
    """Worst and mean ratios, and how many runs stopped in time, too early or not at all."""
    lines = [line for line in lines if line.tol == tol]
    rated = [line for line in lines if math.isfinite(line.passes_ratio)]
    parts = [f"tol {tol:g}: {len(lines)} runs, {len(rated)} with a ratio"]
    for name in ("seconds_ratio", "passes_ratio"):
        ratios = np.array([getattr(line, name) for line in rated])
        if not len(ratios):
            continue
        worst = rated[int(ratios.argmax())]
        parts.append(
            f"{name.replace('_', ' ')}: mean {ratios.mean():.2f}, median {np.median(ratios):.2f}, "
            f"{(ratios <= MUST).mean():.0%} within {MUST}, {(ratios <= GOAL).mean():.0%} within "
            f"{GOAL}, worst {ratios.max():.2f} ({worst.shape}, {worst.loss}, {worst.solver})"
        )
    false = sum(line.stopped == "FALSE" for line in lines)
    parts.append(f"converged above tol: {false}; not converged: {len(lines) - len(rated) - false}")
    return "\n  ".join(parts)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tightness", description=__doc__)
    parser.add_argument("shapes", nargs="*", help=f"of {', '.join(SHAPES)}; all by default")
    parser.add_argument("--tol", type=float, action="append", help="tolerances (repeatable)")
    parser.add_argument("--cap", type=float, default=10.0, help="seconds for a run")
    parser.add_argument("--loss", action="append", help="losses (repeatable); all by default")
    parser.add_argument("--solvers", nargs="+", help="solvers; all deterministic ones by default")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables; return 1 where a ratio of passes is above `MUST` or a certificate false."""
    options = _parse(arguments)
    console = Console(width=160)
    tols = options.tol or list(TOLERANCES)
    lines: list[Line] = []
    for shape in options.shapes or SHAPES:
        try:
            rows = SHAPES[shape]()
        except MissingDataError as error:
            console.print(f"{shape} skipped: {error}", markup=False)
            continue
        for loss, penalty in problems(len(np.unique(rows.y))):
            if options.loss and loss not in options.loss:
                continue
            new = measure(
                shape, rows, loss, penalty, options.solvers or deterministic(), tols, options.cap
            )
            lines += new
            for line in new:
                print("  ", *line, file=sys.stderr, flush=True)
    for tol in tols:
        console.print(table(lines, tol))
    for tol in tols:
        console.print(summary(lines, tol), markup=False, highlight=False)
    bad = [line for line in lines if line.passes_ratio > MUST or line.stopped == "FALSE"]
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
