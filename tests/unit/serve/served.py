"""Models of every kind of input and task, as a service gets them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from separatrix import (
    CRF,
    BayesDecision,
    BayesianLinearRegression,
    LinearSVM,
    LogisticRegression,
    NaiveBayes,
    StructuredPerceptron,
    TableEncoder,
    Templates,
    TextVectorizer,
    save,
)
from separatrix.tasks.inputs import Inputs

ROOT = Path(__file__).parents[3]
#: Seconds after which something is not slow but broken, on one core that others use as well.
PATIENCE = 120

MESSAGES = {
    "spam": ["free money now", "win a free prize, money!", "free offer just for you now"],
    "ham": ["see you at lunch today", "meeting at noon as planned", "home for dinner today"],
}
SENTENCES = """
the/D quick/A fox/N saw/V a/D lazy/A dog/N
a/D dog/N barks/V
the/D old/A man/N feeds/V the/D dog/N
he/P saw/V the/D quick/A fox/N in/I the/D snow/N
the/D man/N walks/V in/I a/D quiet/A forest/N
a/D quiet/A fox/N feeds/V in/I the/D forest/N
"""


def texts():
    """Messages and their labels."""
    rows = [(label, text) for label, several in MESSAGES.items() for text in several]
    labels, found = zip(*rows, strict=True)
    return list(found), list(labels)


def people(n=200):
    """A table with a column of every kind, and labels."""
    random = np.random.default_rng(0)
    age = random.integers(20, 80, n).astype(float)
    city = random.choice(["Rome", "Oslo", "Lima"], n).astype(object)
    member = random.random(n) > 0.5
    since = np.array([f"20{year:02d}-03-01" for year in random.integers(10, 24, n)], dtype=object)
    late = age + 20 * (city == "Rome") - 15 * member + 5 * random.normal(size=n) > 55
    age[::17] = np.nan
    table = {"age": age, "city": city, "member": member, "since": since}
    return table, np.where(late, "late", "on time")


def sentences():
    """Words and their tags."""
    pairs = [
        [token.split("/") for token in line.split()] for line in SENTENCES.strip().splitlines()
    ]
    return [[w for w, _ in line] for line in pairs], [[t for _, t in line] for line in pairs]


def with_tags(words, tags):
    """Sentences of two columns."""
    return [list(map(list, zip(*line, strict=True))) for line in zip(words, tags, strict=True)]


@cache
def fitted_models():
    """A model of every kind by name, and what is told of its training."""
    X, y = texts()
    told = {"input": Inputs("text", ("message",), ("message",)), "task": "binary",
            "metric": "accuracy", "test": 0.97, "n_rows": len(X)}  # fmt: skip
    counts = TextVectorizer(use_idf=False, norm=None, ngram_range=(1, 2))
    models = {
        "mail": (make_pipeline(counts, LogisticRegression()).fit(X, y), told),
        "bayes": (make_pipeline(TextVectorizer(use_idf=False, norm=None),
                                NaiveBayes("multinomial")).fit(X, y), told),
        "svm": (make_pipeline(TextVectorizer(), LinearSVM()).fit(X, y), told),
        "cost": (make_pipeline(TextVectorizer(), BayesDecision(
            LogisticRegression(), [[0, 1], [20, 0]])).fit(X, y), told),
    }  # fmt: skip
    table, labels = people()
    inputs = Inputs("table", tuple(table))
    fitted = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, labels)
    models["people"] = fitted, {"input": inputs, "task": "binary"}
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    sugar = {name: X[name].to_numpy() for name in X}
    fitted = make_pipeline(TableEncoder(), BayesianLinearRegression()).fit(sugar, y.to_numpy())
    models["sugar"] = fitted, {"input": Inputs("table", tuple(sugar))}
    X, y = load_digits(return_X_y=True)
    fitted = make_pipeline(MaxAbsScaler(), LogisticRegression(tol=1e-3)).fit(X, y)
    models["digits"] = fitted, {"input": Inputs("images", n_features=64)}
    models["wide"] = LogisticRegression(tol=1e-3).fit(X, y), {}
    iris = load_iris()
    species = iris.target_names[iris.target]
    models["iris"] = LogisticRegression().fit(iris.data, species), {}
    models["frame"] = LogisticRegression().fit(load_iris(as_frame=True).data, species), {}
    words, tags = sentences()
    tagger = make_pipeline(Templates("word[-1..1]\nsuffix(word, 2)"), CRF())
    models["tagger"] = tagger.fit(words, tags), {}
    columns = with_tags(words, tags)
    phrases = [["O" if t in "VI" else "NP" for t in line] for line in tags]
    chunker = make_pipeline(Templates("word\npos[-1..1]"), StructuredPerceptron(random_state=0))
    models["chunker"] = chunker.fit(columns, phrases), {}
    models["crf"] = CRF().fit([[{"word": w} for w in line] for line in words], tags), {}
    return models


def make_models(folder):
    """Write a model of every kind; its path by name."""
    paths = {}
    for name, (model, training) in fitted_models().items():
        paths[name] = folder / f"{name}.sx"
        training = dict(training)
        save(model, paths[name], inputs=training.pop("input", None), training=training)
    return paths


@contextmanager
def service(*paths, options=(), environment=None):
    """A service in a process of its own: (process, port)."""
    source = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-m", "separatrix", "serve", *map(str, paths), "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source, **(environment or {})},
    )
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            found = re.search(r"serving .* at http://\S*:(\d+)", line)
            if found:
                break
        else:
            raise AssertionError("the service did not start: " + "".join(lines))
        yield process, int(found[1])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stderr.close()
