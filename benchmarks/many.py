"""M5: very many labels in four corpora, beside PECOS (XR-Linear) and napkinXC (PLT).

    python -m benchmarks.many [--splits N] [--corpus NAME] [CONTENDER ...]

Everybody at their defaults. A contender gets every split (four by default) of every corpus in a
process of its own: it trains, predicts the first five labels of the test rows and writes its model.
Precision (P@1, P@5), the same weighed by the inverse propensity of the labels (PSP@1, PSP@5; Jain
et al. 2016), seconds, CPU seconds and megabytes go to benchmarks/many.json and benchmarks/MANY.md.
What is not asked for keeps its lines, also those of a contender that is no longer there.

The corpora: a word from its neighbors in 20newsgroups and in the English Web Treebank
(`benchmarks.words`; a split draws its own rows), the label sets of delicious (a fifth of all rows
held out), and generated rows (`benchmarks.many_labels`) whose 20,000 labels have frequencies by
Zipf's law.

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
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

HERE = Path(__file__).parent
TARGET, KEPT = HERE / "MANY.md", HERE / "many.json"
PARTS = ("X_train", "Y_train", "X_test", "Y_test")
THREADS, TOP = 2, 5
#: The generated corpus: labels, rows to train and to test.
ZIPF_LABELS, ZIPF_ROWS, ZIPF_TEST = 20_000, 100_000, 10_000

Split = dict[str, Any]


# -- corpora -----------------------------------------------------------------------------------


def _one_hot(labels: Any, n_labels: int) -> Any:
    n = len(labels)
    parts = (np.ones(n, np.float32), np.asarray(labels, np.int32), np.arange(n + 1))
    return sparse.csr_matrix(parts, shape=(n, n_labels))


def _words(texts: str, seed: int) -> Split:
    words = importlib.import_module("benchmarks.words")
    data = words.word_prediction(getattr(words, texts)(), seed).data
    n_labels = int(max(data.y_train.max(), data.y_test.max())) + 1
    # Peers want a row for every label that there is.
    known = np.unique(data.y_train)
    numbers = np.full(n_labels, -1)
    numbers[known] = np.arange(len(known))
    test = numbers[data.y_test] >= 0
    return {
        "X_train": data.X_train,
        "Y_train": _one_hot(numbers[data.y_train], len(known)),
        "X_test": data.X_test[test],
        "Y_test": _one_hot(numbers[data.y_test][test], len(known)),
    }


def read_sets(name: str, n_features: int, n_labels: int) -> tuple[Any, Any]:
    """Rows of length one and label sets of a multilabel corpus, train and test together."""
    from sklearn.preprocessing import normalize

    from benchmarks.data import data_root

    rows, columns, values, labels, n = [], [], [], [], 0
    for part in ("train", "test"):
        path = data_root() / "multilabel" / name / f"{part}.svm.gz"
        with gzip.open(path, "rt") as lines:
            for line in lines:
                first, _, rest = line.rstrip("\n").partition(" ")
                labels += [(n, int(label)) for label in first.split(",") if label]
                for pair in rest.split():
                    j, _, v = pair.partition(":")
                    rows.append(n)
                    columns.append(int(j) - 1)
                    values.append(float(v))
                n += 1
    X = sparse.csr_matrix((np.array(values, np.float32), (rows, columns)), shape=(n, n_features))
    at = np.array(labels)
    ones = np.ones(len(at), np.float32)
    return normalize(X), sparse.csr_matrix((ones, (at[:, 0], at[:, 1])), shape=(n, n_labels))


def _delicious(seed: int) -> Split:
    X, Y = read_sets("delicious", 500, 983)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    test, train = np.split(order, [X.shape[0] // 5])
    return {"X_train": X[train], "Y_train": Y[train], "X_test": X[test], "Y_test": Y[test]}


def _zipf(seed: int) -> Split:
    from benchmarks.many_labels import make_rows

    random = np.random.default_rng([seed, 4])
    shares = 1.0 / np.arange(1, ZIPF_LABELS + 1)
    shares /= shares.sum()
    drawn = random.permutation(ZIPF_LABELS)[
        random.choice(ZIPF_LABELS, ZIPF_ROWS + ZIPF_TEST, p=shares)
    ]
    known = np.unique(drawn[:ZIPF_ROWS])
    test = drawn[ZIPF_ROWS:][np.isin(drawn[ZIPF_ROWS:], known)]
    return {
        "X_train": make_rows(drawn[:ZIPF_ROWS], 2 * seed),
        "Y_train": _one_hot(np.searchsorted(known, drawn[:ZIPF_ROWS]), len(known)),
        "X_test": make_rows(test, 2 * seed + 1),
        "Y_test": _one_hot(np.searchsorted(known, test), len(known)),
    }


CORPORA: dict[str, Callable[[int], Split]] = {
    "20newsgroups words": lambda seed: _words("newsgroups_texts", seed),
    "Web Treebank words": lambda seed: _words("treebank_texts", seed),
    "delicious": _delicious,
    "Zipf": _zipf,
}


# -- contenders: each returns a model, its first five labels, and writes its files ---------------


class Ours:
    """`ManyClass`, or `ManyLabels` where rows have several labels."""

    packages = ("separatrix.learners.multilabel", "separatrix.models")

    def train(self, data: Split, seed: int) -> Any:
        """Fit."""
        separatrix, Y = importlib.import_module("separatrix"), data["Y_train"]
        if (np.diff(Y.indptr) == 1).all():
            model = separatrix.ManyClass(random_state=seed, n_jobs=THREADS)
            return model.fit(data["X_train"], Y.indices.copy())
        model = separatrix.ManyLabels(random_state=seed, n_jobs=THREADS)
        return model.fit(data["X_train"], Y)

    def predict(self, model: Any, data: Split) -> Any:
        """The first five labels."""
        return model.predict_top(data["X_test"], TOP).labels

    def save(self, model: Any, folder: str) -> None:
        """Write one model file."""
        importlib.import_module("separatrix").save(model, str(Path(folder) / "model.sx"))


class Pecos:
    """XR-Linear, as its tutorial does."""

    packages = ("pecos.xmc", "pecos.xmc.xlinear.model")

    def train(self, data: Split, seed: int) -> Any:
        """Embed the labels, cluster them, and train."""
        xmc = importlib.import_module("pecos.xmc")
        learner = importlib.import_module("pecos.xmc.xlinear.model").XLinearModel
        X, Y = data["X_train"], data["Y_train"]
        features = xmc.LabelEmbeddingFactory.create(Y, X, threads=THREADS)
        tree = xmc.Indexer.gen(features, seed=seed, threads=THREADS)
        return learner.train(X, Y, C=tree, threads=THREADS)

    def predict(self, model: Any, data: Split) -> Any:
        """The first five labels, -1 where there are fewer."""
        scores = model.predict(data["X_test"], only_topk=TOP, threads=THREADS)
        top = np.full((scores.shape[0], TOP), -1)
        for i in range(scores.shape[0]):
            span = slice(scores.indptr[i], scores.indptr[i + 1])
            found = scores.indices[span][np.argsort(-scores.data[span], kind="stable")][:TOP]
            top[i, : len(found)] = found
        return top

    def save(self, model: Any, folder: str) -> None:
        """Write the model's folder."""
        model.save(folder)


class Napkin:
    """A probabilistic label tree; it writes its model while training."""

    packages = ("napkinxc.models",)

    def train(self, data: Split, seed: int) -> Any:
        """Train."""
        self.folder = tempfile.TemporaryDirectory(prefix="napkinxc-")
        learner = importlib.import_module("napkinxc.models").PLT
        model = learner(self.folder.name, seed=seed, threads=THREADS)
        model.fit(data["X_train"], [row.indices.tolist() for row in data["Y_train"]])
        return model

    def predict(self, model: Any, data: Split) -> Any:
        """The first five labels, -1 where there are fewer."""
        found = model.predict(data["X_test"], top_k=TOP)
        return np.array([(list(row) + [-1] * TOP)[:TOP] for row in found])

    def save(self, model: Any, folder: str) -> None:
        """Copy the files that training wrote."""
        shutil = importlib.import_module("shutil")
        shutil.copytree(self.folder.name, folder, dirs_exist_ok=True)


CONTENDERS: dict[str, Any] = {
    "separatrix": Ours(),
    "PECOS XR-Linear": Pecos(),
    "napkinXC PLT": Napkin(),
}


# -- measuring -----------------------------------------------------------------------------------


def scores_of(top: Any, data: Split) -> dict[str, float]:
    """P@k and PSP@k of the labels found."""
    from separatrix import metrics

    Y, propensity = data["Y_test"], metrics.propensities(data["Y_train"])
    found = {}
    for k in (1, TOP):
        found[f"P@{k}"] = metrics.precision_at_k(Y, top, k)
        scored = metrics.propensity_scored_precision_at_k(Y, top, k, propensity)
        found[f"PSP@{k}"] = scored
    return found


def _timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - start, time.process_time() - cpu


def one(name: str, folder: Path, seed: int) -> dict[str, float]:
    """Run one contender in this process."""
    data = {part: sparse.load_npz(folder / f"{part}.npz") for part in PARTS}
    contender = CONTENDERS[name]
    for package in contender.packages:  # importing is not training
        importlib.import_module(package)
    model, train, train_cpu = _timed(lambda: contender.train(data, seed))
    top, predict, predict_cpu = _timed(lambda: contender.predict(model, data))
    with tempfile.TemporaryDirectory() as files:
        contender.save(model, files)
        size = sum(path.stat().st_size for path in Path(files).rglob("*") if path.is_file())
    np.save(folder / "top.npy", np.asarray(top, dtype=np.int64))
    each = 1e6 / data["X_test"].shape[0]
    return {
        "train": train,
        "train_cpu": train_cpu,
        "row_us": predict * each,
        "row_cpu_us": predict_cpu * each,
        "model_mb": size / 1e6,
    }


def measure(name: str, folder: str, seed: int, data: Split) -> dict[str, float]:
    """Run one contender in a process of its own, and score what it found."""
    from benchmarks.pecos_client import pecos_python

    python = pecos_python() if isinstance(CONTENDERS[name], Pecos) else sys.executable
    command = [python, str(Path(__file__)), "--one", name, folder, str(seed)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(said.strip().splitlines()[-1])
    return {**found, **scores_of(np.load(Path(folder) / "top.npy"), data)}


def page(kept: dict[str, Any]) -> str:
    """The results as a page of Markdown: medians over the splits, and the range of P@1."""
    lines = [
        "# Very many labels in four corpora",
        "",
        "Generated by `python -m benchmarks.many`; do not edit. How corpora and splits are made",
        "stands at the head of `benchmarks/many.py`. Everybody at their defaults, two threads;",
        "medians over the splits, in brackets the range of P@1. Times are CPU seconds.",
        "",
    ]
    for corpus, entry in kept.items():
        shape = entry["shape"]
        lines += [
            f"## {corpus}",
            "",
            f"{shape[0]:,} rows to train, {shape[1]:,} to test, {shape[2]:,} features, "
            f"{shape[3]:,} labels, {shape[4]:.1f} labels a row.",
            "",
            "| contender | splits | P@1 | P@5 | PSP@1 | PSP@5 | training | a row | model |",
            "|---|---|---|---|---|---|---|---|---|",
            *(_line(name, list(runs.values())) for name, runs in entry["runs"].items()),
            "",
        ]
    return "\n".join(lines)


def _line(name: str, runs: list[dict[str, float]]) -> str:
    mid = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    first = [100 * run["P@1"] for run in runs]
    gone = "" if name in CONTENDERS else " (dropped since)"
    return (
        f"| {name}{gone} | {len(runs)} | {100 * mid['P@1']:.2f} ({min(first):.2f} … "
        f"{max(first):.2f}) | {100 * mid['P@5']:.2f} | {100 * mid['PSP@1']:.2f} "
        f"| {100 * mid['PSP@5']:.2f} | {mid['train_cpu']:.2f} s | {mid['row_cpu_us']:.0f} us "
        f"| {mid['model_mb']:.1f} MB |"
    )


def main(words: list[str]) -> None:
    """Run the contenders and write the page."""
    if words[:1] == ["--one"]:
        print("\n" + json.dumps(one(words[1], Path(words[2]), int(words[3]))))
        return
    from benchmarks.harness import write_atomically

    parser = ArgumentParser(prog="python -m benchmarks.many")
    parser.add_argument("contenders", nargs="*", default=[], metavar="CONTENDER")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--corpus", choices=list(CORPORA), action="append")
    given = parser.parse_args(words)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for corpus in given.corpus or CORPORA:
        for seed in range(given.splits):
            data = CORPORA[corpus](seed)
            entry = kept.setdefault(corpus, {"runs": {}})
            (n, d), (n_test, k) = data["X_train"].shape, data["Y_test"].shape
            entry["shape"] = [n, n_test, d, k, data["Y_train"].nnz / n]
            with tempfile.TemporaryDirectory() as folder:
                for part in PARTS:
                    matrix = sparse.csr_matrix(data[part])
                    sparse.save_npz(Path(folder) / f"{part}.npz", matrix, compressed=False)
                for name in given.contenders or CONTENDERS:
                    found = measure(name, folder, seed, data)
                    entry["runs"].setdefault(name, {})[str(seed)] = found
                    print(corpus, seed, name, found, flush=True)
                    write_atomically(KEPT, json.dumps(kept, indent=1) + "\n")
                    write_atomically(TARGET, page(kept))


if __name__ == "__main__":
    main(sys.argv[1:])
