"""The optional parts of a report: values, heading, template and view together, one file per subject."""

from separatrix.report.parts.classes import (
    Calibration,
    ClassScores,
    Confusion,
    Costs,
    Mistake,
    Mistakes,
    PerClass,
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
    Explained,
    Explanations,
    Weights,
)
from separatrix.report.parts.overview import Effort, Efforts, TestReport, TestScore
from separatrix.report.parts.part import Fact, Part, Section, View
from separatrix.report.parts.regression import Band, Coverage, RegressionReport, Residuals
from separatrix.report.parts.scorecard import ScorecardPart
from separatrix.report.parts.sequences import PerChunk, Sentence, Sentences, Token

__all__ = [
    "Band",
    "Calibration",
    "ClassScores",
    "ClassWeights",
    "Column",
    "Confusion",
    "Costs",
    "Coverage",
    "Effort",
    "Efforts",
    "Explained",
    "Explanations",
    "Fact",
    "Finding",
    "Findings",
    "LearningCurve",
    "LearningCurves",
    "Mistake",
    "Mistakes",
    "Part",
    "PerChunk",
    "PerClass",
    "Profile",
    "RegressionReport",
    "Reliability",
    "Residuals",
    "ScorecardPart",
    "Section",
    "Sentence",
    "Sentences",
    "TestReport",
    "TestScore",
    "Token",
    "TrainingCurve",
    "TrainingCurves",
    "View",
    "Weights",
]
