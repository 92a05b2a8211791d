"""The time that an experiment may take, and who gets how much of it."""

from __future__ import annotations

import math
import time

from separatrix.errors import ParameterError

__all__ = ["Clock"]

#: Shares of the budget that are spent when the search, and the last fits, must end.
_SEARCH, _REFITS = 0.6, 0.9
#: Share of the budget that one learner has in any case.
_ONE = 0.3


class Clock:
    """Shares a budget out: most of it to the search, the rest to the last fits and the report.

    Parameters
    ----------
    budget : float or None
        Seconds for everything; None for no limit.
    """

    def __init__(self, budget: float | None) -> None:
        if budget is not None and not budget > 0:
            raise ParameterError(f"the budget must be positive seconds, got {budget!r}")
        self.budget = math.inf if budget is None else float(budget)
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    def for_search(self, n_left: int) -> float:
        """Seconds for the next of `n_left` learners; what one leaves over serves the others."""
        return max(0.0, self.budget * _SEARCH - self.seconds) / max(1, n_left)

    def for_first(self) -> float:
        """Seconds for the learner that is tried in any case, whatever came before took."""
        return max(self.for_search(2), _ONE * self.budget)

    def for_refit(self, n_left: int) -> float:
        """Seconds for the next of `n_left` last fits."""
        return max(0.0, self.budget * _REFITS - self.seconds) / max(1, n_left)

    def spare(self, seconds: float) -> bool:
        """Whether something that takes so long still fits in."""
        return self.seconds + seconds <= self.budget * _REFITS
