"""A penalty, all that there is to write: 1/2 |w - 1|^2, for weights that are thought to be one."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.penalties import PENALTIES


@dataclass(frozen=True)
class AroundOne:
    """1/2 |w - 1|^2."""

    name: ClassVar[str] = "toy"
    smooth: ClassVar[bool] = True
    curvature: ClassVar[float] = 1.0

    def value(self, w):
        return 0.5 * float(np.square(w - 1.0).sum())

    def grad(self, w):
        return w - 1.0

    def prox(self, w, step):
        return (w + step) / (1 + step)


PENALTIES[AroundOne.name] = AroundOne
