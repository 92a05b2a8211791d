"""Files of every format version always load, and their models answer as they did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import load
from separatrix.models import describe
from separatrix.models.file.container import VERSION
from tests.golden.make_models import ROWS, TABLE

GOLDEN = Path(__file__).parents[2] / "golden"
ASKED = {"table_logistic": TABLE, "voted_perceptron": sp.csr_matrix(ROWS)}


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.sx")), ids=lambda path: path.stem)
def test_golden_file(path):
    model = load(path, verify=True)
    answers = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = ASKED[path.name.partition(".")[0]]
    assert model.predict(rows).tolist() == answers["predict"]
    np.testing.assert_allclose(
        model.decision_function(rows), answers["decision_function"], rtol=1e-12
    )
    assert describe(path).fingerprint == "golden"


def test_every_version_has_its_files():
    for version in range(1, VERSION + 1):
        for name in ASKED:
            assert (GOLDEN / f"{name}.v{version}.sx").is_file()
