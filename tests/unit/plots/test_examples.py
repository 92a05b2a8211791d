"""Every example runs and shows something."""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("agg")
from matplotlib import pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 15


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    if path.stem.startswith("plot_"):
        assert plt.get_fignums()
        plt.close("all")
    else:
        assert capsys.readouterr().out
