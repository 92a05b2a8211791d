"""Serious findings are printed, stand in the JSON, and with --strict end with another code."""

from __future__ import annotations

import json

import numpy as np
import pytest


@pytest.fixture
def leaky(tmp_path):
    """A table whose column `outcome` tells the class."""
    random = np.random.default_rng(0)
    lines = ["age,outcome,class"]
    for age in random.normal(50, 9, 150):
        label = "old" if age + random.normal(0, 9) > 50 else "young"
        lines.append(f"{age:.3f},{'yes' if label == 'old' else 'no'},{label}")
    path = tmp_path / "leaky.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_leak(run, leaky, tmp_path):
    words = ("--learners", "linear_svm")
    done = run("compare", leaky, *words)
    assert done.code == 0
    assert "Warning, leak suspect: column 'outcome' alone predicts the class" in done.out
    done = run("compare", leaky, *words, "--strict", "--json")
    assert done.code == 3
    (first, *_) = json.loads(done.out)["findings"]
    assert (first["kind"], first["severity"]) == ("leak suspect", "serious")
    done = run("train", leaky, "-l", "linear_svm", "--save", tmp_path / "m.sx", "--strict", "-q")
    assert (done.code, "leak suspect" in done.err) == (3, True)
    assert (tmp_path / "m.sx").exists()


def test_nothing_serious(run, leaky):
    done = run("compare", leaky, "--learners", "linear_svm", "--drop", "outcome", "--strict", "-q")
    assert (done.code, done.err) == (0, "")
