"""M4: `ManyClass` from a thousand labels on, on generated data.

    python -m benchmarks.many_labels [K ...]

For every number of labels K (10^3, 10^4 and 10^5 by default) a process of its own makes the
data, fits `ManyClass` with its defaults, and predicts; seconds, peak memory, model size, precision
and microseconds of CPU per row (one row at a time, and 10,000 at once) go to
benchmarks/MANY_LABELS.md, with a plot of the cost of a prediction against K. Sizes that are not
asked for keep their lines (benchmarks/many_labels.json).

The data: labels are the leaves of a tree of 32 children per node. Every node, and every label, has
a vocabulary of its own, drawn from 131,072 features that all share. A row of a label has six of
the twelve features of the label, four and two of the 24 of the two nodes above it, and two from
anywhere; its values are uniform between 0.5 and 1.5, scaled to length one. A label has three
training rows; 10,000 further rows are for testing.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from benchmarks.harness import write_atomically
from benchmarks.memory import peak_mb, reset_peak

HERE = Path(__file__).parent
TARGET, KEPT = HERE / "MANY_LABELS.md", HERE / "many_labels.json"
PLOT = HERE.parent / "docs" / "_static" / "many_labels.svg"
SIZES = (10**3, 10**4, 10**5)
N_FEATURES = 2**17
ROWS_PER_LABEL = 3
N_TEST = 10_000
#: Test rows that are predicted one by one.
N_ALONE = 300
#: Nodes above a label, size of their vocabulary, features that a row has of it.
LEVELS = ((0, 12, 6), (1, 24, 4), (2, 24, 2))
N_NOISE = 2
BRANCHING = 32
#: Rows made at a time, so that memory is that of the result.
BLOCK = 100_000


def make_rows(labels: npt.NDArray[np.int64], seed: int) -> sparse.csr_array:
    """Rows of the given labels; `seed` decides about the rows, never about the vocabularies.

    Examples
    --------
    >>> make_rows(np.arange(3), 0).shape
    (3, 131072)
    """
    random = np.random.default_rng(seed)
    blocks = []
    for first in range(0, len(labels), BLOCK):
        part = labels[first : first + BLOCK]
        columns = [random.integers(0, N_FEATURES, (len(part), N_NOISE))]
        for level, size, taken in LEVELS:
            node = part // BRANCHING**level
            words = random.integers(0, size, (len(part), taken)).astype(np.uint64)
            columns.append(_feature(node, level, words))
        found = np.concatenate(columns, axis=1)
        values = random.uniform(0.5, 1.5, found.shape).astype(np.float32)
        starts = np.arange(len(part) + 1) * found.shape[1]
        parts = (values.ravel(), found.ravel().astype(np.int32), starts)
        block = sparse.csr_array(parts, shape=(len(part), N_FEATURES))
        block.sum_duplicates()
        blocks.append(sparse.csr_array(normalize(block, copy=False)))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def _feature(
    node: npt.NDArray[np.int64], level: int, words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """Feature number `words` of the vocabularies of nodes: a hash (the finalizer of SplitMix64)."""
    z = node.astype(np.uint64)[:, None] * np.uint64(64 * 4) + np.uint64(64 * level) + words
    z = (z + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(N_FEATURES)).astype(np.int64)


def measure(n_labels: int) -> dict[str, Any]:
    """Fit and predict with K labels, in this process."""
    from separatrix import ManyClass, save

    y = np.repeat(np.arange(n_labels), ROWS_PER_LABEL)
    X = make_rows(y, seed=1)
    y_test = np.random.default_rng(2).integers(0, n_labels, N_TEST)
    X_test = make_rows(y_test, seed=3)
    model = ManyClass(random_state=0)
    before = reset_peak()
    seconds, cpu, _ = _timed(lambda: model.fit(X, y))
    peak = peak_mb()
    _, batch, top = _timed(lambda: model.predict_top(X_test, 5).labels)
    hits = top == y_test[:, None]
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "model.sx")
        size = (Path(folder) / "model.sx").stat().st_size
    rows = [X_test[row : row + 1] for row in range(N_ALONE)]
    alone = [_timed(lambda row=row: model.predict(row))[1] for row in rows]  # type: ignore[misc]
    return {
        "labels": n_labels,
        "rows": int(X.shape[0]),
        "seconds": seconds,
        "cpu": cpu,
        "data_mb": before,
        "peak_mb": peak,
        "model_mb": size / 2**20,
        "p1": float(hits[:, 0].mean()),
        "p5": float(hits.any(axis=1).mean()),
        "batch_us": batch / N_TEST * 1e6,
        "row_us": float(np.median(alone)) * 1e6,
    }


def _timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds and CPU seconds of a call, and what it returns."""
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - start, time.process_time() - cpu, result


def page(results: list[dict[str, Any]]) -> str:
    """The results as a page of Markdown."""
    lines = [
        "# Labels in their thousands",
        "",
        "Generated by `python -m benchmarks.many_labels`; do not edit. How the data are",
        "made stands at the head of `benchmarks/many_labels.py`. Defaults of `ManyClass`; peak",
        "memory is that of training, with the data and Python.",
        "",
        "| labels | rows | training | its CPU | peak memory | of it data | model | P@1 "
        "| in the first 5 | CPU of a row in a batch | CPU of a row alone |",
        "|" + "---|" * 11,
    ]
    for r in results:
        lines.append(
            f"| {r['labels']:,} | {r['rows']:,} | {r['seconds']:.1f} s "
            f"| {r['cpu']:.1f} s | {r['peak_mb']:,.0f} MB | {r['data_mb']:,.0f} MB "
            f"| {r['model_mb']:,.1f} MB | {r['p1']:.3f} | {r['p5']:.3f} | {r['batch_us']:.0f} us "
            f"| {r['row_us']:.0f} us |"
        )
    lines += ["", *_growth(results), f"![cost against labels](../docs/_static/{PLOT.name})", ""]
    return "\n".join(lines)


def _growth(results: list[dict[str, Any]]) -> list[str]:
    """How the cost grows from the smallest to the largest number of labels."""
    if len(results) < 2:
        return []
    costs = {"a row alone": "row_us", "a row in a batch": "batch_us"}
    lines = []
    for words, key in costs.items():
        found = [r[key] for r in results]
        logs = [math.log10(r["labels"]) for r in results]
        slope, start = np.polyfit(logs, found, 1)
        left = np.array(found) - (start + slope * np.array(logs))
        total = float(np.var(found)) * len(found)
        explained = 1 - left @ left / total if total else 1.0
        lines.append(
            f"- {words}: {' → '.join(f'{cost:.0f}' for cost in found)} us; the line through them "
            f"rises by {slope:.0f} us for ten times as many labels and explains {explained:.0%}"
        )
    return ["What a prediction costs as the labels grow:", "", *lines, ""]


def draw(results: list[dict[str, Any]]) -> None:
    """Microseconds per row against the number of labels, the latter on a logarithmic scale."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    sizes = [r["labels"] for r in results]
    for key, words in (("row_us", "one row alone"), ("batch_us", "in a batch of 10,000")):
        axes.plot(sizes, [r[key] for r in results], "o-", label=words)
    axes.set(xscale="log", xlabel="labels", ylabel="CPU microseconds per row", ylim=(0, None))
    axes.legend(frameon=False)
    part = PLOT.with_suffix(".part.svg")
    figure.savefig(part, metadata={"Date": None})
    part.replace(PLOT)


def main(words: list[str]) -> None:
    """Measure every size in a process of its own, and write the page."""
    if words[:1] == ["--one"]:
        write_atomically(Path(words[2]), json.dumps(measure(int(words[1]))))
        return
    results = {r["labels"]: r for r in json.loads(KEPT.read_text())} if KEPT.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        for size in [int(float(word)) for word in words] or SIZES:
            path = Path(folder) / "found.json"  # not stdout, where progress is shown
            command = [sys.executable, "-m", "benchmarks.many_labels", "--one", str(size)]
            subprocess.run([*command, str(path)], check=True)
            results[size] = json.loads(path.read_text())
            print(results[size], flush=True)
            ordered = [results[size] for size in sorted(results)]
            write_atomically(KEPT, json.dumps(ordered, indent=1) + "\n")
    write_atomically(TARGET, page(ordered))
    draw(ordered)


if __name__ == "__main__":
    main(sys.argv[1:])
