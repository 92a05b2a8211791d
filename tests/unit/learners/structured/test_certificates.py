"""What `converged` promises in structured learners, and what they say where they cannot promise."""

import numpy as np
import pytest

from separatrix import CRF, StructuredPerceptron, StructuredSVM
from separatrix.data import Graphs
from separatrix.errors import DataError
from separatrix.results import StopReason
from separatrix.structures import Graph, Grid, LabelSet
from separatrix.structures.graph.scores import GraphScores

WORDS = ["the", "cat", "sat", "on", "mat", "dogs", "run"]


def sentences(n=40, seed=0, encoding="BIO"):
    """Sentences of dicts with chunks in BIO labels."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(random.integers(2, 8))
        words = random.choice(WORDS, size=length)
        labels, before = [], "O"
        for word in words:
            label = "O" if word in ("sat", "on", "run") else "B-X"
            if label == "B-X" and before != "O" and random.random() < 0.7:
                label = "I-X"
            labels.append(label)
            before = label
        X.append([{"word": word, "last": word[-1]} for word in words])
        y.append(labels)
    return X, y


@pytest.mark.parametrize("learner", [CRF, StructuredSVM])
def test_the_scale_of_the_losses_does_not_change_when_a_fit_stops(learner):
    X, y = sentences()
    plain = learner(C=1.0, tol=1e-4, random_state=0).fit(X, y)
    weights = np.full(len(X), 1e-5)
    scaled = learner(C=1e5, tol=1e-4, random_state=0).fit(X, y, sample_weight=weights)
    small = learner(C=1e-5, tol=1e-4, random_state=0).fit(X, y)
    assert scaled.solution_.stopped is StopReason.CONVERGED
    assert scaled.coef_ == pytest.approx(plain.coef_, rel=1e-5, abs=1e-7)
    assert small.coef_.any()
    assert small.solution_.gap <= 1e-4 * small.solution_.objective < 1e-4


@pytest.mark.parametrize("solver", ["lbfgs", "dual", "owlqn"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_likelihoods_are_proven_by_a_dual_point(penalty, solver):
    fits = {"l2": ("lbfgs", "dual"), "l1": ("owlqn",), "elasticnet": ("owlqn", "dual")}
    if solver not in fits[penalty]:
        pytest.skip("the solver is for another penalty")
    X, y = sentences()
    solution = CRF(penalty=penalty, solver=solver, tol=1e-6).fit(X, y).solution_
    assert (solution.stopped, solution.certificate) == (StopReason.CONVERGED, "duality gap")


def test_labels_known_in_part_have_no_certificate():
    X, y = sentences()
    y = [[None if i % 3 == 1 else label for i, label in enumerate(row)] for row in y]
    solution = CRF(partial=True, tol=1e-3).fit(X, y).solution_
    assert solution.stopped is StopReason.STATIONARY
    assert (solution.gap, solution.certificate) == (np.inf, "none")


@pytest.mark.parametrize(("ratio", "C"), [(0.1, 1.0), (1 / 3, 10 / 3), (0.7, 3.0)])
def test_solvers_of_the_elastic_net_agree(ratio, C):
    """Attributes with equal columns share a weight: every one of them has its part of it."""
    X, y = sentences(60)
    X = [[{**token, "again": token["word"]} for token in tokens] for tokens in X]
    options = {
        "penalty": "elasticnet",
        "l1_ratio": ratio,
        "C": C,
        "tol": 1e-8,
        "max_iter": 5000,
        "random_state": 0,
    }
    dual, owlqn = (CRF(solver=s, **options).fit(X, y) for s in ("dual", "owlqn"))
    assert dual.solution_.stopped is owlqn.solution_.stopped is StopReason.CONVERGED
    assert dual.solution_.objective == pytest.approx(owlqn.solution_.objective, rel=2e-8)
    assert dual.coef_ == pytest.approx(owlqn.coef_, abs=1e-2)
    assert (dual.coef_ == 0).any()
    features = dual.features_
    names = features.names.array[features.state.attributes]
    pairs = zip(names.tolist(), features.state.outputs.tolist(), strict=True)
    weights = dict(zip(pairs, dual.coef_[features.sections["state"]].tolist(), strict=True))
    for (name, label), weight in weights.items():
        if name.startswith("again:"):
            assert weight == pytest.approx(weights[name.replace("again", "word"), label], abs=1e-12)
    w = dual.coef_
    penalty = ratio * np.abs(w).sum() + (1 - ratio) / 2 * (w**2).sum()
    value = penalty - C * dual.log_likelihood(X, y).sum()
    assert dual.solution_.objective == pytest.approx(value, rel=1e-10)


def test_gaps_under_an_elastic_net_are_proven_soon():
    """Frequent attributes bend the losses far more than the penalty: slopes fall late."""
    random = np.random.default_rng(0)
    X, y = [], []
    for _ in range(400):
        words, labels, label = [], [], 0
        for _ in range(12):
            label = int(random.choice(5, p=np.roll([0.5, 0.2, 0.1, 0.1, 0.1], label)))
            at_random = random.random() < 0.4
            word = int(random.zipf(1.4)) % 300
            word = word if at_random else label * 60 + int(random.zipf(1.5)) % 60
            words.append([f"w{word}", f"s{word % 7}", "bias", f"p{word % 31}"])
            labels.append(str(label))
        X.append(words)
        y.append(labels)
    options = {"penalty": "elasticnet", "l1_ratio": 0.5, "C": 10.0, "tol": 1e-3}
    solution = CRF(random_state=0, max_iter=250, **options).fit(X, y).solution_
    assert solution.stopped is StopReason.CONVERGED  # without averaged slopes not in 300 passes


def test_two_solvers_agree_as_far_as_they_claim():
    X, y = sentences(60)
    found = [CRF(solver=s, tol=1e-12, max_iter=2000).fit(X, y).solution_ for s in ("dual", "lbfgs")]
    first, second = found
    assert abs(first.objective - second.objective) <= max(first.gap, second.gap)
    assert max(first.gap, second.gap) <= 1e-10 * first.objective
    assert {one.stopped for one in found} <= {StopReason.CONVERGED, StopReason.PRECISION}
    assert min(first.gap, second.gap) > 1e-15 * first.objective


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_the_bound_of_frank_wolfe_stays_below_every_value(dtype):
    random = np.random.default_rng(0)
    lengths = random.integers(2, 5, size=6)
    rows = (random.normal(size=(lengths.sum(), 3)) / 3).astype(dtype)
    y = [random.integers(0, 3, size=n).tolist() for n in lengths]
    cost = np.array([[0.0, 1.0, 2.5], [0.7, 0.0, 1.3], [1.9, 0.4, 0.0]])
    options = {"cost": cost, "C": 1.0, "random_state": 0}
    exact = StructuredSVM(tol=1e-10, max_iter=3000, **options)
    exact.fit((rows, lengths), y)
    for solver in ("frank_wolfe", "subgradient"):
        long = StructuredSVM(solver=solver, tol=1e-14, max_iter=20_000, **options)
        long.fit((rows, lengths), y)
        assert long.dual_bound_ <= exact.solution_.objective
        assert exact.dual_bound_ <= long.solution_.objective


def image(seed, size=40, n_labels=5):
    """Blocks of labels, and features that are one-hot plus 1.5 times noise."""
    random = np.random.default_rng(seed)
    blocks = random.integers(0, n_labels, size=(size // 10, size // 10))
    labels = np.kron(blocks, np.ones((10, 10), dtype=int))
    features = np.eye(n_labels)[labels] + 1.5 * random.normal(size=(size, size, n_labels))
    return features[None], labels[None]


def test_the_default_on_images_beats_the_features_it_is_given():
    X, y = image(0)
    other, truth = image(1)
    crf = CRF(Grid()).fit(X, y)
    assert crf.solution_.stopped is StopReason.CONVERGED
    assert crf.score(other, truth) > 0.8 > 2 * (other.argmax(axis=-1) == truth).mean()


@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_an_estimate_of_log_z_has_no_certificate():
    X, y = image(0, size=20)
    solution = CRF(Grid(), loss="likelihood", C=0.01).fit(X, y).solution_
    assert solution.stopped is StopReason.STATIONARY
    assert solution.gap == np.inf


@pytest.mark.parametrize("learner", [CRF, StructuredSVM, StructuredPerceptron])
def test_inference_is_chosen_again_for_the_graphs_of_a_prediction(learner):
    random = np.random.default_rng(0)
    path = [(0, 1), (1, 2), (2, 3)]
    X = [(random.normal(size=(4, 2)), path) for _ in range(5)]
    y = [(features[:, 0] > 0).astype(int) for features, _ in X]
    model = learner(Graph(), random_state=0).fit(X, y)
    assert model.features_.method == "forest"
    ring = [(features, [*path, (3, 0)]) for features, _ in X]
    assert [len(labels) for labels in model.predict(ring)] == [4] * 5
    assert 0 <= model.score(ring, y) <= 1


def test_labels_that_are_never_or_always_seen_do_not_hinder_the_proof():
    # Their best biases are infinite: the infimum is not attained.
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4))
    Y = (X @ random.normal(size=(4, 2)) + random.normal(size=(80, 2)) > 0).astype(int)
    Y = np.c_[Y, np.zeros(80, int), np.ones(80, int)]
    loose = CRF(LabelSet(), tol=1e-2).fit(X, Y).solution_
    tight = CRF(LabelSet(), tol=1e-7).fit(X, Y).solution_
    assert loose.stopped is tight.stopped is StopReason.CONVERGED
    assert loose.objective - loose.gap <= tight.objective < loose.objective


def test_tables_must_be_as_many_as_kinds_of_edges():
    graphs = Graphs.of([3], [[(0, 1), (1, 2)]])
    tables = np.stack([np.eye(2), 1 - np.eye(2)])
    with pytest.raises(DataError, match="2 tables for edges of 1 kinds"):
        GraphScores.of(graphs, np.zeros((3, 2)), tables)


@pytest.mark.parametrize("encoding", ["BIOES", "IOB1"])
@pytest.mark.parametrize("learner", [CRF, StructuredSVM, StructuredPerceptron])
def test_constraints_of_another_encoding_are_refused(learner, encoding):
    X, y = sentences()
    model = learner(random_state=0).fit(X, y)
    assert model.predict(X[:5], constraints="BIO")
    with pytest.raises(DataError, match=r"'B-X'.*encoding " + encoding):
        model.predict(X, constraints=encoding)
