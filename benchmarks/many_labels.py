"""M4: label trees from a thousand to a million labels, on generated data.

    python -m benchmarks.many_labels [K ...]

For every number of labels K (10^3, 10^4, 10^5 and 10^6 by default) a process of its own makes the
data, fits `LabelTree` with its defaults, and predicts; seconds, peak memory, model size, precision
and microseconds per row (one row at a time, and in batches on two threads) go to
benchmarks/MANY_LABELS.md, with a plot of the cost of a prediction against K.

The data: labels are the leaves of a tree of 32 children per node. Every node, and every label, has
a vocabulary of its own, drawn from 131,072 features that all share. A row of a label has six of
the twelve features of the label, four and two of the 24 of the two nodes above it, and two from
anywhere; its values are uniform between 0.5 and 1.5, scaled to length one. A label has three
training rows; 10,000 further rows are for testing.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from benchmarks.harness import write_atomically

HERE = Path(__file__).parent
TARGET, PLOT = HERE / "MANY_LABELS.md", HERE / "many_labels.svg"
SIZES = (10**3, 10**4, 10**5, 10**6)
N_FEATURES = 2**17
ROWS_PER_LABEL = 3
N_TEST = 10_000
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


def peak_mb() -> float:
    """The largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n_labels: int, verbose: int = 1) -> dict[str, Any]:
    """Fit and predict with K labels, in this process."""
    from separatrix import LabelTree

    y = np.repeat(np.arange(n_labels), ROWS_PER_LABEL)
    X = make_rows(y, seed=1)
    y_test = np.random.default_rng(2).integers(0, n_labels, N_TEST)
    X_test = make_rows(y_test, seed=3)
    before = peak_mb()
    start = time.perf_counter()
    tree = LabelTree(random_state=0, verbose=verbose).fit(X, y)
    fitted = time.perf_counter()
    hits = tree.predict_top(X_test, 5) == y_test[:, None]
    batch = time.perf_counter() - fitted
    alone = []
    for row in range(300):
        begin = time.perf_counter()
        tree.predict(X_test[row : row + 1])
        alone.append(time.perf_counter() - begin)
    return {
        "labels": n_labels,
        "rows": int(X.shape[0]),
        "stored": int(X.nnz),
        "seconds": fitted - start,
        "data_mb": before,
        "peak_mb": peak_mb(),
        "model_mb": tree.weights_.nbytes / 1e6,
        "depth": tree.shape_.depth(),
        "p1": float(hits[:, 0].mean()),
        "p5": float(hits.any(axis=1).mean()),
        "batch_us": batch / N_TEST * 1e6,
        "row_us": float(np.median(alone)) * 1e6,
    }


def page(results: list[dict[str, Any]]) -> str:
    """The results as a page of Markdown."""
    lines = [
        "# Label trees from a thousand to a million labels",
        "",
        "Generated by `python -m benchmarks.many_labels`; do not edit. How the data are",
        "made stands at the head of `benchmarks/many_labels.py`. Defaults of `LabelTree`; peak",
        "memory includes the data and Python.",
        "",
        "| labels | rows | depth | training | peak memory | of it data | model | P@1 | in the "
        "first 5 | row, batches of 10,000 | row alone |",
        "|" + "---|" * 11,
    ]
    for r in results:
        lines.append(
            f"| {r['labels']:,} | {r['rows']:,} | {r['depth']} | {r['seconds']:.1f} s "
            f"| {r['peak_mb']:,.0f} MB | {r['data_mb']:,.0f} MB | {r['model_mb']:,.1f} MB "
            f"| {r['p1']:.3f} | {r['p5']:.3f} | {r['batch_us']:.0f} us | {r['row_us']:.0f} us |"
        )
    lines += ["", f"![cost of a prediction against the number of labels]({PLOT.name})", ""]
    return "\n".join(lines)


def draw(results: list[dict[str, Any]]) -> None:
    """Microseconds per row against the number of labels, the latter on a logarithmic scale."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    sizes = [r["labels"] for r in results]
    for key, words in (("row_us", "one row at a time"), ("batch_us", "in batches, two threads")):
        axes.plot(sizes, [r[key] for r in results], "o-", label=words)
    axes.set(xscale="log", xlabel="labels", ylabel="microseconds per row", ylim=(0, None))
    axes.legend(frameon=False)
    part = PLOT.with_suffix(".part.svg")
    figure.savefig(part, metadata={"Date": None})
    part.replace(PLOT)


def main(words: list[str]) -> None:
    """Measure every size in a process of its own, and write the page."""
    if words[:1] == ["--one"]:
        print(json.dumps(measure(int(words[1]))))
        return
    results = []
    for size in [int(float(word)) for word in words] or SIZES:
        command = [sys.executable, "-m", "benchmarks.many_labels", "--one", str(size)]
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        results.append(json.loads(said.strip().splitlines()[-1]))
        print(results[-1], flush=True)
    write_atomically(TARGET, page(results))
    draw(results)


if __name__ == "__main__":
    main(sys.argv[1:])
