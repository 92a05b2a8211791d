"""The learners on sequences in scikit-learn's hands: real use, not one call."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline

from separatrix import CRF, StructuredPerceptron, Templates
from separatrix.metrics import chunk_f1, scorer, token_accuracy
from separatrix.structures import Chain
from tests.unit.learners.structured.tagging import encoded, sentences

DICTS, Y = sentences(60)
ENCODED, _ = encoded(60)
WORDS = [[token["word"] for token in tokens] for tokens in DICTS]
F1 = make_scorer(chunk_f1)
LEARNERS = [CRF(C=0.7, max_iter=300), StructuredPerceptron(random_state=0, max_iter=5)]


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
class TestLearners:
    def test_clone_keeps_parameters_and_forgets_the_fit(self, model):
        fitted = clone(model).fit(DICTS, Y)
        fresh = clone(fitted)
        assert fresh.get_params() == model.get_params()
        assert not hasattr(fresh, "coef_")
        with pytest.raises(NotFittedError):
            fresh.predict(DICTS)
        assert type(model)(**model.get_params()).get_params() == model.get_params()
        assert clone(model).set_params(n_jobs=2).n_jobs == 2
        with pytest.raises(ValueError, match="Invalid parameter"):
            clone(model).set_params(nonsense=1)

    def test_repr_tells_what_was_set(self, model):
        text = repr(model)
        assert text.startswith(type(model).__name__ + "(")
        assert "max_iter=" in text
        assert "n_jobs" not in text
        assert eval(text).get_params() == model.get_params()

    @pytest.mark.parametrize("X", [DICTS, ENCODED], ids=["dicts", "encoded"])
    def test_splits_of_all_kinds(self, model, X):
        scores = cross_val_score(model, X, Y, cv=3)
        assert scores.min() > 0.75
        chosen = cross_validate(model, X, Y, cv=KFold(3, shuffle=True, random_state=0), scoring=F1)
        assert chosen["test_score"].min() > 0.5
        train, test, y_train, y_test = train_test_split(X, Y, random_state=0)
        assert clone(model).fit(train, y_train).score(test, y_test) > 0.75
        sizes, _, held_out = learning_curve(model, X, Y, train_sizes=[0.2, 1.0], cv=3)
        assert len(sizes) == 2
        assert held_out[1].mean() >= held_out[0].mean() - 0.05

    def test_predictions_of_every_fold(self, model):
        found = cross_val_predict(clone(model), DICTS, Y, cv=4)
        assert found.shape == (len(DICTS),)
        assert list(map(len, found)) == list(map(len, Y))
        assert token_accuracy(Y, found.tolist()) > 0.7
        # Of one length, too, they are lists and no matrix.
        X = [(tokens * 8)[:8] for tokens in DICTS[:20]]
        y = [(tags * 8)[:8] for tags in Y[:20]]
        assert cross_val_predict(clone(model), X, y, cv=4).shape == (20,)

    def test_scorers_by_name(self, model):
        for name in ("chunk_f1", "sequence_accuracy", "token_accuracy"):
            scores = cross_val_score(clone(model), DICTS, Y, cv=3, scoring=scorer(name))
            assert scores.shape == (3,)
            assert (scores > 0.2).all()
        with pytest.raises(ValueError, match="chunk_f1"):
            scorer("f1")

    def test_pickles_answer_the_same(self, model):
        fitted = clone(model).fit(DICTS, Y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.coef_, fitted.coef_)
        assert again.predict(DICTS) == fitted.predict(DICTS)
        assert again.solution_.n_passes == fitted.solution_.n_passes

    def test_searches_in_pipelines_with_templates(self, model):
        pipeline = Pipeline([("templates", Templates("word")), ("tagger", clone(model))])
        grid = {
            "templates__spec": ["bias", "word\nprefix(word, 1)\nword[-1]"],
            "tagger__structure": [Chain(transitions="observed"), "chain"],
        }
        search = GridSearchCV(pipeline, grid, cv=3, scoring=F1, n_jobs=1).fit(WORDS, Y)
        assert search.best_params_["templates__spec"].startswith("word")
        assert len(search.cv_results_["params"]) == 4
        assert search.predict(WORDS[:2])[0] == search.best_estimator_.predict(WORDS[:1])[0]
        again = pickle.loads(pickle.dumps(search.best_estimator_))
        assert again.predict(WORDS) == search.predict(WORDS)
        assert "Templates" in repr(search.best_estimator_)


def test_random_search_in_two_processes():
    search = RandomizedSearchCV(
        CRF(max_iter=200), {"C": [0.001, 1.0]}, n_iter=2, cv=2, random_state=0, n_jobs=2
    ).fit(DICTS, Y)
    assert search.best_params_ == {"C": 1.0}


def test_sample_weight_reaches_the_last_step():
    pipeline = make_pipeline(Templates("word"), CRF())
    weight = np.zeros(len(Y))
    weight[:30] = 1.0
    weighted = pipeline.fit(WORDS, Y, crf__sample_weight=weight)
    few = CRF().fit(weighted[0].transform(WORDS[:30]), Y[:30])
    assert weighted.score(WORDS[:30], Y[:30]) == pytest.approx(
        few.score(weighted[0].transform(WORDS[:30]), Y[:30]), abs=0.02
    )
