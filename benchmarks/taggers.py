"""S10 to S12: the drop-in for sklearn-crfsuite beside it, on corpora as people have them.

    python -m benchmarks.taggers fit       # S10: c1 = c2 = .1, from lists of dicts to weights
    python -m benchmarks.taggers predict   # S11: lists of dicts, and of str, to labels
    python -m benchmarks.taggers labels    # S12: many labels, generated
    python -m benchmarks.taggers brown     # 57,340 sentences, 457 labels: ours alone

Features are those of sklearn-crfsuite's tutorial. Every figure is the CPU time of a process of its
own (`time.process_time`, so that neighbors matter less), both on one thread; the objective is
computed anew from the weights, by one function for both.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import multiprocessing
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.data import data_root

#: Name -> training file, test file, column of the label, encoding.
CORPORA = {
    "conll2000": ("conll2000/train.txt.gz", "conll2000/test.txt.gz", 2, "utf-8"),
    "conll2002-esp": ("conll2002/esp.train.gz", "conll2002/esp.testb.gz", 2, "latin-1"),
    "conll2002-ned": ("conll2002/ned.train.gz", "conll2002/ned.testb.gz", 2, "latin-1"),
    "wnut17": ("wnut17/wnut17train.conll.gz", "wnut17/emerging.test.annotated.gz", 1, "utf-8"),
}
PEERS = ("CRFsuite", "separatrix")
Sentences = list[list[list[str]]]


def sentences(path: str, encoding: str) -> Iterator[list[list[str]]]:
    """Tokens in columns of every sentence of a file."""
    tokens: list[list[str]] = []
    with gzip.open(data_root() / path, "rt", encoding=encoding) as file:
        for line in file:
            columns = line.split()
            if columns and columns[0] != "-DOCSTART-":
                tokens.append(columns)
            elif tokens:
                yield tokens
                tokens = []
    if tokens:
        yield tokens


def features(sentence: list[list[str]], at: int, has_pos: bool) -> dict[str, Any]:
    """The features of sklearn-crfsuite's tutorial."""

    def of(place: int, prefix: str) -> dict[str, Any]:
        word = sentence[place][0]
        found: dict[str, Any] = {
            f"{prefix}word.lower()": word.lower(),
            f"{prefix}word.istitle()": word.istitle(),
            f"{prefix}word.isupper()": word.isupper(),
        }
        if has_pos:
            pos = sentence[place][1]
            found |= {f"{prefix}postag": pos, f"{prefix}postag[:2]": pos[:2]}
        return found

    word = sentence[at][0]
    found = {"bias": 1.0, "word[-3:]": word[-3:], "word[-2:]": word[-2:]}
    found |= {"word.isdigit()": word.isdigit(), **of(at, "")}
    found |= of(at - 1, "-1:") if at else {"BOS": True}
    found |= of(at + 1, "+1:") if at + 1 < len(sentence) else {"EOS": True}
    return found


def load(corpus: str, *, strings: bool = False) -> tuple[Any, Any, Any, Any]:
    """Train and test items and labels; with `strings`, an item is a list of str."""
    train, test, label, encoding = CORPORA[corpus]
    found: list[Any] = []
    for path in (train, test):
        rows = list(sentences(path, encoding))
        items = [[features(row, at, label == 2) for at in range(len(row))] for row in rows]
        if strings:
            items = [[_names(item) for item in row] for row in items]  # type: ignore[misc]
        found += [items, [[token[label] for token in row] for row in rows]]
    return found[0], found[1], found[2], found[3]


def _names(item: dict[str, Any]) -> list[str]:
    return [f"{k}:{v}" if isinstance(v, str) else k for k, v in item.items() if v]


def make(peer: str, **params: Any) -> Any:
    """A CRF of a peer."""
    if peer == "CRFsuite":
        return importlib.import_module("sklearn_crfsuite").CRF(**params)
    return importlib.import_module("separatrix.compat.sklearn_crfsuite").CRF(n_jobs=1, **params)


def objective(state: Any, transitions: Any, X: Any, y: Any, c1: float, c2: float) -> float:
    """c1 |w|_1 + c2 |w|^2 - log-likelihood of weights by name, in double precision."""
    data = importlib.import_module("separatrix.data").as_attribute_sequences(X)
    labels = sorted({label for row in y for label in row})
    numbers = {label: at for at, label in enumerate(labels)}
    names = data.vocabulary.numbers
    W = np.zeros((len(names), len(labels)))
    for (attribute, label), weight in state.items():
        W[names[attribute], numbers[label]] = weight
    T = np.zeros((len(labels), len(labels)))
    for (before, label), weight in transitions.items():
        T[numbers[before], numbers[label]] = weight
    chain = importlib.import_module("separatrix.structures.chain")
    nodes = np.asarray(data.matrix.astype(np.float64) @ W)
    codes = np.array([numbers[label] for row in y for label in row])
    inner = np.ones(len(codes), dtype=bool)
    inner[data.offsets[:-1][data.lengths > 0]] = False
    at = np.flatnonzero(inner)
    score = nodes[np.arange(len(codes)), codes].sum() + T[codes[at - 1], codes[at]].sum()
    scores = chain.ChainScores.of(nodes, T, data.lengths)
    log_z = float(chain.log_partition(scores).sum())
    every = np.concatenate([W.ravel(), T.ravel()])
    penalty = c1 * np.abs(every).sum() + c2 * (every**2).sum()
    return float(log_z - score + penalty)


def _measured(connection: Any, work: Any, arguments: tuple[Any, ...]) -> None:
    connection.send(work(*arguments))


def apart(work: Any, *arguments: Any) -> Any:
    """The result of a call in a process of its own."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_measured, args=(there, work, arguments))
    process.start()
    result = here.recv()
    process.join()
    return result


def memory() -> float:
    """Peak memory of the process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit(
    peer: str, corpus: str, params: dict[str, Any], target: float
) -> tuple[float, float, float, float, float]:
    """CPU seconds, objective, F1 on the test file, MB above the data's, seconds to `target`."""
    metrics = importlib.import_module("separatrix.metrics")
    X, y, X_test, y_test = load(corpus)
    model, before = make(peer, **params), memory()
    start, began = time.process_time(), time.perf_counter()
    model.fit(X, y)
    seconds, wall = time.process_time() - start, time.perf_counter() - began
    peak = memory() - before
    f1 = metrics.chunk_f1(y_test, [list(row) for row in model.predict(X_test)])
    weights = model.state_features_, model.transition_features_
    value = objective(*weights, X, y, params.get("c1", 0.0), params.get("c2", 0.0))
    # The log tells wall time of every pass: CPU time is taken in the same proportion.
    passes = model.training_log_.iterations
    at = next((n for n, one in enumerate(passes, 1) if one["loss"] <= target), len(passes))
    reached = seconds * (1 - sum(one["time"] for one in passes[at:]) / wall)
    return seconds, value, f1, peak, reached if value <= target else float("nan")


def predict(peer: str, corpus: str, strings: bool) -> float:
    """CPU seconds of labelling the test file, the best of five."""
    X, y, X_test, _ = load(corpus, strings=strings)
    model = make(peer, algorithm="ap", max_iterations=3).fit(X, y)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        model.predict(X_test)
        seconds.append(time.process_time() - start)
    return min(seconds)


def many_labels(K: int, seed: int = 0, n_sentences: int = 2000) -> tuple[Any, Any]:
    """Generated sentences whose labels depend on words and on the label before."""
    # Train and test sentences share the chain of labels.
    chain = np.random.default_rng(K).dirichlet(np.full(K, 10.0 / K), size=K).cumsum(axis=1)
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_sentences):
        label, row, tags = int(random.integers(K)), [], []
        for _ in range(int(random.integers(5, 36 if n_sentences > 2000 else 25))):
            label = min(int(np.searchsorted(chain[label], random.random())), K - 1)
            word = int(random.integers(12)) * K + label if random.random() < 0.8 else -1
            row.append({"word": str(word), "end": str(word)[-2:]})
            tags.append(f"L{label}")
        X.append(row)
        y.append(tags)
    return X, y


def fit_brown(params: dict[str, Any]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and accuracy at the size of the Brown corpus, on all threads."""
    X, y = many_labels(457, n_sentences=57_340)
    X_test, y_test = many_labels(457, 1)
    compat = importlib.import_module("separatrix.compat.sklearn_crfsuite")
    model = compat.CRF(**params)
    start, began = time.process_time(), time.perf_counter()
    model.fit(X, y)
    seconds, wall = time.process_time() - start, time.perf_counter() - began
    return seconds, wall, model.score(X_test, y_test)


def fit_labels(peer: str, K: int, params: dict[str, Any]) -> tuple[float, float, float]:
    """CPU seconds, objective and accuracy with K labels."""
    X, y = many_labels(K)
    X_test, y_test = many_labels(K, 1)
    model = make(peer, **params)
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    weights = model.state_features_, model.transition_features_
    value = objective(*weights, X, y, params.get("c1", 0.0), params.get("c2", 0.0))
    return seconds, value, model.score(X_test, y_test)


def main() -> None:
    """Print the rows that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["fit", "predict", "labels", "brown"])
    parser.add_argument("--corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--labels", nargs="*", type=int, default=[126, 300, 1000])
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--delta", type=float, default=1e-3)
    given = parser.parse_args()
    both = {"c1": 0.1, "c2": 0.1, "max_iterations": given.iterations}
    ours = {**both, "delta": given.delta}
    if given.what == "brown":
        for params in (
            {"algorithm": "ap", "max_iterations": 5},
            {"c2": 1.0, "max_iterations": given.iterations, "delta": given.delta},
        ):
            seconds, wall, score = apart(fit_brown, params)
            print(f"{params}: {seconds:.1f} s, {wall:.1f} s on the clock, accuracy {score:.4f}",
                  flush=True)  # fmt: skip
    for corpus in given.corpora if given.what in ("fit", "predict") else ():
        found = {}
        if given.what == "fit":
            target = np.inf
            for peer in PEERS:
                params = both if peer == "CRFsuite" else ours
                seconds, value, f1, peak, reached = apart(fit, peer, corpus, params, target)
                found[peer] = seconds
                print(f"{corpus:14} {peer:11} {seconds:7.2f} s  P {value:10.2f}  F1 {100 * f1:.2f}"
                      f"  +{peak:.0f} MB", flush=True)  # fmt: skip
                if peer == "CRFsuite":
                    target = value
                else:
                    print(f"{corpus:14} P of CRFsuite in about {reached:.2f} s: "
                          f"{found['CRFsuite'] / reached:.2f}x", flush=True)  # fmt: skip
        else:
            for strings in (False, True):
                for peer in PEERS:
                    found[peer] = apart(predict, peer, corpus, strings)
                    kind = "str" if strings else "dict"
                    print(f"{corpus:14} {kind:4} {peer:11} {found[peer]:.3f} s", flush=True)
        print(f"{corpus:14} ratio {found['CRFsuite'] / found['separatrix']:.2f}x", flush=True)
    for K in given.labels if given.what == "labels" else ():
        found = {}
        for peer in PEERS:
            seconds, value, score = apart(fit_labels, peer, K, {"c2": 1.0, "max_iterations": 100})
            found[peer] = seconds
            print(f"{K:5} labels {peer:11} {seconds:7.2f} s  P {value:10.2f}  accuracy {score:.4f}",
                  flush=True)  # fmt: skip
        print(f"{K:5} labels ratio {found['CRFsuite'] / found['separatrix']:.2f}x", flush=True)


if __name__ == "__main__":
    main()
