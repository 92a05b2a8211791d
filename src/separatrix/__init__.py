"""Linear prediction from binary to multiclass to structured outputs.

Names are imported on first use (PEP 562), so that ``import separatrix`` is instant.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from separatrix.lazy import imported

if TYPE_CHECKING:
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
    from separatrix.bayes.calibration import Calibrated
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
        SupervisedBins,
        TableEncoder,
        Templates,
        TextVectorizer,
        message_text,
    )
    from separatrix.learners.baselines import MajorityClass, MeanValue, MedianValue, PriorSampling
    from separatrix.learners.extreme import JointFeatures, ManyClass, SampledSoftmax
    from separatrix.learners.generative import (
        GaussianDiscriminant,
        Interpolation,
        LaplaceSmoothing,
        MaximumLikelihood,
        NaiveBayes,
    )
    from separatrix.learners.linear import (
        MIRA,
        LinearClassifier,
        LinearSVM,
        LogisticRegression,
        Perceptron,
        RegularizationPath,
        regularization_path,
    )
    from separatrix.learners.multilabel import FrequentLabels, ManyLabels, MultiLabel
    from separatrix.learners.reductions import AllPairs, CodeMatrix, OneVsAll, OutputCode
    from separatrix.learners.segmentation import MajorityPixel, Segmenter
    from separatrix.learners.structured import (
        CRF,
        Constraints,
        LabelPerWord,
        MajorityLabel,
        StructuredPerceptron,
        StructuredSVM,
    )
    from separatrix.models import load, save, save_onnx, to_sklearn
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
    "Labels",
    "LaplaceLogisticRegression",
    "LaplaceSmoothing",
    "LinearClassifier",
    "LinearSVM",
    "LogisticRegression",
    "MajorityClass",
    "MajorityLabel",
    "MajorityPixel",
    "ManyClass",
    "ManyLabels",
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
    "SupervisedBins",
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
    "CRF": "learners.structured.minimizing",
    "MIRA": "learners.linear.mira",
    "AllPairs": "learners.reductions",
    "BayesDecision": "bayes",
    "BayesianLinearRegression": "bayes",
    "BetaBernoulli": "bayes",
    "Calibrated": "bayes.calibration.calibrated",
    "CodeMatrix": "learners.reductions",
    "Conjunctions": "features.conjunctions",
    "Constraints": "structures.chain.constraints",
    "CostMatrix": "bayes",
    "Dataset": "data",
    "DirichletCategorical": "bayes",
    "Experiment": "experiment",
    "FeatureGraphs": "data",
    "Chain": "structures",
    "Forest": "structures",
    "FrequentLabels": "learners.multilabel",
    "GammaPoisson": "bayes",
    "GaussianDiscriminant": "learners.generative.discriminant",
    "Graph": "structures",
    "Grid": "structures",
    "Hasher": "features.hasher",
    "Interpolation": "learners.generative.smoothing",
    "JointFeatures": "learners.extreme",
    "JointMap": "features.joint",
    "LaplaceSmoothing": "learners.generative.smoothing",
    "LaplaceLogisticRegression": "bayes",
    "LabelPerWord": "learners.structured.frequency",
    "LabelSet": "structures",
    "Labels": "structures",
    "Segments": "structures",
    "LinearClassifier": "learners.linear.classifier",
    "LinearSVM": "learners.linear.svm",
    "LogisticRegression": "learners.linear.logistic",
    "MajorityClass": "learners.baselines",
    "MajorityLabel": "learners.structured.frequency",
    "MajorityPixel": "learners.segmentation",
    "ManyClass": "learners.extreme",
    "ManyLabels": "learners.multilabel",
    "MaximumLikelihood": "learners.generative.smoothing",
    "MeanValue": "learners.baselines",
    "MedianValue": "learners.baselines",
    "MessageText": "features.text.spam",
    "MultiLabel": "learners.multilabel",
    "NaiveBayes": "learners.generative.naive_bayes",
    "NormalInverseGamma": "bayes",
    "NormalNormal": "bayes",
    "OneVsAll": "learners.reductions",
    "OutputCode": "learners.reductions",
    "Perceptron": "learners.linear.perceptron",
    "PixelGrid": "features.pixels",
    "Polynomial": "features.polynomial",
    "PriorSampling": "learners.baselines",
    "RadialBasis": "features.radial",
    "RegularizationPath": "learners.linear.path",
    "Segmenter": "learners.segmentation",
    "SampledSoftmax": "learners.extreme",
    "SpamFeatures": "features.text.spam",
    "StructuredPerceptron": "learners.structured.perceptron",
    "StructuredSVM": "learners.structured.minimizing",
    "SupervisedBins": "features.tables.bins",
    "TableEncoder": "features.tables.encoder",
    "Templates": "features.templates",
    "TextVectorizer": "features.text.vectorizer",
    "bayes_action": "bayes",
    "explain": "explanation",
    "explain_sequence": "explanation",
    "load": "models.file.model",
    "message_text": "features.text.messages",
    "posterior_risk": "bayes",
    "read": "data",
    "regularization_path": "learners.linear.path",
    "save": "models.file.model",
    "save_onnx": "models.export.onnx",
    "to_sklearn": "models.export.scikit_learn",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("separatrix")
    return imported(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
