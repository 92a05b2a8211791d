"""The drop-in beside sklearn-crfsuite itself: the same code, objective, features and weights."""

import importlib
import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from separatrix import CRF as Plain
from separatrix import read
from separatrix.compat import sklearn_crfsuite as compat
from separatrix.data import as_attribute_sequences
from tests.unit.learners.structured.tagging import sentences

sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")

TOKENS, Y = sentences(80)
NEW, Y_NEW = sentences(40, seed=1)


def weights_of(crf):
    """Weights that are not zero, by kind and names, exactly as the model file holds them."""
    info = compat.tagger.ModelInfo(Plain.from_crfsuite(crf.modelfile.name))
    return info.state_features, info.transitions


def loss_of(crf, model, X, y, c1, c2):
    """CRFsuite's objective at the weights of a model."""
    states, transitions = model
    w = np.array([*states.values(), *transitions.values()])
    return -crf.log_likelihood(X, y).sum() + c1 * np.abs(w).sum() + c2 * (w**2).sum()


@pytest.mark.parametrize(
    "options",
    [
        {"c1": 0.0, "c2": 1.0},
        {"c1": 0.1, "c2": 0.1, "all_possible_transitions": True},
        {"c1": 0.3, "c2": 0.0},
        {"c1": 0.0, "c2": 0.1, "all_possible_states": True},
        {"c1": 0.0, "c2": 0.5, "min_freq": 3},
        {"c1": 0.0, "c2": 0.5, "negative": True},
        {"algorithm": "l2sgd", "c2": 0.5},
    ],
    ids=str,
)
def test_objective_and_features_are_the_same(options):
    X = [[dict(token) for token in tokens] for tokens in TOKENS]
    options = dict(options)
    if options.pop("negative", False):
        random = np.random.default_rng(0)
        for tokens in X:
            for token in tokens:
                token["level"] = random.normal()
    tight = {"delta": 1e-9}
    if options.get("algorithm") != "l2sgd":
        tight |= {"epsilon": 1e-9, "max_iterations": 5000}
    theirs = sklearn_crfsuite.CRF(**options, **tight).fit(X, Y)
    ours = compat.CRF(**options, **tight).fit(X, Y)
    c1, c2 = options.get("c1", 0.0), options["c2"]
    own = (ours.state_features_, ours.transition_features_)
    other = weights_of(theirs)
    model = Plain.from_crfsuite(theirs.modelfile.name)
    mine = loss_of(ours.model_, own, X, Y, c1, c2)
    assert mine <= loss_of(model, other, X, Y, c1, c2) * (1 + 1e-5)
    assert ours.classes_ == theirs.classes_
    if c1 == 0:
        assert ours.attributes_ == theirs.attributes_
        for a, b in zip(own, other, strict=True):
            assert set(a) == set(b)
            if "algorithm" not in options:
                assert a == pytest.approx(b, abs=1e-3)
    if "algorithm" not in options:  # theirs shuffles by a generator that it does not seed
        assert (ours.predict(NEW) == theirs.predict(NEW)).mean() > 0.9
    if c1 == 0 and "min_freq" not in options:
        assert ours.num_attributes_ == theirs.num_attributes_


ONLINE = [
    {"algorithm": "ap"},
    {"algorithm": "ap", "max_iterations": 7, "all_possible_transitions": True},
    {"algorithm": "pa"},
    {"algorithm": "pa", "pa_type": 0, "error_sensitive": False, "averaging": False},
    {"algorithm": "pa", "pa_type": 2, "c": 0.01, "max_iterations": 20},
    {"algorithm": "pa", "c": 0.001, "max_iterations": 20, "all_possible_states": True},
    {"algorithm": "arow"},
    {"algorithm": "arow", "variance": 0.3, "gamma": 2.0, "max_iterations": 30},
    {"algorithm": "arow", "epsilon": 3.0},
]


@pytest.mark.parametrize("options", ONLINE, ids=str)
def test_online_rules_give_the_same_weights(options):
    """One sequence has one order, so that chance has no part; values keep labellings from tying."""
    random = np.random.default_rng(3)
    tokens = [
        {**token, "level": abs(random.normal())} for sequence in TOKENS[:20] for token in sequence
    ]
    labels = [label for row in Y[:20] for label in row]
    theirs = sklearn_crfsuite.CRF(**options).fit([tokens], [labels])
    ours = compat.CRF(**options).fit([tokens], [labels])
    for own, other in zip(
        (ours.state_features_, ours.transition_features_), weights_of(theirs), strict=True
    ):
        assert own == pytest.approx(other, rel=1e-9, abs=1e-12)
    assert len(ours.training_log_.iterations) <= len(theirs.training_log_.iterations)
    for mine, other in zip(
        ours.training_log_.iterations, theirs.training_log_.iterations, strict=False
    ):
        assert mine["loss"] == pytest.approx(other["loss"], abs=1e-5)
        assert mine["num"] == other["num"]


def test_both_refuse_parameters_of_other_algorithms():
    for library in (sklearn_crfsuite, compat):
        with pytest.raises(ValueError, match="c1"):
            library.CRF(algorithm="ap", c1=0.1).fit(TOKENS, Y)
        with pytest.raises(ValueError, match="X_dev"):
            library.CRF().fit(TOKENS, Y, X_dev=NEW)


def test_the_signatures_agree():
    theirs = list(sklearn_crfsuite.CRF().get_params())
    ours = compat.CRF().get_params()
    assert set(ours) - set(theirs) == {"n_jobs", "random_state"}
    assert {name: sklearn_crfsuite.CRF().get_params()[name] for name in theirs} == {
        name: ours[name] for name in theirs
    }
    for part in ("metrics", "scorers"):
        wanted = importlib.import_module(f"sklearn_crfsuite.{part}")
        names = [name for name in vars(wanted) if "flat" in name or name.startswith("sequence")]
        for name in names:
            assert (
                name == "_flattens_y" or name == "flatten" or hasattr(getattr(compat, part), name)
            )
    assert compat.utils.flatten([[1], [2]]) == [1, 2]


def word2features(sent, i):
    """The features of sklearn-crfsuite's tutorial."""
    word, postag = sent[i]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": postag,
        "postag[:2]": postag[:2],
    }
    if i > 0:
        word1, postag1 = sent[i - 1]
        features.update(
            {
                "-1:word.lower()": word1.lower(),
                "-1:word.istitle()": word1.istitle(),
                "-1:word.isupper()": word1.isupper(),
                "-1:postag": postag1,
                "-1:postag[:2]": postag1[:2],
            }
        )
    else:
        features["BOS"] = True
    if i < len(sent) - 1:
        word1, postag1 = sent[i + 1]
        features.update(
            {
                "+1:word.lower()": word1.lower(),
                "+1:word.istitle()": word1.istitle(),
                "+1:word.isupper()": word1.isupper(),
                "+1:postag": postag1,
                "+1:postag[:2]": postag1[:2],
            }
        )
    else:
        features["EOS"] = True
    return features


def sent2features(sent):
    return [word2features(sent, i) for i in range(len(sent))]


@pytest.fixture(scope="module")
def chunks(data_dir):
    folder = data_dir / "conll2000"
    if not folder.is_dir():
        pytest.skip(f"data: {folder} is absent")
    parts = []
    for name, n in (("train", 300), ("test", 150)):
        data = read(folder / f"{name}.txt.gz")
        parts += [[sent2features(data.X[i]) for i in range(n)], data.y[:n]]
    return parts


def tutorial(library, X_train, y_train, X_test, y_test):
    """sklearn-crfsuite's tutorial, with the library as an argument."""
    metrics = importlib.import_module(f"{library.__name__}.metrics")
    scorers = importlib.import_module(f"{library.__name__}.scorers")
    crf = library.CRF(
        algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100, all_possible_transitions=True
    )
    crf.fit(X_train, y_train)
    labels = list(crf.classes_)
    labels.remove("O")
    y_pred = crf.predict(X_test)
    f1 = metrics.flat_f1_score(y_test, y_pred, average="weighted", labels=labels, zero_division=0)
    sorted_labels = sorted(labels, key=lambda name: (name[1:], name[0]))
    report = metrics.flat_classification_report(
        y_test, y_pred, labels=sorted_labels, digits=3, zero_division=0
    )
    likely = Counter(crf.transition_features_).most_common(20)
    positive = Counter(crf.state_features_).most_common(30)
    f1_scorer = make_scorer(
        metrics.flat_f1_score, average="weighted", labels=labels, zero_division=0
    )
    base = library.CRF(algorithm="lbfgs", max_iterations=20, all_possible_transitions=True)
    search = RandomizedSearchCV(
        base,
        {"c1": [0.05, 0.5], "c2": [0.01, 0.05]},
        cv=2,
        n_iter=2,
        scoring=f1_scorer,
        random_state=0,
    ).fit(X_train[:100], y_train[:100])
    grid = GridSearchCV(base, {"c2": [0.01, 100.0]}, cv=2, scoring=scorers.flat_accuracy)
    grid.fit(X_train[:100], y_train[:100])
    scores = cross_val_score(base, X_train[:100], y_train[:100], cv=2, scoring=f1_scorer)
    pipeline = Pipeline([("crf", clone(base))]).fit(X_train[:100], y_train[:100])
    again = pickle.loads(pickle.dumps(crf))
    assert (again.predict(X_test[:20]) == y_pred[:20]).all()
    assert search.best_estimator_.predict(X_test[:2]).shape
    return {
        "f1": f1,
        "report": len(report.splitlines()),
        "labels": labels,
        "likely": [pair for pair, _ in likely[:5]],
        "positive": {pair for pair, _ in positive[:15]},
        "grid": grid.best_params_,
        "scores": scores.mean(),
        "pipeline": pipeline.score(X_test, y_test),
        "sequence": metrics.sequence_accuracy_score(y_test, y_pred),
        "marginals": [round(sum(t.values()), 6) for t in crf.predict_marginals_single(X_test[0])],
        "repr": repr(crf),
        "size": crf.size_,
        "attributes": crf.num_attributes_,
    }


def test_the_tutorial_runs_on_both(chunks):
    theirs = tutorial(sklearn_crfsuite, *chunks)
    ours = tutorial(compat, *chunks)
    for name in ("report", "labels", "grid", "marginals", "repr"):
        assert ours[name] == theirs[name], name
    for name in ("f1", "scores", "pipeline", "sequence"):
        assert ours[name] == pytest.approx(theirs[name], abs=0.02), name
    assert len(ours["positive"] & theirs["positive"]) >= 12
    assert len(set(ours["likely"]) & set(theirs["likely"])) >= 4
    assert ours["size"] == pytest.approx(theirs["size"], rel=0.1)
    assert ours["attributes"] == pytest.approx(theirs["attributes"], rel=0.1)


def test_the_objective_on_sentences_of_conll2000(chunks):
    X, y = (part[:120] for part in chunks[:2])
    for options in ({"c2": 1.0}, {"c1": 0.1, "c2": 0.1}):
        theirs = sklearn_crfsuite.CRF(**options).fit(X, y)
        ours = compat.CRF(**options).fit(X, y)
        c1, c2 = options.get("c1", 0.0), options["c2"]
        encoded = as_attribute_sequences(X)
        own = loss_of(
            ours.model_, (ours.state_features_, ours.transition_features_), encoded, y, c1, c2
        )
        model = Plain.from_crfsuite(theirs.modelfile.name)
        other = loss_of(model, weights_of(theirs), encoded, y, c1, c2)
        assert own <= other * (1 + 1e-5)
        if c1 == 0:
            assert ours.attributes_ == theirs.attributes_
