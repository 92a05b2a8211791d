"""
The loss zoo
============

Every loss against the margin.

A loss that bounds the 0-1 loss from above also bounds the error rate. The hinge, the squared
hinge, the exponential, the squared and (measured in bits) the logistic loss do; the perceptron
loss does not.
"""

import matplotlib.pyplot as plt

from separatrix.plots import LossDisplay

display = LossDisplay.from_losses(bits=True)
display.ax_.set_title("Losses of the margin")
plt.show()
