"""Labels of sequences, with words that are no markup, long ones, and others from right to left."""

from __future__ import annotations

import math

import numpy as np

from separatrix.metrics import Metric
from separatrix.report import Content, DataSummary, LeaderboardRow
from separatrix.report.parts import (
    ClassScores,
    ClassWeights,
    Confusion,
    PerChunk,
    Profile,
    Sentence,
    Sentences,
    TestReport,
    TestScore,
    Token,
    Weights,
)

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen"


def sentences() -> Content:
    labels = ("B-NP", "B-VP", "I-NP", "O")
    counts = np.array([[50, 1, 3, 0], [0, 40, 0, 2], [5, 0, 70, 1], [0, 1, 0, 30]])
    words = ["<b>bold</b>", "&amp;", LONG, "שלום", "x" * 200, "."]
    tokens = tuple(
        Token(word, labels[at % 4], labels[(at * 2) % 4], 0.5 + at / 20)
        for at, word in enumerate(words)
    )
    return Content(
        title="train.conll",
        verdict="crf is the champion.",
        data=DataSummary(
            "train.conll",
            "tagging of tokens with 4 labels",
            splits=(("train", 60), ("held-out", 20), ("test", 20)),
            unit="sequence",
        ),
        leaderboard=(
            LeaderboardRow("crf", "C = 1", 0.93, 0.31, 21, math.inf, "dual", role="champion"),
            LeaderboardRow("label_per_word", "", 0.7, 0.0, baseline=True),
        ),
        metric=Metric("chunk_f1", "chunk F1", percent=True),
        command="separatrix compare train.conll",
        parts=(
            TestReport(
                (TestScore("crf", "champion", 0.93, 0.91, 0.95, (("token accuracy", 0.97),)),), 20
            ),
            Confusion(labels, counts, units="tokens"),
            PerChunk(
                (ClassScores("NP", 0.9, 0.8, 0.85, 54), ClassScores("VP", 0.95, 0.97, 0.96, 42)),
                (ClassScores("all chunks", 0.92, 0.88, 0.9, 96),),
                units="chunks",
            ),
            Sentences(
                (
                    Sentence("test sequence 7", tokens, -12.5),
                    Sentence("test sequence 3", tokens * 40, -math.inf),
                    Sentence("test sequence 1", tokens[:1]),
                ),
                9,
                20,
            ),
            Weights(
                "crf",
                (
                    ClassWeights("transitions", ("B-NP → I-NP", "O → I-NP"), np.array([3.1, -4.0])),
                    ClassWeights("B-NP", ("word[0]=the",), np.array([2.0])),
                ),
            ),
            Profile(100, classes=(("O", 900), ("B-NP", 300)), counted="tokens"),
        ),
    )
