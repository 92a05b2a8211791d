"""
One posterior, many decisions
=============================

The best action depends on the loss.

A shop sold 3, 5, 4, 6 and 4 cakes on five days. How many should it bake for tomorrow?
"""

import numpy as np

from separatrix.bayes import (
    AbsoluteLoss,
    GammaPoisson,
    QuantileLoss,
    SquaredLoss,
    ZeroOneLoss,
    bayes_action,
    posterior_risk,
)

belief = GammaPoisson(shape=2, rate=0.5).update([3, 5, 4, 6, 4])
print(f"belief about the daily demand: {belief}")
for loss in (SquaredLoss(), AbsoluteLoss(), ZeroOneLoss(), QuantileLoss(0.9)):
    best = bayes_action(belief, loss)
    print(f"  {loss!s:20} estimate {best.action:.3f}, risk {best.risk:.4f} ({best.method})")

# For the shop it is the next count that matters, not the intensity.
tomorrow = belief.predictive()


def loss_of_money(cakes, demand):
    """Each cake costs 2 to bake and sells for 9; an angry customer costs another 3."""
    return 2 * cakes - 9 * np.minimum(cakes, demand) + 3 * np.maximum(demand - cakes, 0)


best = bayes_action(tomorrow, loss_of_money, actions=range(25))
print(f"bake {best.action} cakes: expected gain {-best.risk:.2f} ({best.method})")
for cakes in (4, 6, 8):
    print(f"  baking {cakes} gains {-float(posterior_risk(cakes, tomorrow, loss_of_money)):.2f}")
