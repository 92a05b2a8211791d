"""The optional parts of a report, as plain values: one file per subject."""

from separatrix.report.parts.base import Part
from separatrix.report.parts.classes import (
    Calibration,
    ClassReport,
    ClassScores,
    Confusion,
    CostMatrix,
    Mistake,
    Mistakes,
    Reliability,
)
from separatrix.report.parts.curves import (
    LearningCurve,
    LearningCurves,
    TrainingCurve,
    TrainingCurves,
)
from separatrix.report.parts.data import Column, Finding, Findings, Profile
from separatrix.report.parts.model import (
    ClassWeights,
    Effort,
    Efforts,
    Explanation,
    Explanations,
    ExplanationStep,
    Weights,
)
from separatrix.report.parts.regression import Band, Coverage, RegressionReport, Residuals
from separatrix.report.parts.sequences import ChunkReport, Sentence, Sentences, Token
from separatrix.report.parts.test import TestReport, TestScore

__all__ = [
    "Band",
    "Calibration",
    "ChunkReport",
    "ClassReport",
    "ClassScores",
    "ClassWeights",
    "Column",
    "Confusion",
    "CostMatrix",
    "Coverage",
    "Effort",
    "Efforts",
    "Explanation",
    "ExplanationStep",
    "Explanations",
    "Finding",
    "Findings",
    "LearningCurve",
    "LearningCurves",
    "Mistake",
    "Mistakes",
    "Part",
    "Profile",
    "RegressionReport",
    "Reliability",
    "Residuals",
    "Sentence",
    "Sentences",
    "TestReport",
    "TestScore",
    "Token",
    "TrainingCurve",
    "TrainingCurves",
    "Weights",
]
