"""Probabilities from the scores of learners that have none."""

import numpy as np
import pytest

from separatrix import CRF, StructuredPerceptron, StructuredSVM
from separatrix.errors import DataError
from separatrix.learners.structured.calibrated import as_crf, calibration_factor


def _sentences(n, seed):
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = random.integers(3, size=random.integers(2, 9))
        # One word in five says nothing about its label.
        words = [
            f"w{label}{random.integers(4)}" if random.random() < 0.8 else "and" for label in labels
        ]
        X.append([[word] for word in words])
        y.append([f"L{label}" for label in labels])
    return X, y


@pytest.mark.parametrize("learner", [StructuredPerceptron(random_state=0), StructuredSVM(C=10.0)])
def test_labels_stay_and_probabilities_are_calibrated(learner):
    learner.fit(*_sentences(120, 0))
    X, y = _sentences(150, 1)
    factor = calibration_factor(learner, X, y)
    crf = as_crf(learner, factor)
    assert crf.predict(X) == learner.predict(X)

    def surprise(model):
        numbers = {label: k for k, label in enumerate(model.classes_.tolist())}
        chances = [
            row[numbers[label]]
            for rows, labels in zip(model.predict_proba(X), y, strict=True)
            for row, label in zip(rows, labels, strict=True)
        ]
        return -np.log(chances).mean()

    best = surprise(crf)
    assert best < surprise(as_crf(learner, 2 * factor))
    assert best < surprise(as_crf(learner, factor / 2))
    likely = np.concatenate([rows.max(axis=1) for rows in crf.predict_proba(X)])
    right = np.concatenate(
        [np.array(a) == np.array(b) for a, b in zip(crf.predict(X), y, strict=True)]
    )
    assert abs(likely.mean() - right.mean()) < 0.05


def test_a_crf_needs_hardly_any_factor():
    crf = CRF(C=30.0).fit(*_sentences(300, 2))
    assert 0.7 < calibration_factor(crf, *_sentences(300, 3)) < 1.5


def test_unknown_labels_do_not_count():
    learner = StructuredPerceptron(random_state=0).fit(*_sentences(50, 0))
    X, y = _sentences(60, 1)
    odd = [["other"] * len(row) for row in y]
    assert calibration_factor(learner, X + X, y + odd) == pytest.approx(
        calibration_factor(learner, X, y)
    )
    with pytest.raises(DataError, match="no label"):
        calibration_factor(learner, X, odd)
    with pytest.raises(DataError, match="more than zero"):
        as_crf(learner, 0.0)
