"""The closed table of classes that a model file may name. Imports no family until one is requested.

Learners of `registry` are in it by themselves; features, value objects and scikit-learn's
containers have a line each; a program may `register` classes of its own. A file that names any
other class is refused, and nothing outside this table is ever imported because a file says so.
"""

from __future__ import annotations

import importlib
from typing import Any

from separatrix.registry import LEARNERS

__all__ = [
    "CLASSES",
    "LEFT_OUT",
    "SHARED_STATE",
    "class_named",
    "is_known",
    "name_of",
    "register",
    "state_of",
]


def _lines(module: str, *names: str) -> dict[str, str]:
    return {name: f"{module}:{name}" for name in names}


#: Name in the file -> "module:Class".
CLASSES: dict[str, str] = {
    **{learner.target.partition(":")[2]: learner.target for learner in LEARNERS},
    **_lines("separatrix.features.conjunctions", "Conjunctions"),
    **_lines("separatrix.features.hasher", "Hasher"),
    **_lines("separatrix.features.joint", "JointMap"),
    **_lines("separatrix.features.pixels", "PixelGrid"),
    **_lines("separatrix.features.polynomial", "Polynomial"),
    **_lines("separatrix.features.radial", "RadialBasis"),
    **_lines("separatrix.features.text.spam", "MessageText", "SpamFeatures"),
    **_lines(
        "separatrix.features.tables.bins",
        "BinEncoder",
        "BothEncoder",
        "PairEncoder",
        "SupervisedBins",
    ),
    **_lines("separatrix.features.tables.encoder", "TableEncoder"),
    **_lines("separatrix.features.templates.estimator", "Templates"),
    **_lines("separatrix.features.text.vectorizer", "TextVectorizer"),
    **_lines("separatrix.bayes.calibration.calibrated", "Calibrated"),
    **_lines("separatrix.learners.structured.minimizing", "CRF", "StructuredSVM"),
    **_lines("separatrix.learners.structured.perceptron", "StructuredPerceptron"),
    **_lines("separatrix.bayes.decision.classifier", "BayesDecision"),
    **_lines("separatrix.bayes.regression.estimator", "BayesianLinearRegression"),
    **_lines("separatrix.bayes.laplace.classifier", "LaplaceLogisticRegression"),
    **_lines("separatrix.learners.reductions", "ClassNumbers"),
    **_lines("separatrix.learners.extreme", "SampledSoftmax"),
    # Parts of the above.
    **_lines(
        "separatrix.features.tables.columns_to_numbers",
        "BooleanEncoder",
        "CategoryEncoder",
        "DateEncoder",
        "NumericEncoder",
        "RobustEncoder",
        "SplineEncoder",
        "TextEncoder",
    ),
    **_lines("separatrix.data.schema", "Schema", "SchemaColumn"),
    **_lines("separatrix.features.text.analysis", "Analysis"),
    **_lines("separatrix.features.text.log_ratio", "TwoClasses"),
    **_lines("separatrix.features.templates.compiled", "CompiledTemplates"),
    **_lines("separatrix.features.templates.maps", "WordMap"),
    **_lines("separatrix.features.templates.model", "TemplateModel"),
    **_lines("separatrix.features.templates.spec", "TemplateTerm", "TokenPart", "TokenValue"),
    **_lines("separatrix.features.text.model", "TextModel"),
    **_lines("separatrix.features.text.vocabulary", "TermCounts", "Vocabulary"),
    **_lines("separatrix.bayes.calibration.maps", "Isotonic", "OneByOne", "Sigmoid", "Temperature"),
    **_lines("separatrix.bayes.laplace.posterior", "LaplacePosterior"),
    **_lines("separatrix.bayes.laplace.results", "EvidencePath"),
    **_lines("separatrix.bayes.regression.posterior", "LinearPosterior"),
    **_lines("separatrix.bayes.regression.moments", "Moments"),
    **_lines("separatrix.bayes.regression.prior", "GaussianPrior"),
    **_lines("separatrix.bayes.regression.spectrum", "Spectrum"),
    **_lines(
        "separatrix.bayes.laplace.weight_covariance",
        "DiagonalCovariance",
        "FullCovariance",
        "LowRankCovariance",
    ),
    **_lines("separatrix.learners.generative.columns", "Columns"),
    **_lines("separatrix.learners.generative.counts", "Counts"),
    **_lines("separatrix.learners.generative.moments", "ClassMoments"),
    **_lines("separatrix.learners.linear.online", "Vote"),
    **_lines("separatrix.learners.reductions.code_matrix", "CodeMatrix"),
    **_lines("separatrix.learners.extreme.examples", "Examples"),
    **_lines("separatrix.learners.extreme.index", "InvertedIndex", "Smoothing"),
    **_lines("separatrix.learners.extreme.label_features", "LabelFeatures"),
    **_lines("separatrix.learners.extreme.ranker", "PairRanker", "Progress"),
    **_lines(
        "separatrix.learners.reductions.columns",
        "ColumnReport",
        "FittedColumns",
        "LinearColumns",
        "SupportColumns",
    ),
    **_lines("separatrix.solvers.online.flat", "UpdateLog"),
    **_lines("separatrix.structures.chain.structure", "ChainFeatures"),
    **_lines("separatrix.structures.graph.factor_graph", "FactorGraph"),
    **_lines("separatrix.structures.graph.pairwise", "PairwiseGraph"),
    **_lines("separatrix.structures.label_set.structure", "LabelGraph"),
    **_lines("separatrix.structures.labels.structure", "FlatFeatures"),
    **_lines("separatrix.structures.segments.structure", "SegmentFeatures"),
    **_lines("separatrix.results", "Solution", "StopReason", "Trace"),
    # Value objects that are parameters.
    **_lines(
        "separatrix.losses",
        "CostAugmentedMax",
        "Exponential",
        "GeneratedLoss",
        "HardMax",
        "Hinge",
        "LogSumExp",
        "Logistic",
        "PerceptronLoss",
        "Squared",
        "SquaredHinge",
    ),
    **_lines("separatrix.bayes.decision.losses", "CostMatrix"),
    **_lines(
        "separatrix.learners.generative.smoothing",
        "Interpolation",
        "LaplaceSmoothing",
        "MaximumLikelihood",
    ),
    **_lines("separatrix.penalties", "ElasticNet", "L1", "L2", "Unpenalized"),
    **_lines(
        "separatrix.structures",
        "Chain",
        "Forest",
        "Graph",
        "Grid",
        "LabelSet",
        "Labels",
        "Segments",
    ),
    **_lines(
        "separatrix.solvers",
        "AdaDelta",
        "AdaGrad",
        "Adam",
        "Auto",
        "DualCoordinateDescent",
        "GradientDescent",
        "InteriorPoint",
        "Lbfgs",
        "NewtonCG",
        "OwlQn",
        "ProximalGradient",
        "ProximalNewton",
        "RmsProp",
        "StochasticGradient",
    ),
    # scikit-learn's containers, and the scalers that stand before a linear model.
    **_lines("sklearn.compose", "ColumnTransformer"),
    **_lines("sklearn.pipeline", "FeatureUnion", "Pipeline"),
    **_lines(
        "sklearn.preprocessing",
        "FunctionTransformer",  # what ColumnTransformer makes of "passthrough"
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "StandardScaler",
    ),
}

#: What any estimator may hold besides: scikit-learn's record of X, and its `set_output`.
SHARED_STATE = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")

#: Fitted attributes of classes that are not ours to declare `__sx_state__` in.
_FOREIGN_STATE: dict[str, tuple[str, ...]] = {
    "ColumnTransformer": (
        "transformers_",
        "output_indices_",
        "sparse_output_",
        "_columns",
        "_n_features",
        "_name_to_fitted_passthrough",
        "_remainder",
        "_transformer_to_input_indices",
    ),
    "FeatureUnion": (),
    "FunctionTransformer": (),
    "MaxAbsScaler": ("max_abs_", "n_samples_seen_", "scale_"),
    "MinMaxScaler": (
        "data_max_",
        "data_min_",
        "data_range_",
        "min_",
        "n_samples_seen_",
        "scale_",
    ),
    "Normalizer": (),
    "Pipeline": (),
    "StandardScaler": ("mean_", "n_samples_seen_", "scale_", "var_"),
}

#: Fields of records that are left out, and so must have defaults.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "Solution": ("dual",),  # it belongs to the training rows, and may be larger than the weights
}


#: Classes of the program that runs, by module and name; these have a colon, those above none.
_REGISTERED: dict[str, type[Any]] = {}


def register(*classes: type[Any]) -> None:
    """Let model files hold objects of your own classes: losses, structures and their features.

    They must be dataclasses or NamedTuples. A program that loads such a file registers the classes
    first: a file never imports anything.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Pairs:
    ...     longest: int = 2
    >>> register(Pairs)
    >>> name_of(Pairs).endswith(":Pairs")
    True
    """
    for cls in classes:
        _REGISTERED[f"{cls.__module__}:{cls.__qualname__}"] = cls


def is_known(name: str) -> bool:
    """Whether a file may name a class so."""
    return name in CLASSES or name in _REGISTERED


def class_named(name: str) -> type[Any]:
    """The class of a line of the table.

    Raises
    ------
    KeyError
        There is no such line.

    Examples
    --------
    >>> class_named("MajorityClass").__name__
    'MajorityClass'
    """
    if name in _REGISTERED:
        return _REGISTERED[name]
    module, _, attribute = CLASSES[name].partition(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute)
    return found


def name_of(cls: type[Any]) -> str | None:
    """The line of a class, or None if it has none (a subclass has none either)."""
    own = f"{cls.__module__}:{cls.__qualname__}"
    if _REGISTERED.get(own) is cls:
        return own
    name = cls.__name__
    return name if name in CLASSES and class_named(name) is cls else None


def state_of(cls: type[Any]) -> tuple[str, ...]:
    """Names of all fitted attributes of an estimator class, those of its bases included.

    Examples
    --------
    >>> from separatrix.learners.baselines import MajorityClass
    >>> state_of(MajorityClass)[-2:]
    ('classes_', 'class_prior_')
    """
    own = _FOREIGN_STATE.get(cls.__name__, ()) if cls.__module__.startswith("sklearn.") else ()
    declared = [base.__dict__.get("__sx_state__", ()) for base in reversed(cls.__mro__)]
    names = [*SHARED_STATE, *own, *(name for part in declared for name in part)]
    return tuple(dict.fromkeys(names))
