"""Made-up data and learners for the experiments of these tests."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from separatrix.data import Dataset
from separatrix.registry import Learner

#: A peer with partial_fit, so that the procedure is tested apart from our own learners.
PEER = Learner(
    "peer",
    "sklearn.linear_model:SGDClassifier",
    "stochastic peer",
    "passes",
    parameter="passes",
    grid=tuple(float(n) for n in range(1, 9)),
)
TWIN = Learner("twin", PEER.target, "its twin", "passes", parameter="passes", grid=PEER.grid)
QUICK = ("logistic_regression", "naive_bayes")


def blobs(n=200, n_classes=3, seed=0, spread=1.0):
    """Gaussian classes in four columns: X of shape (n, 4), and labels a, b, c, …."""
    random = np.random.default_rng(seed)
    codes = random.permutation(np.arange(n) % n_classes)
    X = 2.0 * codes[:, None] * np.array([1, -0.5, 0.2, 0.0]) + spread * random.normal(size=(n, 4))
    return X, np.array(list("abcdefgh"))[codes]


def table(n=200, seed=0):
    """A table of numbers, categories and gaps, with the class in `class`."""
    random = np.random.default_rng(seed)
    age = random.normal(50, 10, n)
    city = random.choice(["Rome", "Oslo", "Bonn"], n).astype(object)
    label = np.where(age + 15 * (city == "Rome") + random.normal(0, 5, n) > 55, "old", "young")
    age[random.random(n) < 0.1] = np.nan
    city[random.random(n) < 0.1] = None
    return {"age": age, "city": city, "noise": random.normal(size=n), "class": label.astype(object)}


def texts(n=120, seed=0):
    """Short texts of two classes as a data set."""
    random = np.random.default_rng(seed)
    words = {"ham": "lunch today see you at home", "spam": "free money win prize now offer"}
    labels = np.array(["ham", "spam"], dtype=object)[np.arange(n) % 2]
    rows = [
        " ".join(random.choice((words[label] + " the and a to").split(), 6)) for label in labels
    ]
    return Dataset(
        "text", np.array(rows, dtype=object), labels, ("text",), "label", text_names=("text",)
    )


def line(n=300, seed=0, noise=0.5):
    """A linear regression in three columns: a table with the quantity in `price`."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = 3 + X @ [2.0, -1.0, 0.0] + noise * random.normal(size=n)
    return {"first": X[:, 0], "second": X[:, 1], "third": X[:, 2], "price": y}


def conll(n=60, seed=0, extra=""):
    """Sentences as the text of a CoNLL file: word, part of speech, chunk."""
    random = np.random.default_rng(seed)
    words = {
        "DT": ["the", "a", "every"],
        "JJ": ["old", "red", "large", "round"],
        "NN": ["cat", "dog", "house", "idea", "river"],
        "VB": ["sees", "likes", "finds"],
    }
    lines = []
    for number in range(n):
        begun = ""
        # Where two phrases meet, a noun before a word tells that the next one begins.
        for tag in [*_phrase(random), "VB", *_phrase(random), *_phrase(random), "."]:
            kind = {"VB": "VP", ".": ""}.get(tag, "NP")
            label = f"{'I' if kind == begun else 'B'}-{kind}" if kind else "O"
            word = str(random.choice(words[tag])) if kind else "."
            lines.append(f"{word}{number % 7 if tag == 'NN' else ''} {tag} {label}")
            begun = "" if tag == "NN" else kind
        lines.append("")
    return "\n".join(lines) + "\n" + extra


def _phrase(random):
    """With or without an article, so that the word alone does not tell whether it begins one."""
    return [*["DT"] * int(random.integers(2)), *["JJ"] * int(random.integers(3)), "NN"]


class Slow(ClassifierMixin, BaseEstimator):
    """Takes a second of `clock` for every pass."""

    clock: Ticking

    def fit(self, X, y):
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X, y, classes):
        self.classes_ = classes
        self.clock.now += 1.0
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.classes_[0])


SLOW = Learner(
    "slow",
    f"{__name__}:Slow",
    "a second for every pass",
    "passes",
    parameter="passes",
    grid=tuple(float(n) for n in range(1, 21)),
)


class Ticking:
    """A clock to stand for time.perf_counter: every look at it takes so many seconds."""

    def __init__(self, tick=0.0):
        self.now, self.tick = 0.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now
