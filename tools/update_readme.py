"""Copy the table of ratios from benchmarks/RESULTS.md into README.md, between its markers.

With --check nothing is written: exit 1 where README.md differs from what would be written.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
SOURCE_MARKERS = ("<!-- summary:begin -->", "<!-- summary:end -->")
README_MARKERS = ("<!-- bench:begin -->", "<!-- bench:end -->")
NO_RESULTS = "Not measured yet: `make bench` measures, and fills this table."


def cut(text: str, markers: tuple[str, str], name: str) -> tuple[str, str, str]:
    """Split `text` into what stands before, between and after the two markers."""
    begin, end = markers
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise SystemExit(f"{name} needs {begin} and {end}, once each and in this order.")
    head, rest = text.split(begin)
    inside, tail = rest.split(end)
    return head + begin, inside, end + tail


def updated(readme: str, results: str | None) -> str:
    r"""Return the README with the summary of the results, or with the command that makes them.

    Examples
    --------
    >>> readme = "Ratios:\n<!-- bench:begin --><!-- bench:end -->\n"
    >>> results = "# Page\n<!-- summary:begin -->\n| row |\n<!-- summary:end -->\n"
    >>> print(updated(readme, results))
    Ratios:
    <!-- bench:begin -->
    <BLANKLINE>
    | row |
    <BLANKLINE>
    <!-- bench:end -->
    <BLANKLINE>
    """
    head, _, tail = cut(readme, README_MARKERS, PAGE.name)
    table = NO_RESULTS if results is None else cut(results, SOURCE_MARKERS, RESULTS.name)[1]
    return f"{head}\n\n{table.strip()}\n\n{tail}"


def main(arguments: list[str]) -> int:
    """Update README.md, or check that it is up to date."""
    if arguments not in ([], ["--check"]):
        print(f"usage: {Path(__file__).name} [--check]", file=sys.stderr)
        return 2
    old = PAGE.read_text(encoding="utf-8")
    results = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else None
    new = updated(old, results)
    if new == old:
        return 0
    if arguments:
        print("README.md is behind benchmarks/RESULTS.md: run tools/update_readme.py")
        return 1
    PAGE.write_text(new, encoding="utf-8")
    print("README.md: table of ratios updated")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
