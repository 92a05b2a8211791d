"""What a request asks for, apart from its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Ask"]


@dataclass(frozen=True)
class Ask:
    """Options of a prediction.

    Parameters
    ----------
    probabilities : bool
        The probability of every class; of a sequence, of every label of every token.
    top : int or None
        So many of the most probable classes; of a sequence, of the best labellings.
    cost : list of list of float or None
        ``cost[true][predicted]``: also the action of the least expected cost.
    reject : float or None
        Cost of refusing to decide, as a further action.
    explain : int or None
        Terms of the explanation, the most telling ones.
    level : float
        Mass of the interval of a regression.
    """

    probabilities: bool = False
    top: int | None = None
    cost: list[list[float]] | None = None
    reject: float | None = None
    explain: int | None = None
    level: float = 0.95

    @property
    def decision(self) -> Any:
        """The costs as a `CostMatrix`."""
        from separatrix.bayes import CostMatrix

        return CostMatrix(self.cost, self.reject)  # type: ignore[arg-type]
