"""The result of a comparison: a leaderboard and one look at the test set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from scipy.stats import beta

__all__ = [
    "FOOTNOTE",
    "HEADINGS",
    "Comparison",
    "LeaderboardRow",
    "credible_interval",
    "format_rows",
]


def credible_interval(n_right: int, n_rows: int, probability: float = 0.95) -> tuple[float, float]:
    """Equal-tailed credible interval of an accuracy, from a uniform prior.

    With n_right of n_rows predictions right, the posterior is Beta(1 + n_right, 1 + n_wrong).

    Parameters
    ----------
    n_right, n_rows : int
        Right predictions, and all.
    probability : float, default=0.95
        Mass inside the interval.

    Returns
    -------
    tuple of two floats
        Lower and upper end.

    Examples
    --------
    >>> low, high = credible_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.825, 0.944)
    """
    posterior = beta(1 + n_right, 1 + n_rows - n_right)
    tail = (1 - probability) / 2
    return float(posterior.ppf(tail)), float(posterior.ppf(1 - tail))


@dataclass(frozen=True)
class LeaderboardRow:
    """One learner with its chosen setting.

    Attributes
    ----------
    learner : str
        Its name in the registry.
    setting : str
        The chosen setting in words.
    value : float or None
        The chosen parameter or number of passes.
    held_out : float
        Accuracy on the held-out rows.
    seconds, passes : float
        Time and passes over the train rows of the whole search for the setting.
    gap : float
        Relative gap gap / max(1, |P|) at the chosen setting; NaN where there is no objective.
    solver : str
        What fitted it.
    converged : bool
        Whether the gap reached the tolerance, or an online learner made a pass without mistakes.
    baseline : bool
        Whether it is a baseline.
    """

    learner: str
    setting: str
    value: float | None
    held_out: float
    seconds: float
    passes: float
    gap: float
    solver: str
    converged: bool
    baseline: bool = False

    @property
    def short_of_tolerance(self) -> bool:
        """Whether the chosen fit ran out of passes with a gap above its tolerance."""
        return math.isfinite(self.gap) and not self.converged

    def cells(self) -> tuple[str, ...]:
        """Return the row as text, in the order of `HEADINGS`."""
        gap = f"{self.gap:.1e}" if math.isfinite(self.gap) else "-"
        if self.short_of_tolerance:
            gap += "*"
        return (
            self.learner,
            self.setting,
            f"{self.held_out:.4f}",
            f"{self.seconds:.3f}",
            f"{self.passes:.0f}",
            gap,
            self.solver,
        )


FOOTNOTE = "* ran out of passes before the gap reached the tolerance"

#: Headings of the leaderboard, and how each column is aligned.
HEADINGS = (
    ("learner", "left"),
    ("setting", "left"),
    ("held-out", "right"),
    ("seconds", "right"),
    ("passes", "right"),
    ("gap", "right"),
    ("solver", "left"),
)


@dataclass(frozen=True)
class Comparison:
    """The learners by held-out accuracy, and the champion's accuracy on the test set.

    Attributes
    ----------
    leaderboard : tuple of LeaderboardRow
        Best first; a tie goes to the simpler learner.
    champion : LeaderboardRow
        The first row.
    test_accuracy : float
        Of the champion, fitted again on train and held-out rows. The test set was opened once.
    test_interval : tuple of two floats
        95 % credible interval of the test accuracy.
    test_correct : int
        Right predictions on the test rows.
    n_train, n_held_out, n_test, n_features, n_classes : int
        Sizes.
    steps : tuple of str
        What was done to the data before the learners saw it.
    seconds : float
        Time of the whole comparison.
    random_state : int
        Seed of the split and the learners.
    model : Pipeline
        The champion, ready to predict raw rows.
    """

    leaderboard: tuple[LeaderboardRow, ...]
    champion: LeaderboardRow
    test_accuracy: float
    test_interval: tuple[float, float]
    test_correct: int
    n_train: int
    n_held_out: int
    n_test: int
    n_features: int
    n_classes: int
    steps: tuple[str, ...]
    seconds: float
    random_state: int
    model: Any = field(repr=False, compare=False)

    def sizes(self) -> str:
        """Say in one line how the rows were split."""
        return (
            f"{self.n_train} train, {self.n_held_out} held-out and {self.n_test} test rows, "
            f"{self.n_features} features, {self.n_classes} classes"
        )

    def notes(self) -> tuple[str, ...]:
        """Explain the marks in the leaderboard, if there are any."""
        return (FOOTNOTE,) if any(row.short_of_tolerance for row in self.leaderboard) else ()

    def verdict(self) -> str:
        """Name the champion and its test accuracy in one line."""
        low, high = self.test_interval
        setting = "" if self.champion.value is None else f" ({self.champion.setting})"
        return (
            f"Champion: {self.champion.learner}{setting}, test accuracy "
            f"{self.test_accuracy:.4f} ({self.test_correct} of {self.n_test}; "
            f"95 % credible interval {low:.4f} to {high:.4f})"
        )

    def __str__(self) -> str:
        table = [*format_rows(self.leaderboard), *self.notes()]
        return "\n".join([self.sizes(), *self.steps, "", *table, "", self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the model, as plain values for JSON; a gap of NaN becomes None.

        Returns
        -------
        dict
            Strings, numbers, booleans, None, lists and dictionaries only.
        """
        rows = [_plain(asdict(row)) for row in self.leaderboard]
        return {
            "champion": self.champion.learner,
            "setting": self.champion.setting,
            "test_accuracy": self.test_accuracy,
            "test_interval": list(self.test_interval),
            "test_correct": self.test_correct,
            "n_train": self.n_train,
            "n_held_out": self.n_held_out,
            "n_test": self.n_test,
            "n_features": self.n_features,
            "n_classes": self.n_classes,
            "steps": list(self.steps),
            "seconds": self.seconds,
            "random_state": self.random_state,
            "leaderboard": rows,
        }


def format_rows(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Format leaderboard rows as a plain text table, headings first."""
    table = [tuple(name for name, _ in HEADINGS), *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(HEADINGS))]
    lines = []
    for line in table:
        cells = [
            cell.ljust(width) if align == "left" else cell.rjust(width)
            for cell, width, (_, align) in zip(line, widths, HEADINGS, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }
