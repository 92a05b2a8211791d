"""Every example runs and shows something."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import pytest
import sklearn

mpl.use("agg")
from matplotlib import pyplot as plt

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def no_arguments(monkeypatch):
    """Examples may read their arguments: those of pytest are not theirs."""
    monkeypatch.setattr(sys, "argv", ["example.py"])


def test_there_are_examples():
    assert len(EXAMPLES) >= 15


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys, monkeypatch, tmp_path):
    # Examples on data sets of some size show their steps on a part of them.
    monkeypatch.setenv("SEPARATRIX_SHORT", "1")
    if path.stem == "many_classes":
        read_less(monkeypatch, tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    if path.stem.startswith("plot_"):
        assert plt.get_fignums()
        plt.close("all")
    else:
        assert capsys.readouterr().out


def read_less(monkeypatch, folder):
    """Let an example that reads scikit-learn's linear models as a text find two of them."""
    (folder / "linear_model").mkdir()
    for name in ("_logistic.py", "_stochastic_gradient.py"):
        shutil.copy(Path(sklearn.__file__).parent / "linear_model" / name, folder / "linear_model")
    monkeypatch.setattr(sklearn, "__file__", str(folder / "__init__.py"))


@pytest.mark.parametrize("name", ["chunking_conll2000", "pos_ud_english", "ocr_letters"])
def test_examples_run_without_their_data(name, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SEPARATRIX_DATA", str(tmp_path))
    path = next(path for path in EXAMPLES if path.stem == name)
    runpy.run_path(str(path), run_name="__main__")
    shown = capsys.readouterr().out
    assert "(short form)" in shown
    assert "published" in shown


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize("name", ["label_sets", "plot_label_graph", "plot_horses"])
def test_examples_on_graphs_run_without_their_data(name, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SEPARATRIX_DATA", str(tmp_path))
    path = next(path for path in EXAMPLES if path.stem == name)
    runpy.run_path(str(path), run_name="__main__")
    shown = capsys.readouterr().out
    assert "points" in shown or "independence" in shown
    plt.close("all")
