"""What asks for more memory than there is: MemoryError with the size, and the process goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.unit.serve.served import ROOT

#: Bytes of address space: enough for the interpreter and its packages, and not for 2^31 weights.
LIMIT = 3 << 30

PROGRAM = f"""
import io, resource, warnings
import numpy as np
import separatrix
from separatrix import *
from separatrix.data import read
warnings.simplefilter("ignore")
rows = b"1 1:1\\n2 3:1\\n1 5:2\\n2 7:1\\n3 9:1\\n3 2147483647:1\\n"
data = read(io.BytesIO(rows), format="svmlight")
X, many = data.X, data.y
two = many > 1
resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, {LIMIT}))
for model, y in [
    (LogisticRegression(), two), (LogisticRegression(), many), (LinearSVM(), two),
    (LinearSVM(), many), (Perceptron(), many), (NaiveBayes("multinomial"), many),
    (OneVsAll(LogisticRegression()), many), (OutputCode(LinearSVM()), many),
    (LogisticRegression(penalty="l1"), two),
    (LaplaceLogisticRegression(), two),
]:
    try:
        model.fit(X, y)
    except MemoryError as error:
        assert "2147483647" in str(error) or "GiB" in str(error), error
    else:
        raise AssertionError(f"{{model}} was fitted")
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_one_index_that_asks_for_all_memory():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stdout == "done\n", done.stderr[-2000:]
