"""The same seed makes the same file, byte for byte, in every process."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from separatrix import LogisticRegression, load, save
from tests.unit.models.models import TWO, X

SAVES_ALL = """
import sys
from pathlib import Path
from separatrix import save
from tests.unit.models.models import CASES

for name, case in CASES.items():
    save(case.fit(), Path(sys.argv[1]) / f"{name}.sx")
"""


def _files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_every_model_is_the_same_file_in_another_process(tmp_path):
    found = []
    for seed in ("1", "2"):  # sets and dicts of another order
        folder = tmp_path / seed
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SAVES_ALL, str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        found.append(_files(folder))
    one, other = found
    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []


@pytest.mark.parametrize(
    "words",
    [
        ["train", "iris", "--learner", "perceptron", "--save", "model.sx"],
        ["compare", "mail.tsv", "--learners", "linear_svm,naive_bayes", "--save", "model.sx"],
    ],
    ids=["train", "compare"],
)
def test_the_same_command_makes_the_same_file(tmp_path, words):
    made = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        lines = [
            f"{('spam', 'ham')[n % 2]}\t{('offer', 'lunch')[n % 2]}{n % 3} and word{n % 5}"
            for n in range(90)
        ]
        (folder / "mail.tsv").write_text(
            "\n".join(["label\ttext", *lines]) + "\n", encoding="utf-8"
        )
        subprocess.run(
            [sys.executable, "-m", "separatrix", *words, "--quiet"],
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        made.append((folder / "model.sx").read_bytes())
    assert made[0] == made[1]


def test_seconds_stay_with_the_run_and_its_copies_not_in_the_file(tmp_path):
    model = LogisticRegression().fit(X, TWO)
    seconds = model.solution_.trace.seconds
    assert (seconds > 0).all()
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.solution_.trace.seconds, seconds)
    save(model, tmp_path / "model.sx")
    trace = load(tmp_path / "model.sx").solution_.trace
    assert np.isnan(trace.seconds).all()
    np.testing.assert_array_equal(trace.gap, model.solution_.trace.gap)
