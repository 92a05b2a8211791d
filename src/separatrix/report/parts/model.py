"""What the champion looks at, and what the learners took."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.errors import ParameterError
from separatrix.report.parts.base import NAN, Array, Part, check_lengths

__all__ = [
    "ClassWeights",
    "Effort",
    "Efforts",
    "Explanation",
    "ExplanationStep",
    "Explanations",
    "Weights",
]


@dataclass(frozen=True, eq=False)
class ClassWeights:
    """The features with the largest weights of one class.

    Attributes
    ----------
    label : str
        The class that a positive value speaks for.
    features : tuple of str
        Names of the features, largest value first.
    values : ndarray of shape (m,)
        Signed weights or log ratios.
    against : str
        The class that a negative value speaks for, where there are only two.
    intercept : float
        The intercept of the class.
    picture : ndarray of shape (height, width) or None
        All weights as an image, where the features are pixels.
    """

    label: str
    features: tuple[str, ...]
    values: Array
    against: str = ""
    intercept: float = NAN
    picture: Array | None = None

    def __post_init__(self) -> None:
        check_lengths(self, "features", "values")


@dataclass(frozen=True)
class Weights(Part):
    """What the champion looks at.

    Attributes
    ----------
    learner : str
        Whose weights.
    groups : tuple of ClassWeights
        One per class; a single one where there are two classes.
    measure : str
        What the values are: "weight", "log odds ratio".
    odds : bool
        Whether exp(value) is an odds ratio worth showing.
    note : str
        How to read them: "per standard deviation of the feature".
    n_features : int or None
        Features in all.
    positive, negative : str
        What values above and below zero do; of a regression "raises price" and "lowers it".
    """

    learner: str
    groups: tuple[ClassWeights, ...]
    measure: str = "weight"
    odds: bool = False
    note: str = ""
    n_features: int | None = None
    positive: str = "speaks for the class"
    negative: str = "against it"


@dataclass(frozen=True)
class ExplanationStep:
    """One line of a running total.

    Attributes
    ----------
    feature : str
        What was added: the intercept or prior, then a feature.
    value : str
        Its value in this example, as shown; empty for the intercept.
    contributions, totals : tuple of float
        What it adds to each score of the explanation, and the score so far.
    """

    feature: str
    value: str
    contributions: tuple[float, ...]
    totals: tuple[float, ...]


@dataclass(frozen=True)
class Explanation:
    """Why one example got its prediction, term by term.

    Attributes
    ----------
    text : str
        The example: its text, or the row in short.
    scores : tuple of str
        Names of the columns of totals: ("spam", "ham"), or ("spam against ham",).
    steps : tuple of ExplanationStep
        The sum in the order in which it is shown.
    prediction, truth : str
        Classes (or numbers, in words).
    probability : float
        Probability of the prediction.
    unknown : tuple of str
        Words that the model does not know.
    row : str
        Which row or line of the source.
    """

    text: str
    scores: tuple[str, ...]
    steps: tuple[ExplanationStep, ...]
    prediction: str
    truth: str = ""
    probability: float = NAN
    unknown: tuple[str, ...] = ()
    row: str = ""

    def __post_init__(self) -> None:
        for step in self.steps:
            if not len(step.contributions) == len(step.totals) == len(self.scores):
                raise ParameterError(
                    f"Explanation has {len(self.scores)} scores, but the step {step.feature!r} has "
                    f"{len(step.contributions)} contributions and {len(step.totals)} totals"
                )


@dataclass(frozen=True)
class Explanations(Part):
    """Running totals of some examples."""

    examples: tuple[Explanation, ...]
    learner: str = ""


@dataclass(frozen=True)
class Effort:
    """What one learner took.

    Attributes
    ----------
    learner : str
        Name.
    search_seconds, refit_seconds : float
        Time of the search for its setting, and of the last fit.
    predict_microseconds : float
        Time to predict one row, within a batch.
    passes : float
        Passes over the train rows.
    settings : int
        Settings tried.
    cost : float
        Mean cost per held-out row, where costs were given.
    """

    learner: str
    search_seconds: float
    refit_seconds: float = NAN
    predict_microseconds: float = NAN
    passes: float = NAN
    settings: int = 0
    cost: float = NAN


@dataclass(frozen=True)
class Efforts(Part):
    """Time and cost of each learner, in the order of the leaderboard."""

    efforts: tuple[Effort, ...]
    budget_seconds: float = NAN
