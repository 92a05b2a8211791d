"""Honest comparison of learners: choose on held-out rows, open the test set once."""

from separatrix.experiment.comparison import Comparison, LeaderboardRow
from separatrix.experiment.run import Progress, compare
from separatrix.experiment.split import Rows, SealedTest, Split, split_rows

__all__ = [
    "Comparison",
    "LeaderboardRow",
    "Progress",
    "Rows",
    "SealedTest",
    "Split",
    "compare",
    "split_rows",
]
