"""Champions of `separatrix compare` beside scikit-learn's best, on the same split of the same data.

    python -m benchmarks.champions [NAME ...]

For every data set: the held-out accuracy of our champion, and of the best of scikit-learn's
LogisticRegression, LinearSVC and naive Bayes, each tuned over the same strengths on the same
held-out rows; the standard error of the former; and the seconds of both. The table is written to
benchmarks/CHAMPIONS.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.data import data_root
from benchmarks.harness import write_atomically
from benchmarks.jobs import C_GRID, K_GRID
from separatrix.data import Dataset, read
from separatrix.experiment import Experiment, Inputs, Stratified
from separatrix.experiment.source import as_dataset

SEED = 0
TARGET = Path(__file__).parent / "CHAMPIONS.md"


class Line(NamedTuple):
    """One row of the table."""

    name: str
    champion: str
    ours: float
    theirs: float
    best: str
    standard_error: float
    our_seconds: float
    their_seconds: float


def made_up() -> Dataset:
    """A table of 200 rows with numbers, words, dates and gaps."""
    generator = np.random.default_rng(5)
    n = 200
    income = generator.normal(3.0, 1.0, n).round(2)
    city = generator.choice(np.array(["Rome", "Oslo", "Lima", None], dtype=object), n)
    age = np.where(generator.random(n) < 0.1, np.nan, generator.normal(40, 10, n).round())
    taste = income + (city == "Oslo") + generator.normal(0, 0.5, n)
    columns = {"income": income, "city": city, "age": age}
    bought = np.where(taste > 3.2, "yes", "no")
    return Dataset("table", columns, bought, tuple(columns), "bought", source="made-up")


def _file(*parts: str, target: str = "auto") -> Callable[[], Dataset]:
    return lambda: as_dataset(read(data_root().joinpath(*parts)), target)


SOURCES: dict[str, Callable[[], Dataset]] = {
    "sms_spam": _file("sms_spam", "SMSSpamCollection.gz"),
    "20newsgroups": _file("20newsgroups", "train.jsonl.gz"),
    "letter": _file("uci", "letter.csv.gz"),
    "a9a": _file("a9a", "a9a.gz"),
    "made-up table": made_up,
}


def _prepared(inputs: Inputs, train: Any, held_out: Any) -> tuple[Any, Any, bool]:
    """What a careful user of scikit-learn feeds its classifiers; whether it is never negative."""
    if inputs.kind == "text":
        step: Any = TfidfVectorizer(sublinear_tf=True)
    elif inputs.kind == "table":
        import pandas as pd

        train, held_out = pd.DataFrame(train), pd.DataFrame(held_out)
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        words = OneHotEncoder(handle_unknown="ignore")
        step = make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (words, make_column_selector(dtype_exclude="number")),
        )
    else:
        step = MaxAbsScaler()
    return step.fit_transform(train), step.transform(held_out), inputs.kind != "table"


def scikit_learn(inputs: Inputs, train: Dataset, held_out: Dataset) -> tuple[float, str, float]:
    """Best held-out accuracy of the three tuned classifiers, its name, and the seconds."""
    start = time.perf_counter()
    X, X_held_out, counts = _prepared(inputs, inputs.take(train), inputs.take(held_out))
    candidates: list[tuple[str, Any]] = [
        *((f"LogisticRegression C = {C:g}", LogisticRegression(C=C)) for C in C_GRID),
        *((f"LinearSVC C = {C:g}", LinearSVC(C=C)) for C in C_GRID),
    ]
    if counts:
        candidates += [(f"MultinomialNB alpha = {k:g}", MultinomialNB(alpha=k)) for k in K_GRID]
    else:
        X, X_held_out = (Z.toarray() if hasattr(Z, "toarray") else Z for Z in (X, X_held_out))
        candidates.append(("GaussianNB", GaussianNB()))
    best, name = -1.0, ""
    for label, model in candidates:
        score = float(np.mean(model.fit(X, train.y).predict(X_held_out) == held_out.y))
        if score > best:
            best, name = score, label
    return best, name, time.perf_counter() - start


def measure(name: str) -> Line:
    """Run both sides on one data set."""
    data = SOURCES[name]()
    start = time.perf_counter()
    result = Experiment(data, random_state=SEED).run()
    our_seconds = time.perf_counter() - start
    split = Stratified().rows(data, np.random.default_rng(SEED))
    train, held_out = data.take(split[0]), data.take(split[1])
    theirs, best, their_seconds = scikit_learn(result.inputs, train, held_out)
    ours = result.champion.held_out
    error = float(np.sqrt(ours * (1 - ours) / len(held_out)))
    return Line(
        name, result.champion.learner, ours, theirs, best, error, our_seconds, their_seconds
    )


def main(names: list[str]) -> int:
    """Print and write the table; 1 if a champion is more than one standard error behind."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = [measure(name) for name in (names or list(SOURCES))]
    text = [
        "# Champions beside scikit-learn's best",
        "",
        "`python -m benchmarks.champions`: held-out accuracy on the same split; all learners that",
        "suit the data, against LogisticRegression, LinearSVC and naive Bayes, tuned.",
        "",
        "| data | champion | ours | theirs | their best | standard error | our s | their s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    behind = 0
    for line in lines:
        behind += line.ours < line.theirs - line.standard_error
        text.append(
            f"| {line.name} | {line.champion} | {line.ours:.4f} | {line.theirs:.4f} | {line.best} "
            f"| {line.standard_error:.4f} | {line.our_seconds:.1f} | {line.their_seconds:.1f} |"
        )
    print("\n".join(text))
    if not names:
        write_atomically(TARGET, "\n".join(text) + "\n")
    return int(behind > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
