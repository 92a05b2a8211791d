"""Contents of reports for the tests: a minimal one, full ones, a very large one."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from separatrix.report import (
    Band,
    Calibration,
    ClassReport,
    ClassScores,
    ClassWeights,
    Column,
    Confusion,
    Content,
    CostMatrix,
    Coverage,
    DataSummary,
    Effort,
    Efforts,
    Explanation,
    Explanations,
    ExplanationStep,
    Finding,
    Findings,
    LeaderboardRow,
    LearningCurve,
    LearningCurves,
    Metric,
    Mistake,
    Mistakes,
    Part,
    Profile,
    RegressionReport,
    Reliability,
    Residuals,
    TestReport,
    TestScore,
    TrainingCurve,
    TrainingCurves,
    Weights,
)

VERSIONS = (("separatrix", "0.1.0"), ("numpy", "2.1.0"), ("Python", "3.11.9"))


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
            _class_report(labels, counts),
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
                classes=tuple((digit, int(n)) for digit, n in zip(labels, 174 + np.arange(10), strict=True)),
            ),
            _findings(),
        ),
    )


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
            _class_report((script, "ham"), np.array([[140, 6], [2, 966]])),
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


def regression() -> Content:
    rng = np.random.default_rng(1)
    x = np.linspace(0, 10, 120)
    mean, spread = np.sin(x) * 3 + x, 0.8 + 0.05 * x
    at = rng.uniform(0, 10, 300)
    observed = np.sin(at) * 3 + at + rng.normal(0, 0.6, 300)
    metric = Metric("RMSE", percent=False, higher_is_better=False, unit="km", digits=3)
    return Content(
        title="distances: how far, from 3 columns",
        verdict="bayesian_rbf is the champion: its predictions are off by 0.612 km (RMSE).",
        data=DataSummary("distances.csv", "regression", "The target has 300 different numbers."),
        leaderboard=(
            LeaderboardRow("bayesian_rbf", "width 1.2", 0.612, 0.31, role="champion"),
            LeaderboardRow("bayesian_polynomial", "degree 5", 0.718, 0.12, role="runner-up"),
            LeaderboardRow("bayesian_linear", "by evidence", 2.31, 0.01),
            LeaderboardRow("mean", "", 3.402, 0.0, baseline=True),
        ),
        metric=metric,
        seconds=61.0,
        parts=(
            TestReport(
                (
                    TestScore("bayesian_rbf", "champion", 0.6217, 0.573, 0.6791),
                    TestScore("bayesian_polynomial", "runner-up", 0.71, 0.65, 0.78),
                ),
                300,
                probability_better=0.9981,
            ),
            RegressionReport(
                0.6217,
                -0.9313,
                0.4821,
                (Coverage(0.5, 0.517), Coverage(0.8, 0.81), Coverage(0.95, 0.9433)),
                "distance",
                "km",
                Band(x, mean, mean - 2 * spread, mean + 2 * spread, at, observed, "hours"),
                Residuals(np.sin(at) * 3 + at, observed - np.sin(at) * 3 - at),
            ),
            Profile(
                1500,
                target=Column(
                    "distance", "number", 3, 1490, -1.2, 4.9, 13.1, histogram=(1, 4, 9, 3)
                ),
            ),
        ),
    )


def enormous() -> Content:
    """More of everything than a report can show."""
    rng = np.random.default_rng(2)
    n_classes, long = 105, "a rather long name of something " * 40
    labels = tuple(f"class {i} {long}" for i in range(n_classes))
    counts = rng.integers(0, 40, (n_classes, n_classes))
    x = np.arange(1.0, 5001.0)
    wiggle = np.clip(0.9 + 0.05 * np.sin(x / 50), 0, 1)
    steps = tuple(ExplanationStep(long, long, (0.01,), (0.01 * i,)) for i in range(2000))
    curve = TrainingCurve("l", "passes", x, wiggle, wiggle, 40.0)
    parts: tuple[Part, ...] = (
        TestReport((TestScore(long, "champion", 0.9, 0.89, 0.91),), 10**7),
        TrainingCurves((curve,) * 60),
        LearningCurves(tuple(LearningCurve(long, x, wiggle, wiggle, wiggle) for _ in range(60))),
        Confusion(labels, counts),
        _class_report(labels, counts),
        Mistakes(
            tuple(
                Mistake("1", long * 50, long, long, 0.9, 0.05, rng.random((900, 700)))
                for _ in range(300)
            ),
            300,
            1000,
        ),
        CostMatrix(labels, labels, rng.random((n_classes, n_classes))),
        Weights(
            "l",
            tuple(
                ClassWeights(
                    label, (long,) * 3000, rng.normal(size=3000), picture=rng.random((64, 64))
                )
                for label in labels
            ),
        ),
        Explanations((Explanation(long * 50, ("a",), steps, "b"),) * 300),
        Efforts(tuple(Effort(long, 1.0) for _ in range(3000))),
        Profile(
            10**7,
            tuple(
                Column(long, "text", frequent=((long, 3),) * 100, note=long) for _ in range(20000)
            ),
            tuple((label, 5) for label in labels),
        ),
        Findings(tuple(Finding("many", long * 20, details=(long,) * 1000) for _ in range(1000))),
        RegressionReport(
            1.0,
            band=Band(x, x, x - 1, x + 1, np.tile(x, 20), np.tile(x, 20)),
            residuals=Residuals(np.tile(x, 20), np.tile(x, 20)),
        ),
    )
    return Content(
        "large",
        "v",
        DataSummary("d", "t"),
        tuple(LeaderboardRow(long, long, 0.5, note=long, summary=long) for _ in range(3000)),
        parts=parts,
    )


def _leaderboard() -> tuple[LeaderboardRow, ...]:
    rows = (
        ("logistic_regression", "C = 0.1", 0.9721, 1.842, 96, 8.1e-7, "newton", "logistic regression (softmax for many classes), L2 penalty"),
        ("linear_svm", "C = 0.01", 0.9694, 0.913, 140, 9.4e-5, "dual", "support vector machine, hinge loss (Crammer-Singer for many classes)"),
        ("laplace_logistic", "C = 0.1", 0.9694, 3.402, 96, 8.1e-7, "newton", "logistic regression with a Gaussian posterior, probabilities averaged over it"),
        ("sparse_logistic", "C = 1", 0.9666, 6.031, 412, 4.4e-4, "proximal newton", "logistic regression (softmax for many classes), L1 penalty"),
        ("mira", "4 passes", 0.9610, 0.102, 9, np.nan, "online", "averaged MIRA (margin-infused, smallest change per mistake)"),
        ("perceptron", "7 passes", 0.9582, 0.088, 12, np.nan, "online", "averaged perceptron"),
        ("gaussian_discriminant", "shrinkage 0.02", 0.9499, 0.021, 1, np.nan, "closed form", "Gaussian classes with one covariance (LDA), shrunk"),
        ("naive_bayes", "k = 0.01", 0.8969, 0.034, 1, np.nan, "counts", "naive Bayes, kinds of features by the data, Laplace smoothing"),
        ("majority_class", "", 0.1021, 0.001, 1, np.nan, "", "the most frequent class"),
        ("prior_sampling", "", 0.0947, 0.001, 1, np.nan, "", "a draw from the class prior"),
    )  # fmt: skip
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
            TestScore("logistic_regression", "champion", 0.9722, 0.9501, 0.9849, (("log loss", 0.1132), ("macro F1", 0.9719))),
            TestScore("linear_svm", "runner-up", 0.9694, 0.9466, 0.9828, (("macro F1", 0.9688),)),
        ),
        360,
        probability_better=0.612,
        probability_equivalent=0.201,
        method="From the rows on which only one of them is right: a Beta posterior, uniform prior.",
    )  # fmt: skip


def _training() -> TrainingCurves:
    C = 10.0 ** np.arange(-3, 5)
    passes = np.arange(1.0, 21.0)
    return TrainingCurves(
        (
            TrainingCurve("logistic_regression", "C", C, np.array([0.93, 0.961, 0.9721, 0.9694, 0.9638, 0.961, 0.9582, 0.9582]), np.array([0.941, 0.972, 0.989, 0.998, 1, 1, 1, 1]), 0.1, True),
            TrainingCurve("linear_svm", "C", C, np.array([0.9582, 0.9694, 0.9666, 0.961, 0.955, 0.9526, 0.9526, 0.9526]), np.array([0.966, 0.985, 0.997, 1, 1, 1, 1, 1]), 0.01, True),
            TrainingCurve("mira", "passes", passes, 0.961 - 0.02 * np.exp(-passes) - 0.0004 * np.abs(passes - 4), 1 - 0.08 * np.exp(-passes / 2), 4.0),
            TrainingCurve("perceptron", "passes", passes, 0.958 - 0.06 * np.exp(-passes / 2), None, 7.0),
        )
    )  # fmt: skip


def _learning() -> LearningCurves:
    n = np.array([67, 135, 270, 539, 1078])
    first = np.array([0.883, 0.922, 0.947, 0.964, 0.9721])
    second = np.array([0.871, 0.917, 0.942, 0.96, 0.9694])
    return LearningCurves(
        (
            LearningCurve("logistic_regression", n, first, first - 0.012, first + 0.012, np.array([1, 1, 0.998, 0.993, 0.989])),
            LearningCurve("linear_svm", n, second),
        ),
        "Twice the rows still add 0.8 points: more data would help.",
    )  # fmt: skip


def _class_report(labels: tuple[str, ...], counts: np.ndarray) -> ClassReport:
    right, truth, said = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall = right / np.maximum(said, 1), right / np.maximum(truth, 1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return ClassReport(
        tuple(
            ClassScores(label, float(p), float(r), float(f), int(n))
            for label, p, r, f, n in zip(labels, precision, recall, f1, truth, strict=True)
        ),
        (ClassScores("macro average", float(precision.mean()), float(recall.mean()), float(f1.mean()), int(truth.sum())),),
    )  # fmt: skip


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
            Finding("duplicates", "12 rows of the test set are in the train set too; they were left in.", details=("row 17 = row 903", "row 40 = row 1201")),
            Finding("leak suspect", "The column row_id alone predicts the target to 99.8 %. Leave it out, unless it is known at the time of the prediction.", True, ("row_id",)),
        ),
        ("leak suspects", "duplicates across splits", "imbalance", "missing values"),
    )  # fmt: skip
