"""Writes the golden model files of the current format version, and the answers of their models.

Refuses to overwrite: golden files of a released version stay as they are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import Pipeline

from separatrix import LogisticRegression, Perceptron, TableEncoder, save
from separatrix.models.file.container import VERSION

TABLE: dict[str, list[Any]] = {
    "age": [31.0, None, 58.0, 44.0, 23.0, 67.0, 39.0, 52.0],
    "city": ["Oslo", "Rome", "Rome", "Līma", "Oslo", "Līma", "Rome", "Oslo"],
    "member": [True, False, False, True, True, False, True, False],
}
LABELS = np.array(["yes", "no", "no", "maybe", "yes", "no", "maybe", "yes"], dtype=object)
ROWS = [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 1.0, 1.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def models() -> dict[str, tuple[Any, Any]]:
    """Name -> fitted model and the rows to ask it about."""
    table = Pipeline([("table", TableEncoder()), ("learner", LogisticRegression(C=10.0))])
    rows = sp.csr_matrix(ROWS)
    vote = Perceptron(averaging="vote", random_state=0)
    return {
        "table_logistic": (table.fit(TABLE, LABELS), TABLE),
        "voted_perceptron": (vote.fit(rows, [7, 8, 8, 7, 8]), rows),
    }


def main(folder: Path) -> None:
    """Write the files."""
    for name, (model, rows) in models().items():
        path = folder / f"{name}.v{VERSION}.sx"
        if path.exists():
            raise SystemExit(f"{path} exists; golden files are written once")
        save(model, path, training={"n_rows": len(ROWS)}, fingerprint="golden")
        answers = {
            "predict": model.predict(rows).tolist(),
            "decision_function": model.decision_function(rows).tolist(),
        }
        path.with_suffix(".json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
