"""Two classes of texts whose data is hostile."""

from __future__ import annotations

import numpy as np

from separatrix.report import (
    ClassWeights,
    Column,
    Confusion,
    Content,
    CostMatrix,
    DataSummary,
    Explanation,
    Explanations,
    ExplanationStep,
    Finding,
    Findings,
    LeaderboardRow,
    Metric,
    Mistake,
    Mistakes,
    Profile,
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
        metric=Metric("mean cost", percent=False, higher_is_better=False, digits=3),
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
            CostMatrix(
                (script, "ham"), (script, "ham", "reject"), np.array([[0, 1, 0.2], [10, 0, 0.2]])
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
                    Explanation(
                        hostile,
                        (script, "ham"),
                        tuple(
                            ExplanationStep(word, "1" if i else "", (-a, -b), totals)
                            for i, (word, a, b, totals) in enumerate(
                                (
                                    ("prior", 2.0, 0.1, (-2.0, -0.1)),
                                    ("free", 3.9, 7.6, (-5.9, -7.7)),
                                    (script, 4.0, 7.0, (-9.9, -14.7)),
                                )
                            )
                        ),
                        script,
                        "ham",
                        0.992,
                        unknown=(script,),
                        row=script,
                    ),
                    Explanation(
                        "free money now",
                        ("spam against ham",),
                        (
                            ExplanationStep("intercept", "", (-3.0,), (-3.0,)),
                            ExplanationStep("free", "1", (4.0,), (1.0,)),
                            ExplanationStep("money", "1", (2.0,), (3.0,)),
                        ),
                        "spam",
                        "spam",
                        0.9526,
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
            Findings((Finding(script, script, True, (script,)),), (script,)),
        ),
    )
