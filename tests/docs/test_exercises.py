"""The exercises run, and each ends with the library's own line."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "exercises"
EXERCISES = sorted(FOLDER.glob("*.py"))


def test_every_note_has_an_exercise():
    titles = [re.search(r"^# # Note (\d\d\d): ", p.read_text("utf-8"), re.M)[1] for p in EXERCISES]
    assert set(titles) == {"000", "001", "002", "003", "004"}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("path", EXERCISES, ids=lambda path: path.stem)
def test_an_exercise_runs(path, capsys):
    """Those of its claims that can be checked are asserted inside."""
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    text = path.read_text("utf-8")
    for part in ("# ## Solution", "# ## In one line"):
        assert part in text
    solution, _, line = text.partition("# ## In one line")
    assert "separatrix import" not in solution
    assert "from separatrix import" in line
