"""Copy ratios of benchmarks/RESULTS.md and SHAPES.md into README.md: a row per family of learners.

With --check nothing is written: exit 1 where README.md differs from what would be written.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
SHAPES = ROOT / "benchmarks" / "SHAPES.md"
SOURCE_MARKERS = ("<!-- summary:begin -->", "<!-- summary:end -->")
README_MARKERS = ("<!-- short:begin -->", "<!-- short:end -->")
#: Rows of the table: the whole job, then one for each family of learners, then text.
SHORT = ("e1", "f1", "f2", "f3", "g1", "r1a", "s1", "s5", "t1")
NO_RESULTS = "Not measured yet: `make bench` measures, and fills this table."


def cut(text: str, markers: tuple[str, str], name: str) -> tuple[str, str, str]:
    """Split `text` into what stands before, between and after the two markers."""
    begin, end = markers
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise SystemExit(f"{name} needs {begin} and {end}, once each and in this order.")
    head, rest = text.split(begin)
    inside, tail = rest.split(end)
    return head + begin, inside, end + tail


def shortened(table: str) -> str:
    r"""Return problem, peer, seconds and ratio of the first line of each row in `SHORT`.

    Examples
    --------
    >>> lines = ["| row | problem | at | best peer | our s | ratio |", "|---|---|---|---|---|---|"]
    >>> lines.append("| f1 | logistic | gap 1e-6 | LIBLINEAR | 0.1 s | 3.0x |")
    >>> print(shortened("\n".join(lines)))
    | problem | best peer | ours | ratio |
    |---|---|---|---|
    | logistic | LIBLINEAR | 0.1 s | **3.0x** |
    """
    lines = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in table.strip().splitlines()[2:]
    ]
    first = {cells[0]: cells for cells in reversed(lines)}
    rows = [first[name] for name in SHORT if name in first]
    shown = [f"| {row[1]} | {row[3]} | {row[4]} | **{row[5]}** |" for row in rows]
    return "\n".join(["| problem | best peer | ours | ratio |", "|---|---|---|---|", *shown])


def of_all_shapes(page: str) -> str:
    r"""Return the row of the table that tells the mean and the worst of `SHAPES.md`.

    Examples
    --------
    >>> print(of_all_shapes("2 problems: geometric mean 3.1x, worst 0.9x (iris hinge), 1 below"))
    | 2 problems of every shape, at default settings | the fastest of each |
    | **3.1x** on the mean, 0.9x at worst (iris hinge) |
    """
    told = re.search(r"^(\d+) problems: geometric mean (\S+), worst (\S+) (\(.*?\)),", page, re.M)
    if told is None:
        raise SystemExit(f"{SHAPES.name} has no line that tells the mean and the worst.")
    n, mean, worst, which = told.groups()
    return (
        f"| {n} problems of every shape, at default settings | the fastest of each | "
        f"| **{mean}** on the mean, {worst} at worst {which} |"
    )


def updated(readme: str, results: str | None, shapes: str | None = None) -> str:
    r"""Return the README with some of the results, or with the command that makes them.

    Examples
    --------
    >>> print(updated("# Page\n<!-- short:begin --><!-- short:end -->\n", None))
    # Page
    <!-- short:begin -->
    <BLANKLINE>
    Not measured yet: `make bench` measures, and fills this table.
    <BLANKLINE>
    <!-- short:end -->
    <BLANKLINE>
    """
    table = None if results is None else cut(results, SOURCE_MARKERS, RESULTS.name)[1]
    head, _, tail = cut(readme, README_MARKERS, PAGE.name)
    rows = NO_RESULTS if table is None else shortened(table)
    if shapes is not None:
        rows += "\n" + of_all_shapes(shapes)
    return f"{head}\n\n{rows}\n\n{tail}"


def main(arguments: list[str]) -> int:
    """Update README.md, or check that it is up to date."""
    if arguments not in ([], ["--check"]):
        print(f"usage: {Path(__file__).name} [--check]", file=sys.stderr)
        return 2
    old = PAGE.read_text(encoding="utf-8")
    results = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else None
    shapes = SHAPES.read_text(encoding="utf-8") if SHAPES.exists() else None
    new = updated(old, results, shapes)
    if new == old:
        return 0
    if arguments:
        print("README.md is behind benchmarks/RESULTS.md or SHAPES.md: run tools/update_readme.py")
        return 1
    PAGE.write_text(new, encoding="utf-8")
    print("README.md: table of ratios updated")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
