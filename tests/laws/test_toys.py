"""A loss, a penalty, a solver and a structure of somebody else get the laws for free.

Each file of `tests/toys` is all that its kind needs, its line in the registry included. They are
copied into a package of their own, which a new pytest loads before it collects the laws.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix

ROOT = Path(__file__).parents[2]
TOYS = ROOT / "tests" / "toys"

#: By kind: the laws it gets, how they are found, and how many there are at least.
LAWS = {
    "loss": (["test_losses.py", "test_same_optimum.py"], "toy and not stochastic", 10),
    "penalty": (["test_penalties.py", "test_same_optimum.py"], "toy or AroundOne", 8),
    "solver": (
        ["test_same_optimum.py"],
        "toy or (deterministic and iris and (logistic or squared))",
        5,
    ),
    "structure": (["test_structures.py"], "toy", 12),
}


def test_every_toy_is_tried():
    assert {path.stem for path in TOYS.glob("[a-z]*.py")} == set(LAWS)


@pytest.mark.parametrize("kind", LAWS)
def test_a_toy_keeps_the_laws(kind, tmp_path):
    package = tmp_path / "temporary_toys"
    package.mkdir()
    (package / "__init__.py").write_text(f"from temporary_toys import {kind}\n")
    shutil.copy(TOYS / f"{kind}.py", package)
    if kind == "structure":
        example = (
            "import numpy as np\n"
            "from temporary_toys.structure import Ordered, OrderedFeatures\n"
            "from tests.laws.structure_examples import EXAMPLES, Example\n"
            "from separatrix.models import register\n"
            "register(Ordered, OrderedFeatures)\n"
            "X = np.random.default_rng(0).normal(size=(5, 2))\n"
            "EXAMPLES['toy'] = Example(Ordered(), X, ['a', 'b', 'c', 'b', 'a'])\n"
        )
        with (package / "__init__.py").open("a") as file:
            file.write(example)
    files, chosen, least = LAWS[kind]
    source = str(Path(separatrix.__file__).parents[1])
    paths = os.pathsep.join([str(tmp_path), source, str(ROOT)])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "temporary_toys",
        "-p",
        "no:cacheprovider",
    ]
    command += [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-k",
        chosen,
        *(f"tests/laws/{name}" for name in files),
    ]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= least, done.stdout[-500:]
