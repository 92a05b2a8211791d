"""Features of tables are searched on held-out rows; boosted trees stand beside the learners."""

import numpy as np
import pytest

from separatrix import Experiment
from separatrix.errors import ParameterError
from separatrix.explanation.models import names_after
from separatrix.models import load
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.preparation import Texts
from separatrix.tasks.words import word_shares

LEARNERS = ["logistic_regression"]


def _chosen(result):
    return [one.name for one in result.features if one.chosen]


def _steps(n=500):
    """A class that alternates along a number."""
    generator = np.random.default_rng(0)
    height = generator.uniform(0, 4, n)
    y = np.where(height.astype(int) % 2, "odd", "even")
    return {"height": height, "noise": generator.normal(size=n), "class": y}


def _exclusive(n=500):
    """Two words that mean something together only."""
    generator = np.random.default_rng(1)
    first, second = generator.choice(np.array(["a", "b"], dtype=object), (2, n))
    y = np.where((first == "a") ^ (second == "a"), "differ", "same")
    third = generator.choice(np.array(["u", "v", "w"], dtype=object), n)
    return {"first": first, "second": second, "third": third, "class": y}


def _disk(n=500):
    X = np.random.default_rng(2).normal(size=(n, 3))
    return X, (np.square(X).sum(axis=1) < 2.4).astype(int)


@pytest.mark.parametrize(
    ("data", "word"),
    [(_steps(), "bins"), (_exclusive(), "pairs of columns"), (_disk(), "radial")],
    ids=["bins", "pairs", "matrix"],
)
def test_features_that_help_are_found(data, word, tmp_path):
    plain = Experiment(data, learners=LEARNERS, features="plain").run()
    found = Experiment(data, learners=LEARNERS).run()
    assert plain.features == ()
    assert plain.test_score < 0.8
    assert found.test_score > 0.9
    assert word in _chosen(found)[0]
    told = next(step for step in found.steps if step.startswith("Features: "))
    assert f"Features: {_chosen(found)[0]}, by the held-out accuracy" in told
    assert found.to_dict()["features"][0]["name"] == "plain"
    found.save(tmp_path / "model.sx")
    raw = data[0] if isinstance(data, tuple) else {k: v for k, v in data.items() if k != "class"}
    again = load(tmp_path / "model.sx")
    np.testing.assert_array_equal(again.predict(raw), found.model.predict(raw))


def test_radial_functions_for_what_no_sum_over_columns_follows():
    generator = np.random.default_rng(3)
    X = generator.uniform(-1, 1, (600, 2))
    y = (np.sin(4 * X.sum(axis=1)) > 0).astype(int)
    found = Experiment((X, y), learners=LEARNERS).run()
    assert _chosen(found)[0].startswith("radial functions")
    assert found.test_score > 0.85


def test_quantities():
    generator = np.random.default_rng(4)
    x = generator.uniform(0, 6, (400, 2))
    y = np.floor(x[:, 0]) % 2 * 5.0 + x[:, 1] + generator.normal(0, 0.1, 400)
    given = {"learners": ["bayesian_regression"]}
    plain = Experiment((x, y), **given, features="plain").run()
    found = Experiment((x, y), **given).run()
    assert "bins" in _chosen(found)[0]
    assert found.test_score < 0.5 * plain.test_score


def test_plain_features_stay_where_a_line_is_right():
    X = np.random.default_rng(5).normal(size=(400, 4))
    data = {f"x{j}": X[:, j] for j in range(4)} | {"class": X.sum(axis=1) > 0}
    found = Experiment(data, learners=LEARNERS).run()
    assert _chosen(found) == ["plain"]


def test_learners_of_plain_features_need_no_search():
    found = Experiment(_steps(), learners=["quadratic_discriminant"]).run()
    assert found.features == ()


def test_learners_of_plain_features_keep_them_beside_others():
    found = Experiment(_steps(), learners=["quadratic_discriminant", "logistic_regression"]).run()
    assert "bins" in _chosen(found)[0]
    names = [row.learner for row in found.leaderboard]
    assert names.index("logistic_regression") < names.index("quadratic_discriminant")


def test_a_search_ends_with_its_time():
    found = Experiment(_steps(), learners=LEARNERS, budget=0.01).run()
    assert len(found.features) <= 1


def test_the_reference_is_never_champion():
    data = _disk()
    result = Experiment(
        data, learners=["perceptron"], features="plain", reference=True, folds=1
    ).run()
    assert result.leaderboard[0].learner == "reference"
    assert result.leaderboard[0].reference
    assert result.champion.learner == "perceptron"
    assert result.runner_up.learner != "reference"
    assert any(note.startswith("reference: ") for note in result.remarks())
    assert "not linear" in result.to_html()
    without = Experiment(data, learners=["perceptron"], features="plain").run()
    assert all(not row.reference for row in without.leaderboard)


def test_the_reference_of_quantities():
    generator = np.random.default_rng(6)
    x = generator.normal(size=(200, 2))
    y = x[:, 0] + x[:, 0] * x[:, 1] + generator.normal(0, 0.01, 200)
    result = Experiment((x, y), reference=True, learners=["bayesian_regression"]).run()
    assert sum(row.reference for row in result.leaderboard) == 1
    assert result.champion.learner == "bayesian_regression"


def _reviews(n=300):
    """The order of two words decides; so do their endings, which single words never repeat."""
    generator = np.random.default_rng(7)
    texts, y = [], []
    for _ in range(n):
        good = generator.random() < 0.5
        pair = "not bad" if good else "bad not"
        filler = " ".join(generator.choice(["it", "was", "the", "film", "tale"], 4))
        texts.append(f"{pair} {filler}")
        y.append("good" if good else "poor")
    return np.array(texts, dtype=object), np.array(y)


def test_sequences_of_words_are_found():
    X, y = _reviews()
    data = {"text": X, "class": y}
    found = Experiment(data, learners=LEARNERS).run()
    assert found.test_score > 0.95
    assert _chosen(found)[0].startswith("1 to 2 words")
    assert found.steps[0] == f"Texts become tf-idf weights of their {_chosen(found)[0]}."


def test_terms_that_are_asked_for(tmp_path):
    X, y = _reviews()
    data = {"text": X, "class": y}
    given = {"learners": LEARNERS, "features": "plain"}
    assert Experiment(data, **given).run().test_score < 0.8
    pairs = Experiment(data, **given, ngrams=(2, 2)).run()
    assert pairs.steps[0] == "Texts become tf-idf weights of their 2 words."
    assert pairs.test_score > 0.95
    both = Experiment(data, **given, ngrams=(1, 1), characters=(2, 4)).run()
    both.save(tmp_path / "both.sx")
    np.testing.assert_array_equal(load(tmp_path / "both.sx").predict(X), both.model.predict(X))


def test_terms_that_are_asked_for_are_not_searched():
    X, y = _reviews()
    found = Experiment({"text": X, "class": y}, learners=LEARNERS, ngrams=(1, 1)).run()
    assert all(one.name.startswith("words") for one in found.features)


@pytest.mark.parametrize(
    ("data", "given", "words"),
    [
        (_steps(), {"ngrams": (1, 2)}, "ngrams and characters are for texts"),
        ({"text": _reviews()[0], "class": _reviews()[1]}, {"ngrams": None}, "no terms are left"),
    ],
)
def test_terms_are_checked(data, given, words):
    with pytest.raises(ParameterError, match=words):
        Experiment(data, learners=LEARNERS, **given).run()


def test_words_and_characters_together_say_what_each_word_adds():
    texts = ["Free money", "free lunch", "see you"]
    union = Texts(Inputs("text"), (1, 1), (2, 3)).fit(np.array(texts, dtype=object), None)
    terms = names_after(union, None)
    assert {"free", '"fr" (characters)'} < set(terms)
    shares = word_shares(union, "Free, you", dict.fromkeys(terms.tolist(), 1.0))
    assert [(first, last) for first, last, _ in shares] == [(0, 5), (6, 9)]
    known = union.transform(["Free, you"]).astype(bool).sum()
    assert sum(share for *_, share in shares) == pytest.approx(known)
