"""The static table of learners: what there is, where it lives, and how to tune it.

The command line, the comparison and the report read this table; no family is imported until
`load` asks for it. The table runs from simple to elaborate, and a tie between two learners goes to
the one that stands first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "CHAIN_GRID",
    "C_GRID",
    "GAMMA_GRID",
    "K_GRID",
    "LEARNERS",
    "MANY_CLASSES",
    "MAX_PASSES",
    "PIXEL_GRID",
    "VARIANCE_GRID",
    "Learner",
    "get",
    "load",
    "names",
]

Kind = Literal["none", "passes", "path", "counts", "grid"]
#: What learners learn, as the tasks of `separatrix.tasks` name it.
Task = str

#: C = 1 / gamma for gamma = 10^3 … 10^-4, from strong to weak regularization.
C_GRID: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4)

#: C of the learners on chains, whose examples are whole sequences.
CHAIN_GRID: tuple[float, ...] = (1e-2, 1e-1, 1e0, 1e1, 1e2)

#: C of the learners on images, each of which has thousands of pixels.
PIXEL_GRID: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1)

#: The most passes an online learner gets before its best pass is taken.
MAX_PASSES = 20

#: Laplace's k, from trust in the counts to trust in the prior.
K_GRID: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2)

#: Shares of the largest variance that are added to all variances of Gaussian columns.
VARIANCE_GRID: tuple[float, ...] = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1e0)

#: gamma of radial basis features over standardized columns, from wide to narrow bumps.
GAMMA_GRID: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)

_BOTH: tuple[Task, ...] = ("binary", "multiclass")
_TWO: tuple[Task, ...] = ("binary",)
_NUMBERS: tuple[Task, ...] = ("regression",)
_MANY: tuple[Task, ...] = ("multiclass",)
_TAGGING: tuple[Task, ...] = ("tagging",)
_SETS: tuple[Task, ...] = ("label_sets",)
_IMAGES: tuple[Task, ...] = ("label_images",)
_LABELS, _ONLINE = "separatrix.learners.multilabel:MultiLabel", (("learner", "perceptron"),)

#: Columns up to which learners are tried by themselves that need more than linear time in them.
_NARROW = 1000
#: Rows up to which learners are tried by themselves that keep their train rows.
_SHORT = 5000
#: Classes from which on learners are tried by themselves that do not look at all of them, and no
#: others: a score for each class is too much.
MANY_CLASSES = 1000


@dataclass(frozen=True)
class Learner:
    """One line of the table.

    Attributes
    ----------
    name : str
        Name on the command line and in the leaderboard.
    target : str
        "module:Class" of the estimator.
    summary : str
        What it is, in a few words.
    kind : {"none", "passes", "path", "counts", "grid"}
        How it is tuned: not at all, by the number of passes, along a warm-started path of
        `parameter`, from counts (of naive Bayes: its model of the columns, `smoothing` along `grid`
        and `var_smoothing` along `VARIANCE_GRID`, as far as there are columns for them), or by a
        fit for every value of `parameter`.
    tasks : tuple of str
        What it can learn.
    parameter : str
        The tuned parameter; empty for kind "none".
    grid : tuple of float
        Its values, rising.
    params : tuple of (str, value)
        Further constructor arguments.
    features : str
        "module:Class" of a transformer that stands before the estimator, or nothing; `parameter`
        is then one of the transformer's.
    feature_params : tuple of (str, value)
        Its constructor arguments.
    baseline : bool
        Whether it runs first in every comparison.
    widest : int or None
        Columns up to which it is tried without being requested; None for any number, 0 for none.
    longest : int or None
        Train rows up to which it is tried without being requested; None for any number.
    raw : bool
        Whether it takes rows as they were read, not prepared ones.
    plain : bool
        Whether it takes plain features of tables and texts, not those that serve a linear model
        best.
    words : bool
        Whether tokens must have words for it.
    most_labels : int or None
        Labels of a set up to which it is tried without being requested.
    many : bool
        Whether it is for very many classes: from `MANY_CLASSES` on, it and not the others is tried
        without being requested.
    dependable : bool
        Whether it is tried first where time is short: good on most data, and never far behind.
    """

    name: str
    target: str
    summary: str
    kind: Kind
    tasks: tuple[Task, ...] = _BOTH
    parameter: str = ""
    grid: tuple[float, ...] = ()
    params: tuple[tuple[str, Any], ...] = ()
    features: str = ""
    feature_params: tuple[tuple[str, Any], ...] = ()
    baseline: bool = False
    widest: int | None = None
    longest: int | None = None
    raw: bool = False
    plain: bool = False
    words: bool = False
    most_labels: int | None = None
    many: bool = False
    dependable: bool = False


def _baseline(
    name: str,
    target: str,
    summary: str,
    tasks: tuple[Task, ...] = _BOTH,
    module: str = "baselines",
) -> Learner:
    target = f"separatrix.learners.{module}:{target}"
    return Learner(name, target, summary, "none", tasks, baseline=True)


def _passes(
    name: str,
    target: str,
    summary: str,
    params: tuple[tuple[str, Any], ...] = (),
    tasks: tuple[Task, ...] = _BOTH,
    widest: int | None = None,
    longest: int | None = None,
) -> Learner:
    grid = tuple(float(n) for n in range(1, MAX_PASSES + 1))
    return Learner(
        name,
        target,
        summary,
        "passes",
        tasks,
        "passes",
        grid,
        params,
        widest=widest,
        longest=longest,
    )


def _path(
    name: str,
    target: str,
    summary: str,
    params: tuple[tuple[str, Any], ...] = (),
    tasks: tuple[Task, ...] = _BOTH,
    widest: int | None = None,
    dependable: bool = False,
) -> Learner:
    own: Any = {"params": params, "widest": widest, "dependable": dependable}
    return Learner(name, target, summary, "path", tasks, "C", C_GRID, **own)


def _regression(
    name: str,
    summary: str,
    features: str = "",
    parameter: str = "",
    grid: tuple[float, ...] = (),
    feature_params: tuple[tuple[str, Any], ...] = (),
    widest: int = _NARROW,
) -> Learner:
    kind: Kind = "grid" if grid else "none"
    target = "separatrix.bayes:BayesianLinearRegression"
    features = features and f"separatrix.features:{features}"
    own: Any = {"features": features, "feature_params": feature_params, "widest": widest}
    own["dependable"], own["plain"] = not features, bool(features)
    return Learner(name, target, summary, kind, _NUMBERS, parameter, grid, **own)


def _reduction(name: str, target: str, summary: str, widest: int | None = _NARROW) -> Learner:
    target = f"separatrix.learners.reductions:{target}"
    return Learner(name, target, summary, "grid", _MANY, "C", C_GRID, widest=widest)


def _chain_baseline(name: str, target: str, summary: str, words: bool = False) -> Learner:
    target = f"separatrix.learners.structured:{target}"
    own: Any = {"baseline": True, "raw": True, "words": words}
    return Learner(name, target, summary, "none", _TAGGING, **own)


def _chain(
    name: str,
    target: str,
    summary: str,
    params: tuple[tuple[str, Any], ...] = (),
    widest: int | None = None,
) -> Learner:
    """A learner on chains with a C: its solvers are faster from zero than from the C before."""
    target = f"separatrix.learners.structured:{target}"
    # From a gap of 1e-2 on held-out F1 moved by at most 0.9 points at C = 0.1 and 0.5 at C = 1
    # where it was tried (wnut17, conll2002 Dutch); passes grow with C.
    rough = (("tol", 1e-2), ("max_iter", 500))
    own: Any = {"params": (*params, *rough), "widest": widest}
    return Learner(name, target, summary, "grid", _TAGGING, "C", CHAIN_GRID, **own)


def _sets(name: str, summary: str, most_labels: int | None = None, **params: Any) -> Learner:
    """A learner of label sets with a C."""
    own: Any = {"params": (*params.items(), ("tol", 1e-3)), "most_labels": most_labels}
    return Learner(name, _LABELS, summary, "grid", _SETS, "C", CHAIN_GRID, **own)


def _images(name: str, summary: str, **params: Any) -> Learner:
    """A learner of label images with a C, which is the weight of the loss of every pixel."""
    target = "separatrix.learners.segmentation:Segmenter"
    # Labels are enlarged again; from a gap of 1e-2 on held-out pixels hardly change.
    own: Any = {"params": (*params.items(), ("max_side", 64), ("tol", 1e-2))}
    return Learner(name, target, summary, "grid", _IMAGES, "C", PIXEL_GRID, **own)


LEARNERS: tuple[Learner, ...] = (
    _baseline("majority_class", "MajorityClass", "the most frequent class"),
    _baseline("prior_sampling", "PriorSampling", "a draw from the class prior"),
    _baseline("mean_value", "MeanValue", "the mean of the target", _NUMBERS),
    _baseline("median_value", "MedianValue", "the median of the target", _NUMBERS),
    _chain_baseline("majority_label", "MajorityLabel", "the most frequent label"),
    _chain_baseline("label_per_word", "LabelPerWord", "the most frequent label of each word", True),
    _baseline("frequent_labels", "FrequentLabels", "one set of labels", _SETS, "multilabel"),
    _baseline("majority_pixel", "MajorityPixel", "one label for all", _IMAGES, "segmentation"),
    Learner(
        "naive_bayes",
        "separatrix.learners.generative:NaiveBayes",
        "naive Bayes, a model for each kind of column, smoothed",
        "counts",
        parameter="smoothing",
        grid=K_GRID,
        plain=True,
    ),
    Learner(
        "gaussian_discriminant",
        "separatrix.learners.generative:GaussianDiscriminant",
        "Gaussian classes with one covariance (LDA), shrunk",
        "none",
        params=(("shrinkage", "auto"),),
        widest=_NARROW,
        plain=True,
    ),
    Learner(
        "quadratic_discriminant",
        "separatrix.learners.generative:GaussianDiscriminant",
        "Gaussian classes with a covariance each, shrunk",
        "none",
        params=(("shared_covariance", False), ("shrinkage", "auto")),
        widest=_NARROW,
        plain=True,
    ),
    _passes(
        "perceptron",
        "separatrix.learners.linear:Perceptron",
        "averaged perceptron",
        (("averaging", "average"),),
    ),
    _passes(
        "voted_perceptron",
        "separatrix.learners.linear:Perceptron",
        "voted perceptron",
        (("averaging", "vote"),),
        widest=_NARROW,
        longest=_SHORT,
    ),
    _passes(
        "mira",
        "separatrix.learners.linear:MIRA",
        "averaged MIRA (margin-infused, smallest change per mistake)",
        (("averaging", "average"),),
    ),
    _path(
        "least_squares",
        "separatrix.learners.linear:LinearClassifier",
        "squared loss on the labels +1 and -1",
        (("loss", "squared"),),
        _TWO,
    ),
    _path(
        "linear_svm",
        "separatrix.learners.linear:LinearSVM",
        "support vector machine, hinge loss (Crammer-Singer for many classes)",
    ),
    _path(
        "squared_hinge_svm",
        "separatrix.learners.linear:LinearSVM",
        "support vector machine, squared hinge loss",
        (("loss", "squared_hinge"),),
        _TWO,
    ),
    _path(
        "logistic_regression",
        "separatrix.learners.linear:LogisticRegression",
        "logistic regression (softmax for many classes), L2 penalty",
        dependable=True,
    ),
    _path(
        "laplace_logistic",
        "separatrix.bayes:LaplaceLogisticRegression",
        "logistic regression with a Gaussian posterior, probabilities averaged over it",
        widest=_NARROW // 10,
    ),
    _path(
        "sparse_logistic",
        "separatrix.learners.linear:LogisticRegression",
        "logistic regression (softmax for many classes), L1 penalty",
        (("penalty", "l1"),),
        widest=_NARROW,
    ),
    _path(
        "stochastic_logistic",
        "separatrix.learners.linear:LinearClassifier",
        "logistic loss (softmax for many classes) by averaged stochastic gradient",
        (("loss", "logistic"), ("solver", "sgd"), ("tol", 1e-3), ("max_iter", 50)),
        widest=_NARROW,
    ),
    _path(
        "exponential_loss",
        "separatrix.learners.linear:LinearClassifier",
        "exponential loss, as in AdaBoost",
        (("loss", "exponential"),),
        _TWO,
        widest=_NARROW,
    ),
    _regression("bayesian_regression", "linear regression, ridge and noise by the evidence"),
    _regression(
        "polynomial_regression",
        "linear regression on products of columns, ridge and noise by the evidence",
        "Polynomial",
        "degree",
        (2, 3),
        widest=30,
    ),
    _regression(
        "radial_regression",
        "linear regression on radial basis features, ridge and noise by the evidence",
        "RadialBasis",
        "gamma",
        GAMMA_GRID,
        (("method", "nystroem"), ("centers", "random"), ("n_components", 300), ("random_state", 0)),
        widest=100,
    ),
    _reduction("one_vs_all", "OneVsAll", "one-vs-all of squared hinge machines", None),
    _reduction("all_pairs", "AllPairs", "all pairs of squared hinge machines, by vote"),
    _reduction("output_code", "OutputCode", "random output code of squared hinge machines"),
    Learner(
        "many_class",
        "separatrix.learners.extreme:ManyClass",
        "very many classes: candidates by an inverted index, ranked by learned weights of pairs",
        "grid",
        _MANY,
        "candidates",
        (24, 96),
        many=True,
    ),
    Learner(
        "label_index",
        "separatrix.learners.extreme:ManyClass",
        "very many classes: the candidates of an inverted index, in its order",
        "none",
        _MANY,
        params=(("rerank", False), ("candidates", 96)),
        many=True,
    ),
    Learner(
        "joint_features",
        "separatrix.learners.extreme:JointFeatures",
        "very many classes: every one ranked by weights of hashed pairs, learned against others",
        "grid",
        _MANY,
        "max_iter",
        (2, 5),
        # Words, so that labels can be added that training never saw.
        (("y_features", ("identity", "words")),),
        many=True,
    ),
    Learner(
        "sampled_softmax",
        "separatrix.learners.extreme:SampledSoftmax",
        "very many classes, few columns: every one ranked by a softmax learned against a sample",
        "grid",
        _MANY,
        "C",
        (1.0, 10.0),
        widest=_NARROW,
        many=True,
    ),
    _passes(
        "structured_perceptron",
        "separatrix.learners.structured:StructuredPerceptron",
        "averaged perceptron on chains",
        tasks=_TAGGING,
    ),
    _passes(
        "structured_mira",
        "separatrix.learners.structured:StructuredPerceptron",
        "averaged MIRA on chains",
        (("loss", "mira"),),
        _TAGGING,
        widest=_NARROW,
    ),
    _chain("structured_svm", "StructuredSVM", "support vector machine on chains, Hamming cost"),
    _chain("crf", "CRF", "conditional random field on chains, L2 penalty"),
    _chain(
        "segment_crf",
        "CRF",
        "conditional random field on segments of labels B and I, with weights of lengths",
        (("structure", "segments"),),
        widest=0,
    ),
    _sets("independent_labels", "a logistic regression for every label", edges=()),
    _passes("label_perceptron", _LABELS, "perceptron on a tree of labels", _ONLINE, _SETS),
    _sets("label_svm", "support vector machine on a tree of labels", learner="svm"),
    _sets("label_crf", "conditional random field on a tree of labels"),
    Learner(
        "many_labels",
        "separatrix.learners.multilabel:ManyLabels",
        "very many labels: a logistic regression for each, by passes over blocks of rows",
        "grid",
        _SETS,
        "C",
        (1.0, 3.0, 10.0),
        many=True,
    ),
    _sets("label_pairs", "conditional random field on all pairs of labels", 14, edges="full"),
    _images("pixel_logistic", "logistic regression for every pixel by itself", neighborhood=0),
    Learner(
        "grid_perceptron",
        "separatrix.learners.segmentation:Segmenter",
        "averaged perceptron on grids of pixels",
        "none",
        _IMAGES,
        params=(("learner", "perceptron"), ("max_side", 64)),
    ),
    _images("grid_crf", "conditional random field on grids of pixels"),
)


def names(task: Task | None = None) -> tuple[str, ...]:
    """Names of all learners, or of those that can learn `task`, in the order of the table.

    Examples
    --------
    >>> names()[:2]
    ('majority_class', 'prior_sampling')
    >>> "squared_hinge_svm" in names("multiclass")
    False
    """
    return tuple(learner.name for learner in LEARNERS if task is None or task in learner.tasks)


def get(name: str) -> Learner:
    """Return the line called `name`.

    Raises
    ------
    KeyError
        With the known names in the message.

    Examples
    --------
    >>> get("mira").kind
    'passes'
    """
    for learner in LEARNERS:
        if learner.name == name:
            return learner
    raise KeyError(f"There is no learner {name!r}; known are {', '.join(names())}.")


def load(target: str) -> type[Any]:
    """Import the class that a line names as "module:Class".

    Examples
    --------
    >>> load(get("majority_class").target).__name__
    'MajorityClass'
    """
    # Imported here so that reading the table costs nothing.
    import importlib

    module, _, name = target.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), name)
    return found
