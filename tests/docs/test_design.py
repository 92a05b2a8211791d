"""The page on the design names the layers that import-linter checks, in their order."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_layers_is_the_one_that_is_checked():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("## The layers")[1]
    table = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = [set(re.findall(r"`(\w+)`", cell)) for cell in table]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    checked = [set(re.findall(r"\w+", layer)) for layer in layers]
    assert named == [layer for layer in checked if layer != {"__main__"}]
