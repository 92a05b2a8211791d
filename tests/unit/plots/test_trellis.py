"""The trellis shows the model's own numbers."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates
from separatrix.compat import sklearn_crfsuite
from separatrix.data import TokenColumn, TokenSequences
from separatrix.errors import DataError, ParameterError
from separatrix.plots import TrellisDisplay
from separatrix.structures import Chain

mpl.use("agg")
from matplotlib import pyplot as plt
from tests.unit.learners.structured.tagging import sentences

X, Y = sentences(60)
SENTENCE, TRUTH = next((x, y) for x, y in zip(X, Y, strict=True) if len(x) == 5)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("constraints", [None, "BIO"])
def test_heat_and_paths_are_those_of_enumeration(order, constraints):
    model = CRF(Chain(order=order), C=0.1).fit(X, Y)
    display = TrellisDisplay.from_estimator(
        model, SENTENCE, y=TRUTH, constraints=constraints, least=0.0
    )
    labels = model.classes_.tolist()
    every = [list(path) for path in itertools.product(labels, repeat=5)]
    p = np.exp(model.log_likelihood([SENTENCE] * len(every), every))
    if constraints:
        allowed = [
            all(b != "I-X" or a != "O" for a, b in itertools.pairwise(["O", *path]))
            for path in every
        ]
        p = np.where(allowed, p, 0.0) / p[allowed].sum()
    order_of = np.argsort(-p)
    for (path, chance), number in zip(display.paths, order_of, strict=False):
        assert [display.labels[k] for k in path] == every[number]
        assert chance == pytest.approx(p[number], rel=1e-8)
    wanted = [
        [sum(p[i] for i, path in enumerate(every) if path[t] == label) for label in labels]
        for t in range(5)
    ]
    np.testing.assert_allclose(display.marginals, wanted, atol=1e-9)
    np.testing.assert_array_equal(display.image_.get_array(), display.marginals.T)
    for line, (path, _) in zip(display.lines_, display.paths, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), path)
    assert [display.labels[k] for k in display.truth] == TRUTH
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == [
        token["word"] for token in SENTENCE
    ]


def test_rare_labels_are_left_out():
    model = CRF(Chain(transitions="observed"), C=10.0).fit([*X, [["q"]]], [*Y, ["rare"]])
    display = TrellisDisplay.from_estimator(model, SENTENCE)
    assert "rare" not in display.labels
    assert len(TrellisDisplay.from_estimator(model, SENTENCE, least=0.0).labels) == 4
    assert display.marginals.shape == (5, len(display.labels))


def test_pipelines_drop_ins_and_one_label():
    words = TokenColumn.of([[token["word"] for token in row] for row in X])
    tokens = TokenSequences({"word": words}, words.offsets)
    pipeline = make_pipeline(Templates("word[-1..1]"), CRF()).fit(tokens, Y)
    figure, ax = plt.subplots()
    display = TrellisDisplay.from_estimator(pipeline, tokens[0], ax=ax)
    assert display.figure_ is figure
    assert display.words == tuple(word for (word,) in tokens[0])
    drop_in = sklearn_crfsuite.CRF(c2=0.1).fit(X, Y)
    assert TrellisDisplay.from_estimator(drop_in, SENTENCE, words="abcde").words == tuple("abcde")
    single = CRF().fit([[["a"]]], [["only"]])
    display = TrellisDisplay.from_estimator(single, [["a"]])
    assert len(display.paths) == 1
    assert display.paths[0][1] == pytest.approx(1.0)
    dense = CRF().fit([np.eye(2)], [["A", "B"]])
    assert TrellisDisplay.from_estimator(dense, np.eye(2)).words == ("0", "1")


def test_bad_input_is_named():
    model = CRF().fit(X, Y)
    for options, message in [
        ({"words": ["a"]}, "1 words for 5 tokens"),
        ({"y": ["O"]}, "1 labels for 5 tokens"),
        ({"y": ["O", "Z", "O", "O", "O"]}, "label 'Z' of token 1"),
    ]:
        with pytest.raises(DataError, match=message):
            TrellisDisplay.from_estimator(model, SENTENCE, **options)
    with pytest.raises(DataError, match="no tokens"):
        TrellisDisplay.from_estimator(model, [])
    perceptron = StructuredPerceptron().fit(X, Y)
    with pytest.raises(ParameterError, match="StructuredPerceptron has no predict_proba"):
        TrellisDisplay.from_estimator(perceptron, SENTENCE)
