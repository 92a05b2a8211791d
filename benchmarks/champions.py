"""What `separatrix train` reaches on texts and tables, beside scripts that people write.

    python -m benchmarks.champions [NAME ...]

Five sets of texts, each with its own test rows: the best of logistic regression and support vector
machines by held-out rows, on terms that are searched there,
beside scikit-learn's LinearSVC on words and pairs of words (of banking77 with
characters), untuned. Tables: adult_raw with its own test rows, and the mean over the UCI tables and
those that come with scikit-learn (30 % test rows): logistic regression with plain and with
searched features, beside scikit-learn's HistGradientBoosting. All choices are made
on held-out rows; scores are those of the test rows; seconds are CPU seconds of this process. The
table is written to benchmarks/CHAMPIONS.md.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets as bundled
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from benchmarks.data import data_root
from benchmarks.harness import write_atomically
from separatrix.data import Dataset, read
from separatrix.experiment import Experiment, Given, Stratified
from separatrix.experiment.source import as_dataset
from separatrix.tasks.preparation import Tables

SEED = 0
TARGET = Path(__file__).parent / "CHAMPIONS.md"
UCI: tuple[str, ...] = (
    *("soybean", "letter", "satimage", "abalone", "optdigits", "glass", "car", "spectrometer"),
    *("yeast", "page-blocks", "spambase", "vowel"),
)
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
LEARNERS = ["logistic_regression"]
#: Of texts also the machines that LinearSVC is one of, for two classes and for more.
MACHINES = {True: ["linear_svm", "squared_hinge_svm"], False: ["linear_svm", "one_vs_all"]}
#: Classes with fewer rows are left out: they cannot be split.
FEWEST = 10


class Line(NamedTuple):
    """One row of the table."""

    name: str
    plain: float
    ours: float
    features: str
    theirs: float
    peer: str
    our_seconds: float
    their_seconds: float


def _texts(X: list[str], y: list[str]) -> Dataset:
    return Dataset("text", np.array(X, dtype=object), np.array(y), ("text",), "label")


def _lines(*parts: str, encoding: str = "utf-8") -> list[str]:
    with gzip.open(data_root().joinpath(*parts), "rt", encoding=encoding) as file:
        return [line.rstrip("\n") for line in file]


def sms_spam() -> tuple[Dataset, Dataset]:
    """Seven tenths of the messages train."""
    rows = [line.split("\t", 1) for line in _lines("sms_spam", "SMSSpamCollection.gz")]
    order = np.random.default_rng(SEED).permutation(len(rows))
    parts = np.split(order, [len(rows) * 7 // 10])
    first, second = ([rows[at] for at in part] for part in parts)
    return (
        _texts([text for _, text in first], [label for label, _ in first]),
        _texts([text for _, text in second], [label for label, _ in second]),
    )


def trec_qc() -> tuple[Dataset, Dataset]:
    """The coarse types."""
    found = []
    for part in ("train", "test"):
        rows = [
            line.split(" ", 1) for line in _lines("trec_qc", f"{part}.txt.gz", encoding="latin-1")
        ]
        found.append(_texts([text for _, text in rows], [kind.split(":")[0] for kind, _ in rows]))
    return found[0], found[1]


def _files(
    folder: str, ending: str, text: str, label: str
) -> Callable[[], tuple[Dataset, Dataset]]:
    def load() -> tuple[Dataset, Dataset]:
        found = []
        for part in ("train", "test"):
            data = read(data_root() / folder / f"{part}.{ending}", target=label)
            X = data.X[text] if isinstance(data.X, dict) else data.X
            found.append(_texts(list(map(str, X)), list(map(str, data.y))))
        return found[0], found[1]

    return load


TEXTS: dict[str, Callable[[], tuple[Dataset, Dataset]]] = {
    "sms_spam": sms_spam,
    "trec_qc": trec_qc,
    "banking77": _files("banking77", "csv.gz", "text", "category"),
    "20newsgroups": _files("20newsgroups", "jsonl.gz", "text", "label"),
    "imdb": _files("imdb", "jsonl.gz", "text", "label"),
}


def measure_text(name: str) -> Line:
    """The champion on searched terms beside LinearSVC on fixed ones."""
    train, test = TEXTS[name]()
    learners = [*LEARNERS, *MACHINES[len(np.unique(train.y)) == 2]]
    given: dict[str, Any] = {"learners": learners, "split": Given(test), "random_state": SEED}
    plain = Experiment(train, **given, features="plain").run()
    start = time.process_time()
    found = Experiment(train, **given).run()
    ours = time.process_time() - start
    start = time.process_time()
    words: Any = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    peer = "LinearSVC, 1–2-grams"
    if name == "banking77":
        letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
        words, peer = make_union(words, letters), "LinearSVC, 1–2-grams and 2–5 characters"
    script = make_pipeline(words, LinearSVC()).fit(train.X, train.y)
    theirs = float(np.mean(script.predict(test.X) == test.y))
    seconds = time.process_time() - start
    return Line(
        name, plain.test_score, found.test_score, _chosen(found), theirs, peer, ours, seconds
    )


def _chosen(result: Any) -> str:
    return next((one.name for one in result.features if one.chosen), "plain")


def adult() -> tuple[Dataset, Dataset]:
    """The census table; its test file has a line before the rows, and dots behind the labels."""
    names = ["age", "workclass", "weight", "education", "years", "marital", "occupation"]
    names += ["relationship", "race", "sex", "gain", "loss", "hours", "country", "income"]
    found = []
    for part, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1)):
        lines = [line for line in _lines("adult_raw", part)[skipped:] if line]
        text = "\n".join(
            [",".join(names), *(line.rstrip(".").replace(", ", ",") for line in lines)]
        )
        found.append(as_dataset(read(text.encode()), "income"))
    return found[0], found[1]


def table(name: str) -> Dataset:
    """A table of UCI or of scikit-learn, without classes of few rows."""
    if name in BUNDLED:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
        data = as_dataset(columns | {"class": y.astype(str)}, "class")
    else:
        path = data_root() / "uci" / f"{name}.csv.gz"
        if not path.exists():
            path = data_root() / "uci" / f"{name}.train.csv.gz"
        data = as_dataset(read(path), "class")
    labels, counts = np.unique(np.asarray(data.y), return_counts=True)
    return data.take(np.flatnonzero(np.isin(data.y, labels[counts >= FEWEST])))


def _table(name: str, data: Dataset, split: Any, test: Dataset | None = None) -> Line:
    given: dict[str, Any] = {"learners": LEARNERS, "split": split, "random_state": SEED}
    given["task"] = "classification"
    plain = Experiment(data, **given, features="plain").run()
    start = time.process_time()
    found = Experiment(data, **given).run()
    ours = time.process_time() - start
    if test is None:
        parts = split.rows(
            data, np.random.default_rng(SEED), np.unique(data.y, return_inverse=True)[1]
        )
        train, test = data.take(np.concatenate(parts[:2])), data.take(parts[2])
    else:
        train = data
    start = time.process_time()
    encoder = Tables(plain.inputs).fit(plain.inputs.take(train), train.y)
    encoder.set_params(sparse_output=False)
    trees = HistGradientBoostingClassifier(random_state=SEED)
    trees.fit(encoder.transform(plain.inputs.take(train)), train.y)
    theirs = float(trees.score(encoder.transform(plain.inputs.take(test)), test.y))
    seconds = time.process_time() - start
    return Line(
        name,
        plain.test_score,
        found.test_score,
        _chosen(found),
        theirs,
        "boosted trees",
        ours,
        seconds,
    )


def measure_table(name: str) -> Line:
    """Linear models with plain and searched features beside boosted trees."""
    if name == "adult_raw":
        train, test = adult()
        return _table(name, train, Given(test), test)
    return _table(name, table(name), Stratified((0.525, 0.175, 0.3)))


def mean_of(lines: list[Line]) -> Line:
    """The mean over tables."""
    values = np.array([[x.plain, x.ours, x.theirs, x.our_seconds, x.their_seconds] for x in lines])
    plain, ours, theirs, our_seconds, their_seconds = values.mean(axis=0).tolist()
    closed = f"{100 * (ours - plain) / (theirs - plain):.0f} % of the gap closed"
    name = f"mean of {len(lines)} tables"
    return Line(name, plain, ours, closed, theirs, "boosted trees", our_seconds, their_seconds)


def main(names: list[str]) -> int:
    """Print and write the table."""
    known = [*TEXTS, "adult_raw", *UCI, *BUNDLED]
    lines = []
    for name in names or known:
        lines.append(measure_text(name) if name in TEXTS else measure_table(name))
        print(lines[-1], file=sys.stderr, flush=True)
    tables = [line for line in lines if line.name in (*UCI, *BUNDLED)]
    if len(tables) > 1:
        lines.append(mean_of(tables))
    text = [
        "# Texts and tables beside scripts that people write",
        "",
        "`python -m benchmarks.champions`: accuracy on test rows, features and settings chosen on",
        "held-out rows; CPU seconds, ours with the search of features and settings.",
        "",
        "| data | plain features | searched features | which | theirs | peer | our s | their s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in lines:
        text.append(
            f"| {one.name} | {one.plain:.4f} | {one.ours:.4f} | {one.features} | {one.theirs:.4f} "
            f"| {one.peer} | {one.our_seconds:.1f} | {one.their_seconds:.1f} |"
        )
    print("\n".join(text))
    if not names:
        write_atomically(TARGET, "\n".join(text) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
