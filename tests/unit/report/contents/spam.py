"""Two classes of texts whose data is hostile."""

from __future__ import annotations

import numpy as np

from separatrix.explanation import Explanation
from separatrix.features.tables.scorecard import Card, Scorecard
from separatrix.metrics import Metric
from separatrix.report import Content, DataSummary, LeaderboardRow
from separatrix.report.parts import (
    ClassWeights,
    Column,
    Confusion,
    Costs,
    Explained,
    Explanations,
    Finding,
    Findings,
    Mistake,
    Mistakes,
    Profile,
    ScorecardPart,
    Weights,
)
from tests.unit.report.contents.shared import class_report


def spam() -> Content:
    """Two classes of texts, with costs, odds and running totals; some data is hostile."""
    script = "<script>document.title = 'broken'</script>"
    hostile = f"FREE!! {script} call 0800 now & <b>win</b> \x00\ud800 'quoted' \"twice\""
    words = ("free", "txt", "claim", script, "ok", "later", "home")
    return Content(
        title=f"sms_spam {script}",
        verdict="naive_bayes is the champion: it gets 98.9 % of the test rows right.",
        data=DataSummary(
            f"/data/{script}.csv", "classification into 2 classes", target=script, n_columns=1
        ),
        leaderboard=(
            LeaderboardRow("naive_bayes", "k = 0.1", 0.9883, 0.052, 1, role="champion"),
            LeaderboardRow(script, script, 0.9846, 0.412, 38, 3.2e-5, script, note=script),
        ),
        metric=Metric("cost", "mean cost", False, digits=3),
        command=f"separatrix compare '/data/{script}.csv' --cost costs.csv",
        parts=(
            Confusion((script, "ham"), np.array([[140, 6], [2, 966]])),
            class_report((script, "ham"), np.array([[140, 6], [2, 966]])),
            Mistakes(
                (
                    Mistake(f"{script}:17", hostile, script, "ham", 0.993, 0.007),
                    Mistake("line 4", "x" * 3000, "ham", script, 0.9, 0.1),
                    Mistake("line 9", "שלום, free money", "ham", script, 0.81, 0.19),
                ),
                n_mistakes=8,
                n_rows=1114,
            ),
            Costs(
                (script, "ham"), (script, "ham", "reject"), np.array([[0, 1, 0.2], [10, 0, 0.2]])
            ),
            ScorecardPart(
                Scorecard(
                    (script,),
                    np.array([-0.5]),
                    (
                        Card(script, (script, "(missing)"), np.array([[0.25], [-1.5]])),
                        Card(
                            "length",
                            ("up to 20", "above 20"),
                            np.array([[0.1], [-0.1]]),
                            np.array([0.0, 20.0, 20.0, 160.0]),
                            np.array([[0.1], [0.1], [-0.1], [-0.1]]),
                        ),
                    ),
                    ("message",),
                )
            ),
            Weights(
                "naive_bayes",
                (
                    ClassWeights(
                        script,
                        words,
                        np.array([4.1, 3.8, 3.2, 2.0, -1.5, -2.25, -3.0]),
                        "ham",
                        -1.9,
                    ),
                ),
                measure="log odds ratio",
                odds=True,
            ),
            Explanations(
                (
                    Explained(
                        Explanation(
                            np.array([script, "ham"]),
                            ("prior", "free", script),
                            -np.array([[2.0, 0.1], [3.9, 7.6], [4.0, 7.0]]),
                            posterior=np.array([0.992, 0.008]),
                            values=np.array([np.nan, 1.0, 1.0]),
                            unknown=(script,),
                        ),
                        hostile,
                        script,
                        "ham",
                        script,
                    ),
                    Explained(
                        Explanation(
                            np.array(["spam", "ham"]),
                            ("intercept", "free", "money"),
                            np.array([[-3.0], [4.0], [2.0]]),
                            posterior=np.array([0.9526, 0.0474]),
                            values=np.array([np.nan, 1.0, 1.0]),
                        ),
                        "free money now",
                        "spam",
                        "spam",
                    ),
                ),
                "naive_bayes",
            ),
            Profile(
                5574,
                (
                    Column(
                        script, script, 12, 5169, frequent=((script, 30), ("Ok", 7)), note=script
                    ),
                ),
                ((script, 747), ("ham", 4827)),
            ),
            Findings((Finding(script, script, "serious", (script,)),), (script,)),
        ),
    )
