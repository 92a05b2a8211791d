"""Label sets of delicious (983 labels): LabelTree beside PECOS and napkinXC at their defaults.

    python -m benchmarks.delicious [CONTENDER ...]

Rows are scaled to length one for everybody. A process for each contender fits, predicts the first
five labels of the test rows, and reports seconds, microseconds per row and P@1, P@3, P@5; medians
of five runs, each with a seed of its own, go to benchmarks/DELICIOUS.md, and the range of P@1.

napkinXC is in the extra `bench`. PECOS runs this file in an interpreter of its own; see
`benchmarks.pecos_client`.
"""

from __future__ import annotations

import gzip
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

HERE = Path(__file__).parent
TARGET = HERE / "DELICIOUS.md"
RUNS = 5


def read(root: Path) -> dict[str, Any]:
    """The four matrices of delicious, rows of X of length one."""
    from sklearn.preprocessing import normalize

    found: dict[str, Any] = {}
    for part in ("train", "test"):
        rows, columns, values, labels = [], [], [], []
        with gzip.open(root / f"{part}.svm.gz", "rt") as lines:
            for i, line in enumerate(lines):
                first, _, rest = line.rstrip("\n").partition(" ")
                labels += [(i, int(label)) for label in first.split(",") if label]
                for pair in rest.split():
                    j, _, v = pair.partition(":")
                    rows.append(i)
                    columns.append(int(j) - 1)
                    values.append(float(v))
        n = i + 1
        X = sparse.csr_matrix((np.array(values, np.float32), (rows, columns)), shape=(n, 500))
        at = np.array(labels)
        ones = np.ones(len(at), np.float32)
        found[f"X_{part}"] = normalize(X)
        found[f"Y_{part}"] = sparse.csr_matrix((ones, (at[:, 0], at[:, 1])), shape=(n, 983))
    return found


def run_separatrix(data: dict[str, Any], seed: int, **params: Any) -> tuple[float, float, Any]:
    """Fit and predict by LabelTree."""
    LabelTree = importlib.import_module("separatrix").LabelTree
    start = time.perf_counter()
    tree = LabelTree(random_state=seed, **params).fit(data["X_train"], data["Y_train"])
    fitted = time.perf_counter()
    top = tree.predict_top(data["X_test"], 5).labels
    return fitted - start, time.perf_counter() - fitted, top


def run_pecos(data: dict[str, Any], seed: int) -> tuple[float, float, Any]:
    """Fit and predict by PECOS XR-Linear, as its tutorial does."""
    xmc = importlib.import_module("pecos.xmc")
    XLinearModel = importlib.import_module("pecos.xmc.xlinear.model").XLinearModel
    X, Y = data["X_train"], data["Y_train"]
    start = time.perf_counter()
    features = xmc.LabelEmbeddingFactory.create(Y, X)
    model = XLinearModel.train(X, Y, C=xmc.Indexer.gen(features, seed=seed))
    fitted = time.perf_counter()
    scores = model.predict(data["X_test"], only_topk=5)
    seconds = time.perf_counter() - fitted
    top = [np.argsort(-row.toarray().ravel(), kind="stable")[:5] for row in scores]
    return fitted - start, seconds, np.array(top)


def run_napkinxc(data: dict[str, Any], seed: int) -> tuple[float, float, Any]:
    """Fit and predict by napkinXC's probabilistic label tree."""
    PLT = importlib.import_module("napkinxc.models").PLT
    sets = [row.indices.tolist() for row in data["Y_train"]]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        model = PLT(folder, seed=seed)
        model.fit(data["X_train"], sets)
        fitted = time.perf_counter()
        top = model.predict(data["X_test"], top_k=5)
        seconds = time.perf_counter() - fitted
    return fitted - start, seconds, np.array([(list(row) + [-1] * 5)[:5] for row in top])


CONTENDERS: dict[str, Any] = {
    "separatrix LabelTree": run_separatrix,
    "separatrix LabelTree svm": partial(run_separatrix, loss="svm"),
    "PECOS XR-Linear": run_pecos,
    "napkinXC PLT": run_napkinxc,
}


def one(name: str, folder: Path, seed: int) -> dict[str, float]:
    """Run one contender in this process."""
    names = ("X_train", "Y_train", "X_test", "Y_test")
    data = {part: sparse.load_npz(folder / f"{part}.npz") for part in names}
    train, predict, top = CONTENDERS[name](data, seed)
    Y = data["Y_test"].toarray()
    hits = np.take_along_axis(Y, np.maximum(top, 0), axis=1) * (top >= 0)
    found = {f"P@{k}": float(hits[:, :k].mean()) for k in (1, 3, 5)}
    return {"train": train, "row_us": predict / len(Y) * 1e6, **found}


def main(words: list[str]) -> None:
    """Run the contenders and write the page."""
    if words[:1] == ["--one"]:
        print("\n" + json.dumps(one(words[1], Path(words[2]), int(words[3]))))
        return
    from benchmarks.data import data_root
    from benchmarks.harness import write_atomically
    from benchmarks.pecos_client import MissingPeerError, pecos_python

    lines = [
        "# Label sets of delicious",
        "",
        "Generated by `python -m benchmarks.delicious`; do not edit. 12,920 rows to train,",
        "3,185 to test, 983 labels, rows scaled to length one; defaults of everybody;",
        "medians of five runs with seeds of their own, and the range of P@1 over them.",
        "",
        "| contender | training | per row | P@1 | from | to | P@3 | P@5 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for part, matrix in read(data_root() / "multilabel" / "delicious").items():
            sparse.save_npz(Path(folder) / f"{part}.npz", matrix)
        for name in words or CONTENDERS:
            try:
                python = pecos_python() if name == "PECOS XR-Linear" else sys.executable
            except MissingPeerError as error:
                lines.append(f"| {name} | not measured: {error} | | | | | | |")
                continue
            runs = [
                _measure([python, str(Path(__file__)), "--one", name, folder, str(seed)])
                for seed in range(RUNS)
            ]
            lines.append(_line(name, runs))
            print(lines[-1], flush=True)
    write_atomically(TARGET, "\n".join([*lines, ""]))


def _measure(command: list[str]) -> dict[str, float]:
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(said.strip().splitlines()[-1])
    return found


def _line(name: str, runs: list[dict[str, float]]) -> str:
    mid = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    first = [run["P@1"] for run in runs]
    shares = (mid["P@1"], min(first), max(first), mid["P@3"], mid["P@5"])
    scores = " | ".join(f"{100 * share:.2f}" for share in shares)
    return f"| {name} | {mid['train']:.1f} s | {mid['row_us']:.0f} us | {scores} |"


if __name__ == "__main__":
    main(sys.argv[1:])
