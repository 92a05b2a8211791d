"""Models and files as a person would have them, made once; the command line in this process."""

from __future__ import annotations

import csv
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from separatrix import (
    BayesDecision,
    BayesianLinearRegression,
    LinearSVM,
    LogisticRegression,
    NaiveBayes,
    TableEncoder,
    TextVectorizer,
    save,
)
from separatrix.cli.app import main
from separatrix.data import read
from separatrix.tasks.inputs import Inputs

TEXTS = {
    "spam": ["free money now", "win a free prize, money!", "free offer just for you now"],
    "ham": ["see you at lunch today", "meeting at noon as planned", "home for dinner today"],
}


class Done(NamedTuple):
    """What a run printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd):
    """Run the command line in this process."""

    def call(*words):
        code = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with data files, and a model of each kind of input and task."""
    folder = tmp_path_factory.mktemp("home")
    _mail(folder)
    _people(folder)
    _sugar(folder)
    X, y = load_digits(return_X_y=True)
    digits = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(X, y.astype(str))
    save(digits, folder / "digits.sx", inputs=Inputs("images", n_features=64))
    iris = load_iris()
    bare = LogisticRegression().fit(iris.data, iris.target_names[iris.target])
    save(bare, folder / "bare.sx")
    return folder


def _mail(folder):
    rows = [(label, text) for label, texts in TEXTS.items() for text in texts] * 20
    with open(folder / "mail.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("label", "message"), *rows])
    data = read(folder / "mail.csv", text="message")
    inputs = Inputs.of(data)
    learners = {
        "mail": LogisticRegression(),
        "bayes": NaiveBayes("multinomial"),
        "svm": LinearSVM(),
        "cost": BayesDecision(LogisticRegression(), [[0, 1], [20, 0]]),
    }
    for name, learner in learners.items():
        model = make_pipeline(TextVectorizer(use_idf=False, norm=None), learner)
        training = {"task": "binary", "command": "separatrix compare …"}
        model.fit(inputs.take(data), data.y)
        save(model, folder / f"{name}.sx", training=training, inputs=inputs)


def _people(folder):
    random = np.random.default_rng(0)
    with open(folder / "people.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["age", "city", "code", "class"])
        for _ in range(200):
            age, city = random.integers(20, 80), random.choice(["Rome", "Oslo"])
            code = random.choice(["007", "12", "x9"])
            late = age + 20 * (city == "Rome") + 10 * (code == "007") + 5 * random.normal() > 60
            shown = age if random.random() > 0.1 else ""
            writer.writerow([shown, city, code, "yes" if late else "no"])
    data = read(folder / "people.csv")
    inputs = Inputs.of(data)
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(inputs.take(data), data.y)
    save(model, folder / "people.sx", inputs=inputs)


def _sugar(folder):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(target=y).to_csv(folder / "sugar.csv", index=False)
    data = read(folder / "sugar.csv")
    inputs = Inputs.of(data)
    model = make_pipeline(TableEncoder(), BayesianLinearRegression())
    save(
        model.fit(inputs.take(data), data.y),
        folder / "sugar.sx",
        training={"task": "regression"},
        inputs=inputs,
    )
