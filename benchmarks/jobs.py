"""Adapters of whole jobs: from raw rows to a tuned, tested champion."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.spec import Outcome

#: The strengths that both sides tune over: C, and k of Laplace smoothing.
C_GRID = tuple(10.0**power for power in range(-3, 5))
K_GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
LEARNERS = ("naive_bayes", "linear_svm", "logistic_regression")


def prepare(data: Data) -> Data:
    """Return the documents and labels as they are."""
    return data


def compare(data: Data) -> Any:
    """Run `separatrix.Experiment` on the documents; the champion predicts the test documents."""
    experiments = importlib.import_module("separatrix.experiment")
    datasets = importlib.import_module("separatrix.data")

    def documents(X: Any, y: Any) -> Any:
        return datasets.Dataset("text", X, y, ("text",), "label", ("text",))

    test = documents(data.X_test, data.y_test)
    result = experiments.Experiment(
        documents(data.X_train, data.y_train),
        learners=LEARNERS,
        split=experiments.Given(test),
    ).run()
    return result.model.predict(data.X_test)


def grid_search(data: Data, *, solver: str) -> Any:
    """Do the same with scikit-learn: one tf-idf, three grids on one held-out part, two jobs."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, PredefinedSplit, train_test_split
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.svm import LinearSVC

    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform(data.X_train)
    rows = np.arange(len(data.y_train))
    _, held_out = train_test_split(rows, test_size=0.25, stratify=data.y_train, random_state=0)
    fold = np.full(len(rows), -1)
    fold[held_out] = 0
    searches = [
        GridSearchCV(model, grid, cv=PredefinedSplit(fold), n_jobs=2)
        for model, grid in (
            (MultinomialNB(), {"alpha": K_GRID}),
            (LinearSVC(), {"C": C_GRID}),
            (LogisticRegression(solver=solver), {"C": C_GRID}),
        )
    ]
    best = max((search.fit(X, data.y_train) for search in searches), key=lambda s: s.best_score_)
    return best.predict(vectorizer.transform(data.X_test))


def read(data: Data, predictions: Any) -> Outcome:
    """Return the champion's labels of the test documents."""
    return Outcome(predictions=predictions)
