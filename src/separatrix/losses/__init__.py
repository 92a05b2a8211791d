"""The loss zoo: margin losses for two classes, generated losses for many."""

from separatrix.losses.generated import (
    MULTICLASS_LOSSES,
    CostAugmentedMax,
    GeneratedLoss,
    HardMax,
    LogSumExp,
    multiclass_hinge,
    multiclass_logistic,
    multiclass_perceptron,
)
from separatrix.losses.kernel import Kernel, is_softmax, kernel_of
from separatrix.losses.margin import (
    MARGIN_LOSSES,
    Exponential,
    Hinge,
    Logistic,
    MarginLoss,
    PerceptronLoss,
    Squared,
    SquaredHinge,
    ZeroOne,
)

__all__ = [
    "MARGIN_LOSSES",
    "MULTICLASS_LOSSES",
    "CostAugmentedMax",
    "Exponential",
    "GeneratedLoss",
    "HardMax",
    "Hinge",
    "Kernel",
    "LogSumExp",
    "Logistic",
    "MarginLoss",
    "PerceptronLoss",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
    "is_softmax",
    "kernel_of",
    "multiclass_hinge",
    "multiclass_logistic",
    "multiclass_perceptron",
]
