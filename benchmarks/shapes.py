"""``python -m benchmarks shapes``: speed at default settings on data of every shape.

``python -m benchmarks choose``: on the same problems, `solver="auto"` against each solver by name.

Every contender fits with its defaults in a process of its own, within a cap of seconds. A peer
counts when its objective is within max(1e-3, 3 x our true gap) of the best, relative to it; where
none does with its defaults, the tolerance is tightened and iterations are added. The ratio is the
time of the fastest peer that counts divided by ours.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import objectives
from benchmarks.peers import load_class
from benchmarks.shape_problems import PROBLEMS, Problem, Rows, generated

#: Seconds after which a contender is stopped, and seconds that repetitions may take together.
_CAP, _REPEAT = 60.0, 0.5
#: How many times longer a contender may wait for its CPU seconds on a busy machine.
_BUSY = 20
#: Seconds that a rival is given in any case, and times those of ours: then it has lost.
_ALLOWED, _HOPELESS = 4.0, 20.0
#: A peer counts within this of the best objective, relative to it, and this many of our gaps.
_QUALITY, _GAPS = 1e-3, 3.0
#: Relative gap of the run of ours that the optimum is taken from.
_TIGHT = 1e-7

_LOSSES = {
    "hinge": objectives.hinge,
    "squared_hinge": objectives.squared_hinge,
    "logistic": objectives.logistic,
    "softmax": objectives.softmax,
    "crammer_singer": objectives.crammer_singer,
}


class Fit(NamedTuple):
    """What came of a contender."""

    seconds: float
    value: float
    solver: str
    gap: float


class Line(NamedTuple):
    """A row of the printed table."""

    name: str
    setting: str
    ours: float
    peer: float
    who: str
    gap: float
    solver: str

    @property
    def ratio(self) -> float:
        """Seconds of the peer for one of ours."""
        return self.peer / self.ours


def penalizes_intercept(problem: Problem) -> bool:
    """Whether the peers of a problem penalize intercepts: LIBLINEAR does."""
    return problem.loss in ("hinge", "squared_hinge", "crammer_singer")


def ours(problem: Problem, **options: Any) -> Any:
    """Our estimator for a problem, not fitted."""
    if problem.balanced:
        options["class_weight"] = "balanced"
    if problem.loss in ("logistic", "softmax"):
        made = load_class("separatrix:LogisticRegression")
        return made(problem.penalty, C=problem.C, **options)
    loss = "squared_hinge" if problem.loss == "squared_hinge" else "hinge"
    made = load_class("separatrix:LinearSVM")
    return made(loss, C=problem.C, penalize_intercept=True, random_state=0, **options)


def peers(problem: Problem, tight: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Peers of a problem by name; `tight` runs them beyond their defaults."""
    svm, logistic = "sklearn.svm:LinearSVC", "sklearn.linear_model:LogisticRegression"
    common: dict[str, Any] = {"C": problem.C, "random_state": 0}
    if problem.balanced:
        common["class_weight"] = "balanced"
    if tight:
        common |= {"max_iter": 100_000}
    if problem.loss in ("hinge", "squared_hinge", "crammer_singer"):
        tol = {"tol": 1e-6} if tight else {}
        if problem.loss == "crammer_singer":
            yield "liblinear", partial(_made, svm, multi_class="crammer_singer", **tol, **common)
            return
        for dual in (True,) if problem.loss == "hinge" else (True, False):
            name = "liblinear dual" if dual else "liblinear primal"
            yield name, partial(_made, svm, loss=problem.loss, dual=dual, **tol, **common)
        return
    tol = {"tol": 1e-7} if tight else {}
    if problem.penalty == "l1":
        for solver in ("liblinear", "saga"):
            yield solver, partial(_made, logistic, l1_ratio=1.0, solver=solver, **tol, **common)
        return
    for solver in ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"):
        yield solver, partial(_made, logistic, solver=solver, **tol, **common)


def _made(path: str, **options: Any) -> Any:
    return load_class(path)(**options)


def measure(
    problem: Problem,
    rows: Rows,
    make: Callable[[], Any],
    clock: Callable[[], float],
    cap: float = _CAP,
) -> Fit | None:
    """Fit in a process of its own; None where it fails or takes longer than the cap."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    patience = _BUSY * cap if clock is time.process_time else cap

    def work() -> None:
        if clock is time.process_time:
            already = math.ceil(time.process_time())
            resource.setrlimit(
                resource.RLIMIT_CPU, (already + math.ceil(cap), resource.RLIM_INFINITY)
            )
        warnings.simplefilter("ignore")
        spent, best, repetitions = 0.0, math.inf, 0
        while repetitions < 2 or (spent < _REPEAT and repetitions < 20):
            model = make()
            begun = clock()
            model.fit(rows.X, rows.y)
            took = clock() - begun
            spent, best, repetitions = spent + took, min(best, took), repetitions + 1
            if took > 2 * _REPEAT:
                break
        solution = getattr(model, "solution_", None)
        value = _objective(problem, rows)(model.coef_, model.intercept_, rows.X, rows.y)
        solver = "" if solution is None else solution.solver
        gap = math.nan if solution is None else solution.gap
        if solution is not None and solution.stopped.value != "converged":
            solver += f" ({solution.stopped.value}!)"
        there.send(Fit(best, value, solver, gap))

    process = context.Process(target=work, daemon=True)
    process.start()
    found: Fit | None = None
    try:
        if here.poll(patience):
            found = here.recv()
    except EOFError:
        pass
    if found is None:
        process.kill()
    process.join()
    return found


def _objective(problem: Problem, rows: Rows) -> Callable[..., float]:
    loss = _LOSSES[problem.loss]
    if problem.balanced:
        counts = np.bincount(rows.y)
        weights = len(rows.y) / (len(counts) * counts)
        plain = loss

        def weighted(scores: Any, y: Any) -> Any:
            return plain(scores, y) * weights[y]

        loss = weighted
    smooth = objectives.Objective(loss, problem.C, penalizes_intercept(problem))
    if problem.penalty == "l2":
        return smooth

    def with_l1(coef: Any, intercept: Any, X: Any, y: Any) -> float:
        W = np.asarray(coef, dtype=np.float64)
        l1 = float(np.abs(W).sum()) - 0.5 * float(np.vdot(W, W))
        return smooth(coef, intercept, X, y) + l1

    return with_l1


def race(problem: Problem, clock: Callable[[], float], known: dict[str, Any]) -> Line | None:
    """Run a problem; `known` keeps times and values of peers from earlier runs."""
    rows = problem.rows()
    mine = measure(problem, rows, lambda: ours(problem), clock)
    if mine is None:
        return Line(problem.name, problem.setting, _CAP, math.nan, "", math.nan, "failed")
    key = f"{problem.data!r} {problem.setting}"
    if key not in known:
        tight = measure(problem, rows, lambda: ours(problem, tol=_TIGHT, max_iter=100_000), clock)
        entry: dict[str, Any] = {"peers": {}}
        entry["lower"] = tight.value - tight.gap if tight is not None else 0.0
        entry["best"] = min(mine.value, tight.value if tight is not None else math.inf)
        for harder in (False, True):
            for name, make in peers(problem, harder):
                fit = measure(problem, rows, make, clock)
                if fit is not None:
                    label = f"{name}, tight" if harder else name
                    entry["peers"][label] = (fit.seconds, fit.value)
                    entry["best"] = min(entry["best"], fit.value)
            if any(v <= entry["best"] * (1 + _QUALITY) for _, v in entry["peers"].values()):
                break
        known[key] = entry
    entry = known[key]
    best = min(entry["best"], mine.value)
    gap = (mine.value - max(entry["lower"], 0.0)) / mine.value
    allowed = best * (1 + max(_QUALITY, _GAPS * (mine.value - best) / best))
    counted = {name: s for name, (s, value) in entry["peers"].items() if value <= allowed}
    who = min(counted, key=lambda name: counted[name]) if counted else "none counts"
    seconds = counted.get(who, math.nan)
    return Line(problem.name, problem.setting, mine.seconds, seconds, who, gap, mine.solver)


def rivals(problem: Problem, rows: Rows) -> list[Any]:
    """All that `choose` compares for a problem: solvers with their predicted seconds."""
    rank = importlib.import_module("separatrix.solvers.choose").rank
    model = ours(problem)
    data = model._take(rows.X, rows.y, None)
    return [one for one in rank(model._objective(data, problem.C)) if one.seconds < math.inf]


def regrets(problems: Iterable[Problem], clock: Callable[[], float]) -> None:
    """Print what `auto` took on each problem, the best of our solvers in hindsight, and regret."""
    found = []
    print(
        f"{'problem':34s} {'setting':24s} {'auto':>9s} {'best':>9s} {'regret':>6s}  predicted, took"
    )
    for problem in problems:
        if problem.penalty != "l2":
            continue
        rows = problem.rows()
        chosen = measure(problem, rows, partial(ours, problem), clock)
        if chosen is None:
            continue
        best, words = chosen.seconds, []
        # Whoever takes several times as long has lost already.
        cap = min(_CAP, _ALLOWED + _HOPELESS * chosen.seconds)
        for rival in rivals(problem, rows):
            fit = measure(problem, rows, partial(ours, problem, solver=rival.solver), clock, cap)
            name = type(rival.solver).__name__
            if fit is None or "!" in fit.solver:
                words.append(f"{name} {1e3 * rival.seconds:.3g} -")
                continue
            words.append(f"{name} {1e3 * rival.seconds:.3g} {1e3 * fit.seconds:.3g}")
            best = min(best, fit.seconds)
        found.append(chosen.seconds / best)
        print(
            f"{problem.name:34s} {problem.setting:24s} {1e3 * chosen.seconds:7.1f}ms "
            f"{1e3 * best:7.1f}ms {found[-1]:6.2f}  {'; '.join(words)}",
            flush=True,
        )
    if found:
        print(f"{len(found)} problems: mean regret {np.mean(found):.2f}, worst {max(found):.2f}")


#: What --write writes; `tools/update_readme.py` reads its last line.
PAGE = """# Data of every shape, at default settings

`{command}`: milliseconds of ours and of the fastest peer that reaches the same objective, their
ratio, our true relative gap, the peer, and the solver that was chosen. The data were not used to
tune any constant.

```
{table}
```
"""


def main(arguments: list[str], *, choose: bool = False) -> int:
    """Run the suite and print its table; with `choose` that of our own solvers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks shapes", description=__doc__)
    parser.add_argument("--seed", type=int, help="run problems drawn from this seed instead")
    parser.add_argument("--count", type=int, default=30, help="how many of them")
    parser.add_argument("--only", default="", help="problems whose line contains this")
    parser.add_argument("--cpu", action="store_true", help="CPU seconds, on a busy machine")
    parser.add_argument("--peers", type=Path, help="file that keeps what peers did, to be reused")
    parser.add_argument("--write", action="store_true", help="keep the table in SHAPES.md")
    options = parser.parse_args(arguments)
    problems = PROBLEMS if options.seed is None else generated(options.seed, options.count)
    clock = time.process_time if options.cpu else time.perf_counter
    problems = tuple(p for p in problems if options.only in f"{p.name} {p.setting}")
    if choose:
        regrets(problems, clock)
        return 0
    known: dict[str, Any] = {}
    if options.peers is not None and options.peers.exists():
        known = json.loads(options.peers.read_text())
    table = [f"{'problem':34s} {'setting':24s} {'ours':>9s} {'peer':>9s} {'ratio':>6s} {'gap':>7s}"]
    print(table[0])
    lines = []
    for problem in problems:
        line = race(problem, clock, known)
        if line is None:
            continue
        lines.append(line)
        table.append(
            f"{line.name:34s} {line.setting:24s} {1e3 * line.ours:7.1f}ms {1e3 * line.peer:7.1f}ms "
            f"{line.ratio:6.2f} {line.gap:7.1e} {line.who:18s} | {line.solver}"
        )
        print(table[-1], flush=True)
        if options.peers is not None:
            options.peers.write_text(json.dumps(known))
    ratios = np.array([line.ratio for line in lines if not math.isnan(line.ratio)])
    if len(ratios):
        worst = min((line for line in lines if not math.isnan(line.ratio)), key=lambda x: x.ratio)
        table.append(
            f"{len(ratios)} problems: geometric mean {np.exp(np.log(ratios).mean()):.2f}x, "
            f"worst {worst.ratio:.2f}x ({worst.name} {worst.setting}), "
            f"{(ratios < 1).sum()} below 1 ({(ratios < 1).mean():.0%})"
        )
        print(table[-1])
    if options.write:
        command = f"python -m benchmarks shapes{' --cpu' if options.cpu else ''}"
        if options.seed is not None:
            command += f" --seed {options.seed} --count {options.count}"
        page = PAGE.format(command=command, table="\n".join(table))
        (Path(__file__).parent / "SHAPES.md").write_text(page, encoding="utf-8")
    return 0
