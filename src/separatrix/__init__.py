"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from separatrix.lazy import imported

if TYPE_CHECKING:
    from separatrix.baselines import MajorityClass, MeanValue, MedianValue, PriorSampling
    from separatrix.bayes import (
        BayesDecision,
        BayesianLinearRegression,
        BetaBernoulli,
        CostMatrix,
        DirichletCategorical,
        GammaPoisson,
        LaplaceLogisticRegression,
        NormalInverseGamma,
        NormalNormal,
        bayes_action,
        posterior_risk,
    )
    from separatrix.calibration import Calibrated
    from separatrix.data import Dataset, FeatureGraphs, read
    from separatrix.experiment import Experiment
    from separatrix.explanation import explain, explain_sequence
    from separatrix.features import (
        Conjunctions,
        Hasher,
        JointMap,
        MessageText,
        PixelGrid,
        Polynomial,
        RadialBasis,
        SpamFeatures,
        TableEncoder,
        Templates,
        TextVectorizer,
        message_text,
    )
    from separatrix.generative import (
        GaussianDiscriminant,
        Interpolation,
        Laplace,
        MaximumLikelihood,
        NaiveBayes,
    )
    from separatrix.linear import (
        MIRA,
        LinearClassifier,
        LinearSVM,
        LogisticRegression,
        Perceptron,
        RegularizationPath,
        regularization_path,
    )
    from separatrix.models import load, save, save_onnx, to_sklearn
    from separatrix.multilabel import FrequentLabels, MultiLabel
    from separatrix.reductions import AllPairs, CodeMatrix, OneVsAll, OutputCode
    from separatrix.reductions.many import JointFeatures, LabelTree, ManyClass, SampledSoftmax
    from separatrix.segmentation import Segmenter
    from separatrix.structured import (
        CRF,
        Constraints,
        LabelPerWord,
        MajorityLabel,
        StructuredPerceptron,
        StructuredSVM,
    )
    from separatrix.structures import Forest, Graph, Grid, Labels, LabelSet, Segments

__all__ = [
    "CRF",
    "MIRA",
    "AllPairs",
    "BayesDecision",
    "BayesianLinearRegression",
    "BetaBernoulli",
    "Calibrated",
    "Chain",
    "CodeMatrix",
    "Conjunctions",
    "Constraints",
    "CostMatrix",
    "Dataset",
    "DirichletCategorical",
    "Experiment",
    "FeatureGraphs",
    "Forest",
    "FrequentLabels",
    "GammaPoisson",
    "GaussianDiscriminant",
    "Graph",
    "Grid",
    "Hasher",
    "Interpolation",
    "JointFeatures",
    "JointMap",
    "LabelPerWord",
    "LabelSet",
    "LabelTree",
    "Labels",
    "Laplace",
    "LaplaceLogisticRegression",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "MajorityLabel",
    "ManyClass",
    "MaximumLikelihood",
    "MeanValue",
    "MedianValue",
    "MessageText",
    "MultiLabel",
    "NaiveBayes",
    "NormalInverseGamma",
    "NormalNormal",
    "OneVsAll",
    "OutputCode",
    "Perceptron",
    "PixelGrid",
    "Polynomial",
    "PriorSampling",
    "RadialBasis",
    "RegularizationPath",
    "SampledSoftmax",
    "Segmenter",
    "Segments",
    "SpamFeatures",
    "StructuredPerceptron",
    "StructuredSVM",
    "TableEncoder",
    "Templates",
    "TextVectorizer",
    "bayes_action",
    "explain",
    "explain_sequence",
    "load",
    "message_text",
    "posterior_risk",
    "read",
    "regularization_path",
    "save",
    "save_onnx",
    "to_sklearn",
]

_HOMES = {
    "CRF": "structured.crf",
    "MIRA": "linear.mira",
    "AllPairs": "reductions",
    "BayesDecision": "bayes",
    "BayesianLinearRegression": "bayes",
    "BetaBernoulli": "bayes",
    "Calibrated": "calibration.calibrated",
    "CodeMatrix": "reductions",
    "Conjunctions": "features.conjunctions",
    "Constraints": "structures.chain.constraints",
    "CostMatrix": "bayes",
    "Dataset": "data",
    "DirichletCategorical": "bayes",
    "Experiment": "experiment",
    "FeatureGraphs": "data",
    "Chain": "structures",
    "Forest": "structures",
    "FrequentLabels": "multilabel",
    "GammaPoisson": "bayes",
    "GaussianDiscriminant": "generative.discriminant",
    "Graph": "structures",
    "Grid": "structures",
    "Hasher": "features.hasher",
    "Interpolation": "generative.smoothing",
    "JointFeatures": "reductions.many",
    "JointMap": "features.joint",
    "Laplace": "generative.smoothing",
    "LaplaceLogisticRegression": "bayes",
    "LabelPerWord": "structured.frequency",
    "LabelSet": "structures",
    "Labels": "structures",
    "Segments": "structures",
    "LabelTree": "reductions.many",
    "LinearClassifier": "linear.classifier",
    "LinearSVM": "linear.svm",
    "LogisticRegression": "linear.logistic",
    "MajorityClass": "baselines",
    "MajorityLabel": "structured.frequency",
    "ManyClass": "reductions.many",
    "MaximumLikelihood": "generative.smoothing",
    "MeanValue": "baselines",
    "MedianValue": "baselines",
    "MessageText": "features.spam",
    "MultiLabel": "multilabel",
    "NaiveBayes": "generative.naive_bayes",
    "NormalInverseGamma": "bayes",
    "NormalNormal": "bayes",
    "OneVsAll": "reductions",
    "OutputCode": "reductions",
    "Perceptron": "linear.perceptron",
    "PixelGrid": "features.pixels",
    "Polynomial": "features.polynomial",
    "PriorSampling": "baselines",
    "RadialBasis": "features.radial",
    "RegularizationPath": "linear.path",
    "Segmenter": "segmentation",
    "SampledSoftmax": "reductions.many",
    "SpamFeatures": "features.spam",
    "StructuredPerceptron": "structured.perceptron",
    "StructuredSVM": "structured.svm",
    "TableEncoder": "features.tables",
    "Templates": "features.templates",
    "TextVectorizer": "features.text",
    "bayes_action": "bayes",
    "explain": "explanation",
    "explain_sequence": "explanation",
    "load": "models.file.model",
    "message_text": "features.messages",
    "posterior_risk": "bayes",
    "read": "data",
    "regularization_path": "linear.path",
    "save": "models.file.model",
    "save_onnx": "models.export",
    "to_sklearn": "models.export",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("separatrix")
    return imported(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
