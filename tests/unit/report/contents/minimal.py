"""A content without any part."""

from __future__ import annotations

from separatrix.report import Content, DataSummary, LeaderboardRow


def minimal() -> Content:
    return Content(
        title="iris",
        verdict="linear_svm is best: it gets 96.67 % of the held-out rows right.",
        data=DataSummary("iris", "classification into 3 classes"),
        leaderboard=(
            LeaderboardRow("linear_svm", "C = 1", 0.9667, role="champion"),
            LeaderboardRow("majority_class", "", 1 / 3, baseline=True),
        ),
    )
