"""Honest comparison of learners: choose on held-out rows, open the test set once."""

from separatrix.experiment.inputs import Inputs
from separatrix.experiment.result import LeaderboardRow, Result
from separatrix.experiment.run import Experiment, Progress
from separatrix.experiment.split import (
    ByTime,
    Given,
    Grouped,
    SealedTest,
    SealError,
    Stratified,
)

__all__ = [
    "ByTime",
    "Experiment",
    "Given",
    "Grouped",
    "Inputs",
    "LeaderboardRow",
    "Progress",
    "Result",
    "SealError",
    "SealedTest",
    "Stratified",
]
