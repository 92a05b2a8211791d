"""Structured perceptron and MIRA: the flat learners on one token, averages, partial_fit."""

import numpy as np
import pytest

from separatrix import MIRA, Perceptron, StructuredPerceptron
from separatrix.data import AttributeSequences
from separatrix.errors import DataError, ParameterError
from separatrix.structures import Chain
from tests.unit.learners.structured.tagging import encoded, sentences

X, Y = encoded(80)


@pytest.mark.parametrize("loss", ["perceptron", "mira"])
@pytest.mark.parametrize("averaging", ["average", "none"])
def test_a_chain_of_length_one_is_the_flat_learner(loss, averaging):
    random = np.random.default_rng(0)
    rows = random.integers(0, 3, size=(60, 6)).astype(np.float64)
    labels = random.integers(0, 4, size=60)
    weight = random.choice([0.0, 0.5, 1.0, 2.0], size=60)
    flat_class = Perceptron if loss == "perceptron" else MIRA
    options = {"averaging": averaging, "max_iter": 7, "shuffle": False}
    flat = flat_class(fit_intercept=False, **options).fit(rows, labels, sample_weight=weight)
    chain = StructuredPerceptron(
        Chain(boundaries=False, state_features="all"), loss=loss, **options
    ).fit(AttributeSequences.of(rows, np.ones(60, dtype=int)), [[int(k)] for k in labels], weight)
    state = chain.coef_[chain.features_.sections["state"]].reshape(6, 4)
    np.testing.assert_allclose(state.T, flat.coef_, atol=1e-9)
    np.testing.assert_array_equal(chain.mistakes_, flat.mistakes_)


@pytest.mark.parametrize("loss", ["perceptron", "mira"])
def test_it_learns_and_the_average_is_the_average(loss):
    new, labels = sentences(60, seed=8)
    model = StructuredPerceptron(loss=loss, random_state=0).fit(X, Y)
    assert model.score(new, labels) > 0.9
    assert model.mistakes_[-1] < model.mistakes_[0]
    # The average of one pass over one sequence after another, by partial_fit of each.
    steps = StructuredPerceptron(Chain(state_features="all"), loss=loss, shuffle=False)
    last = []
    for i in range(10):
        steps.partial_fit(X.take([i]), [Y[i]], classes=["B-X", "I-X", "O"])
        # Features grow: compare by name of the weights of transitions alone.
        last.append(steps.features_.transition_matrix(steps._last))
    np.testing.assert_allclose(steps.transition_weights_, np.mean(last, axis=0), atol=1e-5)
    at_once = StructuredPerceptron(
        Chain(state_features="all"), loss=loss, shuffle=False, max_iter=1
    )
    at_once.fit(X.take(np.arange(10)), Y[:10])
    np.testing.assert_allclose(at_once.transition_weights_, steps.transition_weights_, atol=1e-5)


def test_partial_fit_meets_new_attributes():
    model = StructuredPerceptron(shuffle=False)
    model.partial_fit([[["a"], ["b"]]], [["A", "B"]], classes=["A", "B", "C"])
    model.partial_fit([[["c"], ["a"]]] * 3, [["C", "A"]] * 3)
    assert model.attributes_ == ["a", "b", "c"]
    assert model.predict([[["c"], ["a"]]]) == [["C", "A"]]
    with pytest.raises(DataError, match="label 'D' of token 0 of sequence 0"):
        model.partial_fit([[["a"]]], [["D"]])
    with pytest.raises(DataError, match="is not the same as on the last call"):
        model.partial_fit([[["a"]]], [["A"]], classes=["A", "B"])


def test_warm_start_and_seeds():
    a = StructuredPerceptron(random_state=1, max_iter=2).fit(X, Y)
    b = StructuredPerceptron(random_state=1, max_iter=2).fit(X, Y)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    warm = StructuredPerceptron(random_state=1, max_iter=2, warm_start=True).fit(X, Y)
    warm.fit(X, Y)
    assert len(warm.mistakes_) == 4


def test_a_warm_start_grows_by_labels_and_attributes():
    few, tags = [[["the"], ["cat"]]] * 3, [["D", "N"]] * 3
    more = [[["a"], ["cat"], ["runs"], ["now"]], [["the"], ["dog"]]]
    new = [["D", "N", "V", "A"], ["D", "N"]]
    model = StructuredPerceptron(random_state=0, warm_start=True, averaging="none").fit(few, tags)
    before = model.coef_.copy()
    old = model.features_
    model.fit(more, new)
    assert model.classes_.tolist() == ["A", "D", "N", "V"]
    assert model.predict(more) == new
    assert model.predict(few) == tags
    moved = old.moved(before, model.features_, np.array([1, 2]))
    assert np.count_nonzero(moved) == np.count_nonzero(before)
    fresh = StructuredPerceptron(random_state=0, averaging="none").fit(more, new)
    assert sorted(fresh.coef_.tolist()) != sorted(model.coef_.tolist())


@pytest.mark.parametrize(
    "options", [{"loss": "magic"}, {"averaging": "vote"}, {"learning_rate": 0.0}, {"max_iter": 0}]
)
def test_bad_parameters_are_named(options):
    with pytest.raises(ParameterError):
        StructuredPerceptron(**options).fit(X, Y)


def test_balanced_weights_need_all_sequences():
    with pytest.raises(ParameterError, match="needs all sequences at once"):
        StructuredPerceptron(class_weight="balanced").partial_fit(X, Y)
