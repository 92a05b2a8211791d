"""Ten classes of images, with every part that a classification has."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from separatrix.report import Content, DataSummary, LeaderboardRow
from separatrix.report.parts import (
    Calibration,
    ClassWeights,
    Column,
    Confusion,
    Effort,
    Efforts,
    Finding,
    Findings,
    LearningCurve,
    LearningCurves,
    Mistake,
    Mistakes,
    Profile,
    Reliability,
    TestReport,
    TestScore,
    TrainingCurve,
    TrainingCurves,
    Weights,
)
from tests.unit.report.contents.shared import class_report

VERSIONS = (("separatrix", "0.1.0"), ("numpy", "2.1.0"), ("Python", "3.11.9"))


def digits() -> Content:
    """Ten classes, images, every part that a classification has."""
    rng = np.random.default_rng(0)
    images = load_digits().images
    labels = tuple(str(digit) for digit in range(10))
    counts = np.diag(rng.integers(30, 38, 10))
    for truth, prediction in ((8, 1), (8, 1), (9, 5), (3, 8), (1, 8), (4, 7), (5, 9), (9, 3)):
        counts[truth, prediction] += 1
    return Content(
        title="digits: which of 10 classes, from 64 columns",
        verdict=(
            "logistic_regression is the champion: it gets 97.22 % of the test rows right "
            "(95 % credible interval 95.0 to 98.5 %), against 10.2 % for the best baseline."
        ),
        summary=(
            "Of 12 learners it did best on the held-out rows. The runner-up, linear_svm, is hardly "
            "worse: the champion beats it with a probability of 61 %.",
            "One feature alone predicts the target suspiciously well; see the warnings.",
        ),
        data=DataSummary(
            name="digits",
            task="classification into 10 classes",
            task_reason="The target has 10 different values in 1,797 rows.",
            splits=(("train", 1078), ("held-out", 359), ("test", 360)),
            split_rule="At random, each class in the same shares, seed 0.",
            n_columns=64,
            n_features=64,
            target="digit",
            fingerprint="sha256:9f2d1c7ab64e0f5581d90c3a",
            steps=("Features are divided by their largest absolute value on the train rows.",),
        ),
        leaderboard=_leaderboard(),
        command="separatrix compare digits --seed 0 --save model.sx --report report.html",
        date="2026-11-16 06:20 UTC",
        versions=VERSIONS,
        seconds=23.4,
        parts=(
            _test(),
            _training(),
            _learning(),
            Confusion(labels, counts),
            class_report(labels, counts),
            Mistakes(
                tuple(
                    Mistake(
                        row=f"row {row} of the source",
                        text="",
                        truth=truth,
                        prediction=prediction,
                        confidence=confidence,
                        truth_probability=0.97 * (1 - confidence),
                        picture=images[row],
                    )
                    for row, truth, prediction, confidence in (
                        (5, "5", "9", 0.981),
                        (69, "9", "5", 0.9612),
                        (1658, "4", "7", 0.93),
                        (1082, "8", "1", 0.874),
                    )
                ),
                n_mistakes=8,
                n_rows=int(counts.sum()),
            ),
            _calibration(),
            Weights(
                "logistic_regression",
                tuple(
                    ClassWeights(
                        digit,
                        tuple(f"pixel {i // 8}, {i % 8}" for i in order[:10]),
                        weights[order[:10]],
                        intercept=float(rng.normal()),
                        picture=weights.reshape(8, 8),
                    )
                    for digit in labels
                    for weights in [rng.normal(0, 1.4, 64)]
                    for order in [np.argsort(-weights)]
                ),
                note="Per unit of the scaled feature.",
                n_features=64,
            ),
            _efforts(),
            Profile(
                1797,
                tuple(
                    Column(
                        f"pixel_{i // 8}_{i % 8}",
                        "number",
                        n_distinct=17,
                        low=0.0,
                        middle=float(np.median(images[:, i // 8, i % 8])),
                        high=float(images[:, i // 8, i % 8].max()),
                        histogram=tuple(np.histogram(images[:, i // 8, i % 8], 12)[0].tolist()),
                        used=i != 0,
                        note="" if i else "constant",
                    )
                    for i in range(24)
                ),
                classes=tuple(
                    (digit, int(n)) for digit, n in zip(labels, 174 + np.arange(10), strict=True)
                ),
            ),
            _findings(),
        ),
    )


def _leaderboard() -> tuple[LeaderboardRow, ...]:
    rows = (
        (
            "logistic_regression",
            "C = 0.1",
            0.9721,
            1.842,
            96,
            8.1e-7,
            "newton",
            "logistic regression (softmax for many classes), L2 penalty",
        ),
        (
            "linear_svm",
            "C = 0.01",
            0.9694,
            0.913,
            140,
            9.4e-5,
            "dual",
            "support vector machine, hinge loss (Crammer-Singer for many classes)",
        ),
        (
            "laplace_logistic",
            "C = 0.1",
            0.9694,
            3.402,
            96,
            8.1e-7,
            "newton",
            "logistic regression with a Gaussian posterior, probabilities averaged over it",
        ),
        (
            "sparse_logistic",
            "C = 1",
            0.9666,
            6.031,
            412,
            4.4e-4,
            "proximal newton",
            "logistic regression (softmax for many classes), L1 penalty",
        ),
        (
            "mira",
            "4 passes",
            0.9610,
            0.102,
            9,
            np.nan,
            "online",
            "averaged MIRA (margin-infused, smallest change per mistake)",
        ),
        ("perceptron", "7 passes", 0.9582, 0.088, 12, np.nan, "online", "averaged perceptron"),
        (
            "gaussian_discriminant",
            "shrinkage 0.02",
            0.9499,
            0.021,
            1,
            np.nan,
            "closed form",
            "Gaussian classes with one covariance (LDA), shrunk",
        ),
        (
            "naive_bayes",
            "k = 0.01",
            0.8969,
            0.034,
            1,
            np.nan,
            "counts",
            "naive Bayes, kinds of features by the data, Laplace smoothing",
        ),
        ("majority_class", "", 0.1021, 0.001, 1, np.nan, "", "the most frequent class"),
        ("prior_sampling", "", 0.0947, 0.001, 1, np.nan, "", "a draw from the class prior"),
    )
    roles = ("champion", "runner-up")
    return tuple(
        LeaderboardRow(
            name,
            setting,
            score,
            seconds,
            passes,
            gap,
            solver,
            baseline=i >= 8,
            role=roles[i] if i < 2 else "",
            note="ran out of passes before the gap reached the tolerance" if i == 3 else "",
            summary=summary,
            standard_error=float(np.sqrt(score * (1 - score) / 359)),
        )
        for i, (name, setting, score, seconds, passes, gap, solver, summary) in enumerate(rows)
    )


def _test() -> TestReport:
    return TestReport(
        (
            TestScore(
                "logistic_regression",
                "champion",
                0.9722,
                0.9501,
                0.9849,
                (("log loss", 0.1132), ("macro F1", 0.9719)),
            ),
            TestScore("linear_svm", "runner-up", 0.9694, 0.9466, 0.9828, (("macro F1", 0.9688),)),
        ),
        360,
        probability_better=0.612,
        probability_equivalent=0.201,
        method="From the rows on which only one of them is right: a Beta posterior, uniform prior.",
    )


def _training() -> TrainingCurves:
    C = 10.0 ** np.arange(-3, 5)
    passes = np.arange(1.0, 21.0)
    return TrainingCurves(
        (
            TrainingCurve(
                "logistic_regression",
                "C",
                C,
                np.array([0.93, 0.961, 0.9721, 0.9694, 0.9638, 0.961, 0.9582, 0.9582]),
                np.array([0.941, 0.972, 0.989, 0.998, 1, 1, 1, 1]),
                0.1,
                True,
            ),
            TrainingCurve(
                "linear_svm",
                "C",
                C,
                np.array([0.9582, 0.9694, 0.9666, 0.961, 0.955, 0.9526, 0.9526, 0.9526]),
                np.array([0.966, 0.985, 0.997, 1, 1, 1, 1, 1]),
                0.01,
                True,
            ),
            TrainingCurve(
                "mira",
                "passes",
                passes,
                0.961 - 0.02 * np.exp(-passes) - 0.0004 * np.abs(passes - 4),
                1 - 0.08 * np.exp(-passes / 2),
                4.0,
            ),
            TrainingCurve(
                "perceptron", "passes", passes, 0.958 - 0.06 * np.exp(-passes / 2), None, 7.0
            ),
        )
    )


def _learning() -> LearningCurves:
    n = np.array([67, 135, 270, 539, 1078])
    first = np.array([0.883, 0.922, 0.947, 0.964, 0.9721])
    second = np.array([0.871, 0.917, 0.942, 0.96, 0.9694])
    return LearningCurves(
        (
            LearningCurve(
                "logistic_regression",
                n,
                first,
                first - 0.012,
                first + 0.012,
                np.array([1, 1, 0.998, 0.993, 0.989]),
            ),
            LearningCurve("linear_svm", n, second),
        ),
        "Twice the rows still add 0.8 points: more data would help.",
    )


def _calibration() -> Calibration:
    confidence = np.array([0.41, 0.62, 0.78, 0.9, 0.96, 0.99, 0.998])
    mass = np.array([0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.4])
    before = np.array([0.6, 0.81, 0.93, 0.97, 0.99, 1, 1])
    after = np.array([0.45, 0.6, 0.82, 0.88, 0.97, 0.99, 1])
    return Calibration(
        (
            Reliability("before calibration", confidence, before, mass, 0.0512, 0.1603),
            Reliability("after calibration", confidence, after, mass, 0.0113, 0.1132),
        ),
        method="Temperature scaling, fitted on the held-out scores.",
    )


def _efforts() -> Efforts:
    return Efforts(
        tuple(
            Effort(row.learner, row.seconds, row.seconds / 7, 0.4 + 0.1 * i, row.passes, 8)
            for i, row in enumerate(_leaderboard())
        ),
        60.0,
    )


def _findings() -> Findings:
    return Findings(
        (
            Finding(
                "duplicates",
                "12 rows of the test set are in the train set too; they were left in.",
                details=("row 17 = row 903", "row 40 = row 1201"),
            ),
            Finding(
                "leak suspect",
                "The column row_id alone predicts the target to 99.8 %. Leave it out, unless it is "
                "known at the time of the prediction.",
                "serious",
                ("row_id",),
            ),
        ),
        ("leak suspects", "duplicates across splits", "imbalance", "missing values"),
    )
