"""``python -m benchmarks [case …]``: run cases, print their tables, update ``RESULTS.md``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from rich.console import Console

from benchmarks import analysis, data, harness, machine, ours, report, shapes
from benchmarks.cases import CASES, select
from benchmarks.spec import Case, Contender, Run, Setting


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status (1 if a "must" is not shown to be met)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] in (["shapes"], ["choose"]):
        return shapes.main(arguments[1:], choose=arguments[0] == "choose")
    options = _parse(arguments)
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    if options.list:
        for case in CASES:
            console.print(f"{case.name:22s} {case.title}", markup=False)
        return 0
    complaint = ours.check_build()
    if complaint:
        console.print(complaint, markup=False)
    missed = 0
    for case in select(options.cases):
        if options.only:
            case = _restrict(case, options.only)
        record = _run(case, 1 if options.quick else 3, console)
        if record is None:
            continue
        console.print(report.terminal_table(record))
        if not (options.no_write or options.only):
            report.merge(record)
        if not options.only:
            missed += sum(bound["must_met"] is not True for bound in record["bounds"])
    if missed:
        console.print(f"{missed} required ratios not met or not measured", style="bold")
    return 1 if missed else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", help="names such as f1 f7d; all by default")
    parser.add_argument("--quick", action="store_true", help="one repetition instead of three")
    parser.add_argument(
        "--only",
        action="append",
        metavar="TEXT",
        help="contenders whose name contains TEXT (repeatable); implies --no-write",
    )
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    return parser.parse_args(arguments)


def _restrict(case: Case, texts: list[str]) -> Case:
    """Keep only some contenders; the reference run stays if its contender does."""
    kept = tuple(c for c in case.contenders if any(text in c.name for text in texts))
    names = {contender.name for contender in kept}
    reference = case.reference if case.reference and case.reference[0] in names else None
    return replace(case, contenders=kept, reference=reference)


def _run(case: Case, repetitions: int, console: Console) -> analysis.Json | None:
    """Run one case; None, with a word, where its data is missing."""
    try:
        data.load(case.data)  # vectorizes on first use, so that no child has to
    except data.MissingDataError as error:
        console.print(f"{case.name} skipped: {error}", markup=False)
        return None
    where = machine.describe()
    known = case.optima or (() if case.throughput else harness.known_optima(case))

    def listener(contender: Contender, setting: Setting, run: Run) -> None:
        state = run.error or ("stopped at the cap" if run.stopped else f"{run.seconds:.4g} s")
        values = " ".join(f"{value:.4f}" for value in run.objectives)
        line = f"  {case.name} {contender.name} {setting.label}: {state} {values}"
        console.print(line, style="dim", markup=False, highlight=False)

    race = harness.race(case, repetitions, listener=listener, known=known)
    if race.trusted:
        harness.remember_optima(case, race.optima)
    return analysis.summarize(race, where)


if __name__ == "__main__":
    raise SystemExit(main())
