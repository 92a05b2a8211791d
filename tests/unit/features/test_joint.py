import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer

from separatrix.errors import DataError, ParameterError
from separatrix.features import JointMap

HALF = np.sqrt(2) / 2


def test_multivector_weights_of_the_notes():
    w = np.array([-HALF, HALF, 0, 1, HALF, HALF])
    x = np.random.default_rng(0).normal(size=(20, 2))
    joint = JointMap().fit(x, labels=[1, 2, 3])
    for y in (1, 2, 3):
        psi = joint.features(x, [y] * 20).toarray()
        block = slice(2 * (y - 1), 2 * y)
        np.testing.assert_array_equal(psi[:, block], x)
        assert np.count_nonzero(psi) == 40
        np.testing.assert_allclose(psi @ w, x @ w[block])
    np.testing.assert_allclose(joint.scores(x, w), x @ w.reshape(3, 2).T)
    assert joint.get_feature_names_out()[2] == "x0 & y=2"


def test_run_as_a_noun_has_one_feature():
    words = [{"word=apple": 1}, {"word=run": 1}, {"word=run": 1}, {"ends_in_ly": 1}]
    tags = ["NOUN", "NOUN", "VERB", "ADVERB"]
    vectorizer = DictVectorizer(sort=False)
    X = vectorizer.fit_transform(words)
    joint = JointMap("seen").fit(X, tags)
    names = joint.get_feature_names_out(vectorizer.get_feature_names_out()).tolist()
    expected = [
        "word=apple & y=NOUN",
        "word=run & y=NOUN",
        "word=run & y=VERB",
        "ends_in_ly & y=ADVERB",
    ]
    assert sorted(names) == sorted(expected)
    order = [names.index(name) for name in expected]
    run = vectorizer.transform([{"word=run": 1}])
    np.testing.assert_array_equal(joint.features(run, ["NOUN"]).toarray()[:, order], [[0, 1, 0, 0]])
    # Never seen together: no feature.
    assert joint.features(run, ["ADVERB"]).nnz == 0


@pytest.mark.parametrize("combine", ["all", "seen", "hash"])
def test_scores_are_inner_products(combine):
    generator = np.random.default_rng(0)
    X = sp.random(30, 7, density=0.5, format="csr", random_state=0)
    phi, labels = generator.normal(size=(4, 3)), np.array(list("abcd"))
    y = generator.choice(labels, 30)
    joint = JointMap(combine, n_features=64).fit(X, y, labels=labels, label_features=phi)
    w = generator.normal(size=joint.n_features_out_)
    scores = joint.scores(X, w)
    for k, label in enumerate(labels):
        psi = joint.features(X, [label] * 30)
        assert psi.shape == (30, joint.n_features_out_)
        np.testing.assert_allclose(psi @ w, scores[:, k], atol=1e-12)
    np.testing.assert_allclose(joint.scores(X.toarray(), w), scores, atol=1e-12)
    np.testing.assert_allclose(joint.scores(X, w, phi[:2]), scores[:, :2], atol=1e-12)
    again = pickle.loads(pickle.dumps(joint))
    np.testing.assert_array_equal(again.scores(X, w), scores)
    assert clone(joint).get_params() == joint.get_params()


def test_outer_product_columns():
    x, phi = np.array([[2.0, 3.0]]), np.array([[5.0, 0.0, 7.0]])
    joint = JointMap().fit(x, labels=["u"], label_features=phi)
    np.testing.assert_array_equal(
        joint.features(x, ["u"]).toarray(), [np.outer(phi[0], x[0]).ravel()]
    )


def test_an_unseen_label_is_scored_by_its_features():
    # "small dog", "big dog", "small cat" in training; "big cat" is new.
    phi = {"small dog": [1, 0, 1, 0], "big dog": [0, 1, 1, 0], "small cat": [1, 0, 0, 1]}
    X, y = np.eye(4)[[0, 1, 0]] + np.eye(4)[[2, 2, 3]], list(phi)
    joint = JointMap().fit(X, y, labels=list(phi), label_features=list(phi.values()))
    w, before = np.zeros(joint.n_features_out_), None
    while before is None or not np.array_equal(before, w):  # the perceptron of the notes
        before = w.copy()
        for x, label in zip(X, y, strict=True):
            guess = joint.labels_[joint.scores([x], w)[0].argmax()]
            step = joint.features([x], [label]) - joint.features([x], [guess])
            w = w + step.toarray()[0]
    everything = joint.with_labels(["big cat"], [[0, 1, 0, 1]])
    big_cat = np.array([[0.0, 1, 0, 1]])
    assert everything.labels_[everything.scores(big_cat, w)[0].argmax()] == "big cat"
    assert len(joint.labels_) == 3
    assert everything.features(big_cat, ["big cat"]).shape == (1, joint.n_features_out_)


def test_errors():
    X = np.ones((2, 2))
    joint = JointMap().fit(X, ["a", "b"])
    with pytest.raises(DataError, match="'c' at row 1 is not known"):
        joint.features(X, ["a", "c"])
    with pytest.raises(DataError, match="y has shape"):
        joint.features(X, ["a"])
    with pytest.raises(DataError, match="repeated"):
        joint.with_labels(["a"], [[1, 0]])
    with pytest.raises(DataError, match="expected 2"):
        joint.with_labels(["c"], [[1, 0, 0]])
    with pytest.raises(DataError, match="needs y or labels"):
        JointMap().fit(X)
    with pytest.raises(DataError, match="needs y"):
        JointMap("seen").fit(X, labels=["a"])
    with pytest.raises(DataError, match="2 labels"):
        JointMap().fit(X, labels=["a", "b"], label_features=[[1.0]])
    with pytest.raises(ParameterError, match="w has shape"):
        joint.scores(X, np.ones(3))
    with pytest.raises(ParameterError):
        JointMap("some").fit(X, ["a", "b"])
    with pytest.raises(DataError, match="combine='hash'"):
        JointMap().fit(sp.csr_array((1, 2**20)), labels=range(2**12))
