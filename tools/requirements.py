"""Prints the packages that separatrix runs with: of the core, and of the extras that are named.

python tools/requirements.py report serve
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def requirements(*extras: str) -> list[str]:
    """Lines for `pip install -r`.

    Examples
    --------
    >>> any(line.startswith("jinja2") for line in requirements("report"))
    True
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    return [line for lines in lists for line in lines]


if __name__ == "__main__":
    print("\n".join(requirements(*sys.argv[1:])))
