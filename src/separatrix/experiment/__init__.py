"""Honest comparison of learners: choose on held-out rows, open the test set once.

Names are imported on first use, so that a saved model predicts without loading any learner's kin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.lazy import imported

if TYPE_CHECKING:
    from separatrix.experiment.result import LeaderboardRow, Result
    from separatrix.experiment.run import Experiment, Progress
    from separatrix.experiment.split import (
        ByDocument,
        ByTime,
        Given,
        Grouped,
        SealedTest,
        SealError,
        Stratified,
    )

__all__ = [
    "ByDocument",
    "ByTime",
    "Experiment",
    "Given",
    "Grouped",
    "LeaderboardRow",
    "Progress",
    "Result",
    "SealError",
    "SealedTest",
    "Stratified",
]

_HOMES = {
    "ByTime": "split",
    "Experiment": "run",
    "Given": "split",
    "ByDocument": "split",
    "Grouped": "split",
    "LeaderboardRow": "result",
    "Progress": "run",
    "Result": "result",
    "SealError": "split",
    "SealedTest": "split",
    "Stratified": "split",
}


def __getattr__(name: str) -> Any:
    return imported(__name__, _HOMES, name)
