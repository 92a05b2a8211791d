"""A loss of two classes, all that there is to write: 1 - 2 m below 0, (1 - m)^2 up to 1, then 0."""

from dataclasses import dataclass

import numpy as np

from separatrix.losses import MARGIN_LOSSES, MarginLoss


@dataclass(frozen=True)
class Rounded(MarginLoss):
    """The hinge loss times two, its corner rounded off (Rennie & Srebro 2005)."""

    name = "toy"
    smooth = True

    def value(self, margin):
        return np.where(margin < 0, 1 - 2 * margin, np.maximum(1 - margin, 0) ** 2)

    def derivative(self, margin):
        return -2 * np.clip(1 - margin, 0, 1)

    def second(self, margin):
        return np.where((margin > 0) & (margin < 1), 2.0, 0.0)


MARGIN_LOSSES[Rounded.name] = Rounded()
