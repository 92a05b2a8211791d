"""The drop-in for sklearn-crfsuite: rules, parameters, attributes, scikit-learn's tools."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from separatrix import CRF as Plain
from separatrix.compat.sklearn_crfsuite import CRF, metrics, scorers
from separatrix.compat.sklearn_crfsuite.parameters import ALGORITHMS
from separatrix.data import AttributeSequences, as_attribute_sequences, write_crfsuite
from separatrix.errors import DataError, ModelFileError, ParameterError
from separatrix.structures import Chain
from tests.unit.learners.structured.tagging import sentences

X, Y = sentences(60)
NEW, Y_NEW = sentences(30, seed=1)
NAMES = tuple(ALGORITHMS)


def objective(crf, X, y, c1, c2):
    """CRFsuite's objective at the weights of a model."""
    model = crf.model_
    w = model.coef_
    loss = -model.log_likelihood(X, y).sum()
    return loss + c1 * np.abs(w).sum() + c2 * (w**2).sum()


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (0.0, 0.05), (0.2, 0.0), (0.1, 0.3)])
def test_the_penalties_are_those_of_crfsuite(c1, c2):
    crf = CRF(c1=c1, c2=c2, delta=1e-9).fit(X, Y)
    loss = objective(crf, X, Y, c1, c2)
    assert crf.training_log_.last_iteration["loss"] == pytest.approx(loss, rel=1e-4)
    # No step in any direction helps.
    random = np.random.default_rng(0)
    w = crf.model_.coef_.copy()
    for size in (1e-3, 1e-2):
        for _ in range(10):
            crf.model_.coef_ = w + size * random.normal(size=w.shape) * (w != 0)
            assert objective(crf, X, Y, c1, c2) > loss
    crf.model_.coef_ = w
    assert (c1 > 0) == bool((w == 0).any())


def test_no_penalty_ends_by_its_progress():
    crf = CRF(c1=0.0, c2=0.0, period=5, delta=1e-3).fit(X, Y)
    assert len(crf.training_log_.iterations) < 200
    assert objective(crf, X, Y, 0, 0) < objective(CRF(c2=1e-3).fit(X, Y), X, Y, 0, 0)


class Reference:
    """CRFsuite's online rules in plain words: dense vectors, all labellings tried by Viterbi."""

    def __init__(self, chain, X, codes):
        self.chain, self.X, self.codes = chain, X, codes
        self.w = np.zeros(chain.n_weights)
        self.sums = np.zeros(chain.n_weights)
        self.variance = np.ones(chain.n_weights)

    def psi(self, sequence, labels):
        return self.chain.features(self.X.take([sequence]), labels)

    def run(self, algorithm, settings, passes):
        self.variance *= settings.get("variance", 1.0)
        count = 1
        for _ in range(passes):
            for i in range(len(self.X)):
                scores = self.chain.scores(self.w, self.X.take([i]))
                best, value = self.chain.best(scores)[:2]
                own = self.codes[self.X.offsets[i] : self.X.offsets[i + 1]]
                wrong = int((best != own).sum())
                if wrong:
                    change = self.psi(i, own) - self.psi(i, best)
                    excess = value[0] - self.w @ self.psi(i, own)
                    self.update(algorithm, settings, change, excess, wrong, count)
                count += 1
        return self.w, self.w - self.sums / count

    def update(self, algorithm, settings, change, excess, wrong, count):
        if algorithm == "ap":
            step = change
        elif algorithm == "pa":
            loss = excess + (np.sqrt(wrong) if settings["error_sensitive"] else 1.0)
            norm = change @ change
            step = {
                0: loss / norm,
                1: min(settings["c"], loss / norm),
                2: loss / (norm + 0.5 / settings["c"]),
            }[settings["pa_type"]] * change
        else:
            gamma = settings["gamma"]
            alpha = (excess + wrong) / (gamma + self.variance @ change**2)
            step = alpha * self.variance * change
            self.variance = 1 / (1 / self.variance + change**2 / gamma)
        self.w = self.w + step
        self.sums = self.sums + count * step


RULES = [
    {"algorithm": "ap"},
    {"algorithm": "pa"},
    {"algorithm": "pa", "pa_type": 0, "error_sensitive": False},
    {"algorithm": "pa", "c": 0.02, "averaging": False},
    {"algorithm": "pa", "pa_type": 2, "c": 0.3},
    {"algorithm": "arow"},
    {"algorithm": "arow", "variance": 0.2, "gamma": 3.0},
]


@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("every", [False, True])
def test_online_rules_are_the_definitions(options, every, monkeypatch):
    """In the order of the data, which is the one order that a reference can repeat."""
    from separatrix.compat.sklearn_crfsuite import training

    in_order = training.ChainOnline
    monkeypatch.setattr(training, "ChainOnline", lambda *args: in_order(*args[:-1], None))
    params = {"max_iterations": 3, "all_possible_states": every, "all_possible_transitions": every}
    random = np.random.default_rng(0)
    # Values of many digits, so that no two labellings tie but for rounding.
    noisy = [[{**token, "level": abs(random.normal())} for token in tokens] for tokens in X]
    crf = CRF(**options, **params).fit(noisy, Y)
    model = crf.model_
    encoded = as_attribute_sequences(noisy)
    codes = np.array([crf.classes_.index(label) for row in Y for label in row])
    reference = Reference(model.features_, encoded, codes)
    settings = {**ALGORITHMS[options["algorithm"]], **options}
    last, average = reference.run(options["algorithm"], settings, 3)
    averaging = options["algorithm"] == "ap" or settings.get("averaging", False)
    np.testing.assert_allclose(model.coef_, average if averaging else last, atol=1e-9)
    assert crf.score(noisy, Y) > 0.75


def test_passes_without_a_mistake_still_count_for_the_average():
    X, y = [[["a"], ["b"]]], [["A", "B"]]
    short = CRF("ap", max_iterations=2).fit(X, y)
    long = CRF("ap", max_iterations=50).fit(X, y)
    assert len(long.training_log_.iterations) == 2
    # One mistake at the first of 50 sequences: 50 of 51 weights, the zeros before it included.
    assert long.state_features_[("b", "B")] == pytest.approx(50 / 51)
    assert short.state_features_[("b", "B")] == pytest.approx(2 / 3)


def test_epsilon_ends_an_online_run():
    crf = CRF("arow", epsilon=1e9).fit(X, Y)
    assert len(crf.training_log_.iterations) == 1


def test_min_freq_cuts_features():
    X = [[["a", "b"], ["a"]], [["a"], ["c"]]]
    y = [["A", "B"], ["A", "B"]]
    assert set(CRF(min_freq=2).fit(X, y).state_features_) == {("a", "A")}
    assert set(CRF(min_freq=2).fit(X, y).transition_features_) == {("A", "B")}
    whole = CRF(min_freq=0, all_possible_states=True, all_possible_transitions=True).fit(X, y)
    assert len(whole.state_features_) == 6
    assert len(whole.transition_features_) == 4
    # Values add up to frequencies.
    tokens = [{"x": 1.5}, {"x": 1.5}, {"z": 2.0}]
    crf = CRF(min_freq=2.5).fit([tokens], [["A", "A", "B"]])
    assert set(crf.state_features_) == {("x", "A")}
    crf = CRF().fit([[*tokens, {"x": -0.5}]], [["A", "A", "B", "B"]])
    assert set(crf.state_features_) == {("x", "A"), ("z", "B")}


@pytest.mark.parametrize("algorithm", NAMES)
def test_fitted_attributes_and_predictions(algorithm):
    crf = CRF(algorithm, max_iterations=10).fit(X, Y)
    assert crf.classes_ == list(dict.fromkeys(label for row in Y for label in row))
    assert crf.num_attributes_ == len(crf.attributes_) == len({a for a, _ in crf.state_features_})
    assert set(crf.transition_features_) <= {(a, b) for a in crf.classes_ for b in crf.classes_}
    assert crf.size_ > 1000
    found = crf.predict(NEW)
    assert found.shape == (len(NEW),)
    assert found[0] == crf.predict_single(NEW[0])
    assert crf.score(NEW, Y_NEW) == metrics.flat_accuracy_score(Y_NEW, found) > 0.75
    marginals = crf.predict_marginals(NEW)
    assert marginals[3] == crf.predict_marginals_single(NEW[3])
    for token in marginals[0]:
        assert list(token) == crf.classes_
        assert sum(token.values()) == pytest.approx(1)
    tagger = crf.tagger_
    assert tagger.tag(NEW[0]) == found[0]
    assert tagger.marginal("O", 0) == pytest.approx(marginals[0][0]["O"])
    best = np.exp(crf.model_.log_likelihood(NEW[:1], found[:1].tolist()))
    assert tagger.probability(found[0]) == pytest.approx(best[0])
    assert tagger.info().transitions == crf.transition_features_
    again = pickle.loads(pickle.dumps(crf))
    assert again.predict(NEW).tolist() == found.tolist()
    assert str(again.training_log_) == str(crf.training_log_)  # NaN is not equal to itself


def test_clone_and_repr():
    crf = CRF(algorithm="lbfgs", c1=0.1, all_possible_transitions=True).fit(X, Y)
    assert repr(crf) == "CRF(algorithm='lbfgs', all_possible_transitions=True, c1=0.1)"
    fresh = clone(crf)
    assert fresh.get_params() == crf.get_params()
    assert not hasattr(fresh, "model_")
    with pytest.raises(NotFittedError, match="not fitted"):
        fresh.predict(NEW)
    assert fresh.classes_ is None


def test_tools_of_scikit_learn():
    labels = ["B-X", "I-X"]
    f1 = make_scorer(metrics.flat_f1_score, average="weighted", labels=labels)
    grid = GridSearchCV(CRF(max_iterations=20), {"c2": [0.01, 10.0]}, scoring=f1, cv=3)
    grid.fit(X, Y)
    assert grid.best_params_ == {"c2": 0.01}
    space = {"c1": [0.01, 0.1], "c2": [0.01, 0.1]}
    search = RandomizedSearchCV(
        CRF("lbfgs", max_iterations=20, all_possible_transitions=True),
        space, cv=2, n_iter=3, scoring=f1, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert search.best_score_ > 0.7
    assert search.best_estimator_.classes_
    for scorer in (scorers.flat_accuracy, scorers.sequence_accuracy, None):
        scores = cross_val_score(CRF("ap", max_iterations=5), X, Y, cv=3, scoring=scorer)
        assert scores.shape == (3,)
        assert (scores > 0.2).all()
    pipeline = Pipeline([("tagger", CRF(c2=0.1))]).fit(X, Y)
    assert pipeline.score(NEW, Y_NEW) > 0.8


def test_held_out_sequences_are_scored_each_pass(capsys):
    for algorithm in ("lbfgs", "pa"):
        crf = CRF(algorithm, max_iterations=4, verbose=True).fit(X, Y, NEW, Y_NEW)
        accuracies = [row["item_accuracy_float"] for row in crf.training_log_.iterations]
        assert accuracies[-1] == pytest.approx(crf.score(NEW, Y_NEW), abs=1e-9)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len(accuracies) == 4
        assert lines[0].startswith("Iter 1 ")
    with pytest.raises(ValueError, match="Pass both X_dev and y_dev"):
        CRF().fit(X, Y, NEW)


def test_a_model_file_is_written_and_used(tmp_path):
    path = str(tmp_path / "model.crfsuite")
    crf = CRF(c2=0.1, model_filename=path).fit(X, Y)
    other = CRF(model_filename=path)
    assert other.predict(NEW).tolist() == crf.predict(NEW).tolist()
    assert other.classes_ == crf.classes_
    assert other.state_features_ == crf.state_features_
    assert crf.size_ == (tmp_path / "model.crfsuite").stat().st_size
    (tmp_path / "bad").write_bytes(b"no model")
    with pytest.raises(ModelFileError, match="not a CRFsuite model"):
        CRF(model_filename=str(tmp_path / "bad")).predict(NEW)


def test_other_forms_of_input(tmp_path):
    encoded = as_attribute_sequences(X)
    crf = CRF(c2=0.3).fit(X, Y)
    assert CRF(c2=0.3).fit(encoded, Y).predict(NEW).tolist() == crf.predict(NEW).tolist()
    nameless = AttributeSequences.of(encoded.matrix, encoded.lengths)
    plain = CRF(c2=0.3).fit(nameless, Y)
    assert plain.predict(nameless).tolist() == crf.predict(X).tolist()
    assert plain.attributes_[0] == "0"
    write_crfsuite(tmp_path / "data.crfsuite", X, Y)
    numbers = CRF().fit([[["a"], ["b"]]], [[1, 2]])
    assert numbers.predict([[["a"], ["b"]]])[0] == [1, 2]


def test_no_warning_where_iterations_run_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CRF(c2=0.001, max_iterations=2).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "sgd"}, "algorithm must be one of lbfgs, l2sgd, ap, pa, arow"),
        ({"algorithm": "ap", "c1": 0.1}, "algorithm='ap' has no parameter c1"),
        ({"algorithm": "l2sgd", "c1": 0.1}, "no parameter c1"),
        ({"gamma": 1.0}, "algorithm='lbfgs' has no parameter gamma"),
        ({"c2": -1.0}, "c2 must be zero or more"),
        ({"c1": "much"}, "c1 must be a number"),
        ({"linesearch": "Newton"}, "linesearch must be one of"),
        ({"algorithm": "pa", "pa_type": 3}, "pa_type must be one of"),
        ({"algorithm": "arow", "variance": 0.0}, "variance must be more than zero"),
        ({"max_iterations": 0}, "max_iterations must be more than zero"),
        ({"trainer_cls": dict}, "trainer_cls must be None"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ParameterError, match=message):
        CRF(**options).fit(X, Y)


def test_every_parameter_of_every_algorithm_is_taken():
    for algorithm, defaults in ALGORITHMS.items():
        options = {**defaults, "max_iterations": 5}
        crf = CRF(algorithm, **options).fit(X, Y)
        same = CRF(algorithm, max_iterations=5).fit(X, Y)
        np.testing.assert_array_equal(crf.model_.coef_, same.model_.coef_)
    long_name = CRF("averaged-perceptron", max_iterations=5).fit(X, Y)
    short_name = CRF("ap", max_iterations=5).fit(X, Y)
    np.testing.assert_array_equal(long_name.model_.coef_, short_name.model_.coef_)


def test_bad_data_is_named():
    for bad, labels, message in [
        ([], [], "0 sample"),
        ([[["a"]]], [["A", "B"]], "sequence 0 has 1 tokens, but 2 labels"),
        ([[{"x": float("nan")}]], [["A"]], "NaN at sequence 0, token 0, attribute 'x'"),
    ]:
        for algorithm in NAMES:
            with pytest.raises(DataError, match=message):
                CRF(algorithm).fit(bad, labels)


def test_metrics():
    true, found = [["A", "B"], ["B"]], [["A", "A"], ["B"]]
    assert metrics.flat_accuracy_score(true, found) == pytest.approx(2 / 3)
    assert metrics.flat_precision_score(true, found, pos_label="A") == 0.5
    assert metrics.flat_recall_score(true, found, pos_label="A") == 1.0
    assert metrics.flat_f1_score(true, found, average="macro") == pytest.approx(2 / 3)
    assert metrics.flat_fbeta_score(true, found, beta=2, pos_label="A") == pytest.approx(5 / 6)
    assert "support" in metrics.flat_classification_report(true, found, labels=["A"], digits=3)
    # Sequences of one length too.
    assert (
        metrics.sequence_accuracy_score([["A", "B"], ["B", "A"]], [["A", "B"], ["B", "B"]]) == 0.5
    )
    assert metrics.sequence_accuracy_score([], []) == 0


def test_the_model_is_the_plain_one():
    crf = CRF(c2=0.5).fit(X, Y)
    plain = Plain(Chain(boundaries=False, transitions="observed"), C=1.0).fit(X, Y)
    assert crf.predict(NEW).tolist() == plain.predict(NEW)
    assert len(crf.model_.predict_top(NEW[:1], 3)[0]) == 3
