"""Decoding, codes of every origin, and what is refused."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB

from separatrix import (
    AllPairs,
    CodeMatrix,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsAll,
    OutputCode,
    Perceptron,
)
from separatrix.errors import DataError, ParameterError
from separatrix.learners.reductions.output_code import decoding_loss
from tests.unit.learners.reductions.problems import IRIS, IRIS_LABELS, NAMES


@pytest.mark.parametrize("name", ["random_dense", "random_sparse", "exhaustive"])
def test_hamming_decoding_by_brute_force(name):
    model = OutputCode(code=name, decode="hamming", random_state=1).fit(IRIS, IRIS_LABELS)
    answers = np.column_stack([one.predict(IRIS) for one in model.estimators_])
    for row, taken in zip(answers, model.predict(IRIS), strict=True):
        distances = [
            sum(0.5 if m == 0 else float(m != a) for m, a in zip(word, row, strict=True))
            for word in model.code_.values
        ]
        assert taken == int(np.argmin(distances))


def test_codes_of_the_user_and_of_the_confusion():
    own = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    pairs, given = AllPairs(decode="scores").fit(IRIS, NAMES), OutputCode(code=own).fit(IRIS, NAMES)
    np.testing.assert_allclose(pairs.column_scores(IRIS), given.column_scores(IRIS))
    learned = OutputCode(code="confusion", random_state=0).fit(IRIS, NAMES)
    assert any((column != 0).sum() == 2 for column in learned.code_.values.T)
    assert learned.score(IRIS, NAMES) > 0.9


def test_one_vs_all_is_a_code_with_loss_decoding():
    plain = OneVsAll(LogisticRegression()).fit(IRIS, NAMES)
    for loss in ("hinge", "logistic", "squared", "exponential"):
        coded = OutputCode(LogisticRegression(), code="one_vs_all", loss=loss).fit(IRIS, NAMES)
        # phi(f) - phi(-f) falls in f for these losses: the same class wins.
        assert (plain.predict(IRIS) == coded.predict(IRIS)).mean() > 0.99


def test_the_loss_of_an_estimator():
    assert decoding_loss(LinearSVM()) == "hinge"
    assert decoding_loss(LogisticRegression()) == "logistic"
    assert decoding_loss(SGDClassifier(loss="log_loss")) == "logistic"
    assert decoding_loss(GaussianNB()) == "logistic"
    assert decoding_loss(LinearClassifier("squared")) == "squared"
    assert decoding_loss(Ridge()) == "squared"
    assert decoding_loss(Perceptron()) == "hinge"


class LabelsOnly(ClassifierMixin, BaseEstimator):
    """Has neither scores nor probabilities."""

    def fit(self, X, y):
        self.model_ = LinearSVM().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_labels_alone_can_vote_but_have_no_loss():
    with pytest.raises(ParameterError, match="gives labels only"):
        OutputCode(LabelsOnly()).fit(IRIS, NAMES)
    hamming = OutputCode(LabelsOnly(), decode="hamming", random_state=0).fit(IRIS, NAMES)
    assert hamming.score(IRIS, NAMES) > 0.7
    assert AllPairs(LabelsOnly()).fit(IRIS, NAMES).score(IRIS, NAMES) > 0.9
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        AllPairs(LabelsOnly()).fit(IRIS, NAMES, sample_weight=np.ones(150))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (OutputCode(code=[[1, 1], [1, -1], [1, -1]]), "column 0 of the code has no -1"),
        (OutputCode(code=[[1, 1], [-1, -1], [-1, -1]]), "rows 1 and 2 of the code are equal"),
        (OutputCode(code=CodeMatrix([[1], [-1]])), "has 2 rows, but y has 3 classes"),
        (OutputCode(code="golay"), "code must be one of"),
        (OutputCode(decode="nearest"), "decode must be one of"),
        (OutputCode(loss="zero_one"), "loss must be one of"),
        (AllPairs(decode="hamming"), "decode must be one of"),
        (AllPairs(coupling="none"), "coupling must be one of"),
        (OneVsAll(cost=np.ones((3, 3))), "a right answer must cost nothing"),
        (OneVsAll(cost=np.zeros((2, 2))), "but there are 3 classes"),
        (OneVsAll(LinearSVM(C=-1.0)), "C must be a positive"),
    ],
    ids=repr,
)
def test_what_cannot_be_is_named(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(IRIS, NAMES)


def test_bad_rows_are_named():
    X = IRIS.copy()
    X[7, 2] = np.nan
    with pytest.raises(DataError, match="NaN at row 7, column 2"):
        OneVsAll().fit(X, NAMES)
    weights = (NAMES != "setosa").astype(float)
    with pytest.raises(DataError, match="no rows of positive weight"):
        OneVsAll().fit(IRIS, NAMES, sample_weight=weights)
    with pytest.raises(DataError, match="no rows of positive weight"):
        AllPairs(GaussianNB()).fit(IRIS, NAMES, sample_weight=weights)
    with pytest.raises(AttributeError, match="predict_proba"):
        OneVsAll(LinearSVM()).fit(IRIS, NAMES).predict_proba(IRIS)
