"""A fitted model of every kind that a file can hold, and what to ask of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from separatrix import (
    CRF,
    MIRA,
    AllPairs,
    BayesDecision,
    BayesianLinearRegression,
    Calibrated,
    Conjunctions,
    CostMatrix,
    FeatureGraphs,
    FrequentLabels,
    GaussianDiscriminant,
    Graph,
    Grid,
    Hasher,
    Interpolation,
    JointFeatures,
    JointMap,
    LabelPerWord,
    LabelSet,
    LaplaceLogisticRegression,
    LaplaceSmoothing,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    MajorityClass,
    MajorityLabel,
    MajorityPixel,
    ManyClass,
    ManyLabels,
    MeanValue,
    MedianValue,
    MessageText,
    MultiLabel,
    NaiveBayes,
    OneVsAll,
    OutputCode,
    Perceptron,
    PixelGrid,
    Polynomial,
    PriorSampling,
    RadialBasis,
    SampledSoftmax,
    Segmenter,
    SpamFeatures,
    StructuredPerceptron,
    StructuredSVM,
    SupervisedBins,
    TableEncoder,
    Templates,
    TextVectorizer,
)
from separatrix.features.templates import column, preset
from separatrix.learners.reductions import ClassNumbers
from separatrix.losses import SquaredHinge, multiclass_hinge
from separatrix.penalties import ElasticNet
from separatrix.solvers import Adam, Lbfgs
from separatrix.structures import Chain

_random = np.random.default_rng(0)
X = np.ascontiguousarray(_random.normal(size=(90, 6)))
Y = np.array(["cat", "dog", "wolf"])[(X @ _random.normal(size=(6, 3))).argmax(axis=1)]
TWO = (Y == "cat").astype(np.int64)
SPARSE = sp.csr_matrix(np.where(np.abs(X) > 0.7, X, 0.0))
IMAGES = (_random.random((12, 16)) > 0.5).astype(np.float64)
FRAME = pd.DataFrame(
    {
        "age": np.where(_random.random(90) < 0.1, np.nan, 40 + 10 * X[:, 0]),
        "city": _random.choice(["Oslo", "Rome", "Līma"], 90),
        "member": X[:, 1] > 0,
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(90), "D"),
    }
)
BINARY = pd.DataFrame({"a": X[:, 0] > 0, "b": _random.choice(["u", "v"], 90)})
MAILS = [
    "From: ann@example.org\nTo: bob@example.org\nSubject: lunch\n\nDear Bob, at noon?",
    "From: win@cheap.example\nTo: bob@example.org\nSubject: WIN $99\n\nFREE!!! http://192.0.2.7/",
]


TEXTS = ["see you at noon", "cheap pills, cheap!", "Noon? See you", "win CHEAP pills"] * 3
SPAM = np.array(["ham", "spam", "ham", "spam"] * 3)
LONG = [f"the quick brown fox number {k} jumps over the läzy dog, and then some" for k in range(90)]


TOKENS = [[("New", "JJ"), ("York", "NN")], [], [("the", "DT"), ("New", "JJ"), ("é", "NN")]]


class Case(NamedTuple):
    """How to fit a model, and the arrays that a copy of it must give as well."""

    fit: Callable[[], Any]
    ask: Callable[[Any], list[Any]]


def _classifier(estimator: Any, y: Any = Y, data: Any = X, **options: Any) -> Case:
    def ask(model: Any) -> list[Any]:
        names = ("predict", "decision_function", "predict_proba", "predict_log_proba")
        answers = [getattr(model, name)(data) for name in names if hasattr(model, name)]
        assert len(answers) >= 2
        return answers

    return Case(lambda: estimator.fit(data, y, **options), ask)


def _regressor(estimator: Any) -> Case:
    def ask(model: Any) -> list[Any]:
        spread = model.predict(X, return_std=True)
        return [model.predict(X), *spread, deepcopy(model).partial_fit(X, X[:, 1]).coef_]

    return Case(lambda: estimator.fit(X, X @ np.arange(6.0) + X[:, 0] ** 2), ask)


def _constant(estimator: Any) -> Case:
    return Case(
        lambda: estimator.fit(X, X[:, 0]),
        lambda model: [model.predict(X), model.predictive(X).logpdf(X[:, 0])],
    )


def _transformer(estimator: Any, data: Any = X, y: Any = None) -> Case:
    def ask(model: Any) -> list[Any]:
        return [model.transform(data), model.get_feature_names_out()]

    return Case(lambda: estimator.fit(data, y), ask)


def _joint(combine: str) -> Case:
    features = sp.csr_array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.5, 0.0, 0.0]])
    return Case(
        lambda: JointMap(combine, n_features=64).fit(
            X, Y, labels=["cat", "dog", "wolf"], label_features=features
        ),
        lambda model: [
            model.features(X, Y),
            model.scores(X, np.arange(float(model.n_features_out_))),
            model.get_feature_names_out(),
        ],
    )


def _tagger(estimator: Any) -> Case:
    tokens = [[{"word": word, "size": float(len(word))} for word in text.split()] for text in TEXTS]
    tags = [["long" if len(word) > 4 else "short" for word in text.split()] for text in TEXTS]

    def ask(model: Any) -> list[Any]:
        answers = [np.array([tag for row in model.predict(tokens) for tag in row])]
        answers.append(model.decision_function(tokens, tags))
        if hasattr(model, "predict_proba"):
            answers.append(np.vstack(model.predict_proba(tokens)))
        elif callable(getattr(model, "loss", None)):
            answers += [model.loss(tokens, tags), deepcopy(model).fit(tokens, tags).coef_]
        else:
            answers.append(deepcopy(model).partial_fit(tokens, tags).coef_)
        return answers

    return Case(lambda: estimator.fit(tokens, tags), ask)


def _on_images(estimator: Any) -> Case:
    images = X[:48].reshape(4, 12, 6)
    data = images, (images > 0).astype(np.int64)
    return Case(lambda: estimator.fit(*data), lambda model: _answers(model, *data))


def _on_graphs(estimator: Any, *, tree: bool = False, factors: bool = False) -> Case:
    edges = [(0, 1), (1, 2)] if tree else [(0, 1), (1, 2), (2, 0)]
    graphs = [(X[3 * i : 3 * i + 3], edges, X[3 * i : 3 * i + len(edges), :2]) for i in range(30)]
    labels = [Y[3 * i : 3 * i + 3] for i in range(30)]
    if factors:
        groups = [[(0, 1, 2)]] * 30
        graphs = FeatureGraphs.of([part[0] for part in graphs], [[(0, 1)]] * 30, factors=groups)
    data = graphs, labels
    return Case(lambda: estimator.fit(*data), lambda model: _answers(model, *data))


def _on_rows(estimator: Any) -> Case:
    sets = (X[:, :3] > 0).astype(np.int64)
    return Case(lambda: estimator.fit(X, sets), lambda model: _answers(model, X, sets))


def _answers(model: Any, data: Any, labels: Any) -> list[Any]:
    answers = [np.stack(model.predict(data)), model.decision_function(data, labels)]
    if hasattr(model, "predict_proba"):
        answers.append(np.stack(model.predict_proba(data)))
    return [*answers, deepcopy(model).fit(data, labels).coef_]


def _by_duals() -> Any:
    """All pairs with more columns than rows hold weights, which are kept as rows and duals."""
    labels = np.arange(60)
    rows = sp.csr_array(
        (np.ones(120), np.tile(labels * 500, 2), np.arange(121)), shape=(120, 30_000)
    )
    return AllPairs(LogisticRegression(random_state=0)).fit(rows, np.tile(labels, 2))


def _partly_fitted() -> Any:
    model = MIRA(averaging="average", random_state=np.random.RandomState(3))
    return model.partial_fit(X, Y)


def _templates(estimator: Any) -> Case:
    def ask(model: Any) -> list[Any]:
        rows = model.transform(TOKENS)
        return [rows.matrix, model.get_feature_names_out(), model.on_transitions_]

    return Case(lambda: estimator.fit(TOKENS), ask)


def _counting() -> Any:
    model = TextVectorizer(min_df=2, ngram_range=(1, 2), nb_log_ratio=True)
    return model.partial_fit(TEXTS[:6], SPAM[:6])


def _columns() -> Any:
    parts = [("table", TableEncoder(), ["city", "since"]), ("plain", "passthrough", ["member"])]
    return ColumnTransformer(parts, remainder=make_pipeline(TableEncoder()))


def _union() -> Any:
    return FeatureUnion([("squares", Polynomial()), ("bumps", RadialBasis(gamma=0.3))])


def _word_tagger(estimator: Any) -> Case:
    words = [text.split() for text in TEXTS]
    tags = [["long" if len(word) > 4 else "short" for word in row] for row in words]

    def ask(model: Any) -> list[Any]:
        said = model.predict([*words, ["new", "words"]])
        return [np.array([tag for row in said for tag in row])]

    return Case(lambda: estimator.fit(words, tags), ask)


def _labeler(estimator: Any, labels: Any = None) -> Case:
    matrix = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] + X[:, 1] > 0]).astype(np.int64)
    sets = matrix if labels is None else [[labels[at] for at in np.flatnonzero(r)] for r in matrix]

    def ask(model: Any) -> list[Any]:
        said = model.predict(X)
        return [said if labels is None else said.matrix().toarray(), model.predict_proba(X)]

    return Case(lambda: estimator.fit(X, sets), ask)


def _segmenter(estimator: Any) -> Case:
    images = [X[12 * at : 12 * at + 12, :4] for at in range(4)]
    masks = [image > 0.2 for image in images]

    def ask(model: Any) -> list[Any]:
        return [np.stack(model.predict(images)), np.stack(model.predict_proba(images))]

    return Case(lambda: estimator.fit(images, masks), ask)


CASES: dict[str, Case] = {
    "multi_label": _labeler(MultiLabel(decision="f1")),
    "multi_label_named": _labeler(
        MultiLabel(edges=[("a", "c")], decision="hamming", C=0.1), ["a", "b", "c"]
    ),
    "frequent_labels": _labeler(FrequentLabels("hamming"), [1, 2, 3]),
    "segmenter": _segmenter(Segmenter(C=0.01, max_iter=30, tol=1e-2)),
    "majority_pixel": _segmenter(MajorityPixel()),
    "majority_label": _word_tagger(MajorityLabel()),
    "label_per_word": _word_tagger(LabelPerWord()),
    "crf": _tagger(CRF(random_state=0)),
    "crf_second_order": _tagger(CRF(Chain(order=2, boundaries=False), C=0.1)),
    "crf_forest": _on_graphs(CRF("forest"), tree=True),
    "crf_factors": _on_graphs(CRF("graph"), factors=True),
    "crf_grid": _on_images(CRF(Grid(neighborhood=8), loss="pseudo")),
    "crf_label_set": _on_rows(CRF(LabelSet([(0, 1), (1, 2)]))),
    "perceptron_graph": _on_graphs(StructuredPerceptron(Graph(pairs="potts"), random_state=0)),
    "svm_label_set": _on_rows(StructuredSVM("label_set", random_state=0)),
    "svm_forest": _on_graphs(StructuredSVM("forest", random_state=0), tree=True),
    "structured_perceptron": _tagger(StructuredPerceptron(random_state=0)),
    "structured_svm": _tagger(StructuredSVM(random_state=0, warm_start=True)),
    "structured_svm_second_order": _tagger(
        StructuredSVM(Chain(order=2), cost="hamming_mean", random_state=0)
    ),
    "majority_class": _classifier(MajorityClass()),
    "naive_bayes": _classifier(NaiveBayes(), TWO, X > 0),
    "naive_bayes_gaussian": _classifier(NaiveBayes("gaussian", smoothing=Interpolation(0.5))),
    "naive_bayes_counts": _classifier(
        NaiveBayes("multinomial", smoothing=LaplaceSmoothing(0.5), complement=True), Y, abs(SPARSE)
    ),
    "gaussian_discriminant": _classifier(GaussianDiscriminant(shrinkage="auto")),
    "own_covariances": _classifier(GaussianDiscriminant(shared_covariance=False, shrinkage=0.1)),
    "prior_sampling": _classifier(PriorSampling(random_state=3)),
    "logistic_regression": _classifier(LogisticRegression(C=10.0)),
    "logistic_two": _classifier(LogisticRegression(penalty="l1"), TWO),
    "logistic_single": _classifier(LogisticRegression(), Y, X.astype(np.float32)),
    "logistic_no_intercept": _classifier(LogisticRegression(fit_intercept=False)),
    "logistic_sparse": _classifier(LogisticRegression(class_weight="balanced"), Y, SPARSE),
    "logistic_weights": _classifier(LogisticRegression(class_weight={"cat": 2.0, "dog": 1}), Y),
    "logistic_named_columns": _classifier(
        LogisticRegression(), Y, pd.DataFrame(X, columns=list("abcdef"))
    ),
    "linear_svm": _classifier(LinearSVM(random_state=0, solver="dual")),
    "linear_svm_cost": _classifier(
        LinearSVM(cost=np.array([[0.0, 1], [3, 0]]), random_state=0), TWO
    ),
    "linear_classifier": _classifier(LinearClassifier("exponential"), TWO),
    "linear_classifier_objects": _classifier(
        LinearClassifier(SquaredHinge(), ElasticNet(0.0), solver=Lbfgs(memory=5)), TWO
    ),
    "linear_classifier_generated": _classifier(
        LinearClassifier(multiclass_hinge(1.0 - np.eye(3)), solver=Adam(seed=3), tol=0.1)
    ),
    "perceptron": _classifier(Perceptron(random_state=0)),
    "perceptron_vote": _classifier(Perceptron(averaging="vote", random_state=0)),
    "perceptron_vote_sparse": _classifier(Perceptron(averaging="vote", random_state=0), Y, SPARSE),
    "mira": _classifier(MIRA(random_state=0), TWO),
    "mira_partly_fitted": Case(_partly_fitted, _classifier(MIRA()).ask),
    "one_vs_all": _classifier(OneVsAll(LogisticRegression(), cost=1.0 - np.eye(3))),
    "one_vs_all_apart": _classifier(OneVsAll(MIRA(random_state=0), n_jobs=1)),
    "all_pairs": _classifier(AllPairs(LogisticRegression()), Y, SPARSE),
    "all_pairs_by_duals": Case(
        _by_duals, lambda model: [model.column_scores(sp.eye_array(9, 30_000, format="csr"))]
    ),
    "output_code": _classifier(
        OutputCode(LogisticRegression(), code="random_sparse", random_state=0)
    ),
    "output_code_given": _classifier(OutputCode(code=[[1, 0], [-1, 1], [0, -1]])),
    "many_class": _classifier(ManyClass(candidates=2, random_state=0)),
    "many_labels": Case(
        lambda: ManyLabels(random_state=0).fit(
            SPARSE, sp.csr_array(np.eye(3, dtype=int)[np.arange(90) % 3])
        ),
        lambda model: [model.predict_proba(SPARSE), model.predict(SPARSE).toarray()],
    ),
    "joint_features": _classifier(JointFeatures(n_features=2**10, random_state=0)),
    "joint_features_named": _classifier(
        JointFeatures(
            y_features=("words", "characters"), combine="conjunction", loss="mira", random_state=0
        ),
        Y,
        SPARSE,
    ),
    "sampled_softmax": _classifier(SampledSoftmax(random_state=0)),
    "class_numbers": Case(
        lambda: ClassNumbers(BayesianLinearRegression()).fit(X, Y), lambda m: [m.predict(X)]
    ),
    "polynomial": _transformer(Polynomial((0, 3), interaction_only=True)),
    "polynomial_hashed": _transformer(Polynomial(n_features=64)),
    "radial": _transformer(RadialBasis()),
    "radial_sparse": _transformer(
        RadialBasis(centers="random", n_components=7, random_state=0), SPARSE
    ),
    "radial_nystroem": _transformer(
        RadialBasis("nystroem", centers="kmeans", n_components=5, random_state=0)
    ),
    "radial_fourier": _transformer(RadialBasis("fourier", n_components=9, random_state=0)),
    "radial_given": _transformer(RadialBasis(centers=SPARSE[:4])),
    "pixels": _transformer(PixelGrid((4, -1)), IMAGES),
    "conjunctions": _transformer(Conjunctions(), BINARY),
    "conjunctions_sparse": _transformer(Conjunctions(min_count=3), SPARSE),
    "table": _transformer(TableEncoder(), FRAME),
    "bins": _transformer(SupervisedBins(8), np.where(X > 1.5, np.nan, X), Y),
    "table_bins": _transformer(
        TableEncoder(numbers="bins", pairs=[("age", "city"), ("city", "member")]), FRAME, Y
    ),
    "table_both": _transformer(TableEncoder(numbers="both"), FRAME, Y),
    "table_robust": _transformer(TableEncoder(numbers="robust"), FRAME),
    "table_splines": _transformer(TableEncoder(numbers="splines"), FRAME),
    "table_single": _transformer(
        TableEncoder({"age": "drop"}, min_frequency=0.1, dtype=np.float32), FRAME
    ),
    "table_unnamed": _transformer(TableEncoder(), FRAME.to_numpy(dtype=object)[:, :3]),
    "table_to_frame": _transformer(
        TableEncoder(sparse_output=False).set_output(transform="pandas"), FRAME
    ),
    "spam": _transformer(SpamFeatures(), MAILS),
    "spam_contacts": _transformer(SpamFeatures({"ann@example.org", "b@c.org"}), MAILS),
    "message_text": Case(MessageText, lambda model: [np.array(model.transform(MAILS))]),
    "text": _transformer(TextVectorizer(ngram_range=(1, 2), stop_words=["at"]), TEXTS),
    "text_ratio": _transformer(
        TextVectorizer("char_wb", (2, 4), dtype=np.float32, nb_log_ratio=True), TEXTS, SPAM
    ),
    "text_pattern": _transformer(TextVectorizer(token_pattern=r"[a-z]{3,}", max_df=0.9), TEXTS),
    "text_given": _transformer(TextVectorizer(vocabulary={"noon": 1, "cheap": 0}), TEXTS),
    "text_hashed": _transformer(TextVectorizer(n_features=32, use_idf=True), TEXTS),
    "text_counting": Case(
        _counting, lambda model: [deepcopy(model).partial_fit(TEXTS, SPAM).transform(TEXTS)]
    ),
    "templates": _templates(Templates("chunking", padding="mark")),
    "templates_terms": _templates(
        Templates(
            [*preset("pos"), column("word").lower()[1], "transitions: listed(word, place)"],
            dictionaries={"place": ["New York"]},
            min_count=2,
        )
    ),
    "templates_crfpp": _templates(Templates.from_crfpp("U:%x[0,0]/%x[1,1]\nB\n")),
    "templates_hashed": _templates(Templates("ner", hashing=64)),
    "hasher": Case(
        lambda: Hasher(16), lambda model: [model.transform([{"dog": 1, "town": "Oslo"}])]
    ),
    "table_of_texts": _transformer(TableEncoder(), FRAME.assign(review=LONG)),
    "bayes_decision": _classifier(
        BayesDecision(LogisticRegression(), CostMatrix(1.0 - np.eye(3), reject=0.3))
    ),
    "calibrated": _classifier(Calibrated(LogisticRegression(), random_state=0)),
    "calibrated_sigmoid": _classifier(Calibrated(LogisticRegression(), "sigmoid", random_state=0)),
    "calibrated_isotonic": _classifier(
        Calibrated(LogisticRegression(), "isotonic", random_state=0)
    ),
    "mean_value": _constant(MeanValue()),
    "median_value": _constant(MedianValue()),
    "bayes_regression": _regressor(BayesianLinearRegression()),
    "bayes_regression_conjugate": _regressor(
        BayesianLinearRegression(prior_covariance=np.eye(6), noise="conjugate", fit_intercept=False)
    ),
    "laplace": _classifier(LaplaceLogisticRegression(random_state=0)),
    "laplace_evidence": _classifier(LaplaceLogisticRegression(C="evidence", random_state=0), TWO),
    "laplace_diagonal": _classifier(
        LaplaceLogisticRegression(covariance="diagonal", random_state=0)
    ),
    "laplace_low_rank": _classifier(
        LaplaceLogisticRegression(covariance="low_rank", rank=2, random_state=0), TWO
    ),
    "pipeline_of_texts": _classifier(make_pipeline(TextVectorizer(), LinearSVM()), SPAM, TEXTS),
    "joint_all": _joint("all"),
    "joint_seen": _joint("seen"),
    "joint_hash": _joint("hash"),
    "pipeline": _classifier(
        Pipeline([("table", TableEncoder()), ("l", LinearSVM(random_state=0))]), Y, FRAME
    ),
    "pipeline_of_union": _classifier(
        make_pipeline(StandardScaler(), _union(), Perceptron(random_state=0))
    ),
    "pipeline_of_columns": _classifier(
        make_pipeline(_columns(), MaxAbsScaler(), LogisticRegression()), Y, FRAME
    ),
    "pipeline_of_scalers": _classifier(
        make_pipeline(MinMaxScaler(), Normalizer(), "passthrough", LogisticRegression())
    ),
    "union": _transformer(_union()),
    "columns": _transformer(_columns(), FRAME),
}
