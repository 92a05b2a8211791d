"""What compiled kernels and proofs know about a loss, stated once, on its class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from separatrix.protocols import Array

__all__ = ["Kernel", "is_softmax", "kernel_of"]


@dataclass(frozen=True, eq=False)
class Kernel:
    """Name of a loss in `_core`, and where it is known there.

    Parameters
    ----------
    name : str
        Its name in `_core`.
    passes : bool
        Whether passes over scores and data compute its values and derivatives.
    dual : bool
        Whether dual coordinate ascent minimizes it under an L2 penalty.
    stochastic : bool
        Whether stochastic steps are taken in the kernel.
    conjugate : callable or None
        a -> loss*(-a) of a loss of the margin, for proofs.
    in_unit : bool
        Whether the conjugate is finite for a between 0 and 1 only.
    likelihood : bool
        Whether it is -log p(y | x), so that scores have probabilities.
    """

    name: str
    passes: bool = False
    dual: bool = False
    stochastic: bool = True
    conjugate: Callable[[Array], Array] | None = None
    in_unit: bool = False
    likelihood: bool = False


def kernel_of(loss: Any) -> Kernel | None:
    """The kernel of a built-in loss; a user's own has none, whatever its name or its base class.

    Examples
    --------
    >>> from separatrix.losses import Logistic, multiclass_hinge
    >>> kernel_of(Logistic()).name, kernel_of(multiclass_hinge()).name
    ('logistic', 'multiclass_hinge')
    >>> class Mine(Logistic): pass
    >>> kernel_of(Mine()) is None
    True
    """
    from separatrix.losses.generated import GeneratedLoss

    # A generated loss is known by its maximum.
    owner = type(loss.max_op) if type(loss) is GeneratedLoss else type(loss)
    found: Kernel | None = vars(owner).get("kernel")
    return found


def is_softmax(loss: Any) -> bool:
    """Whether the loss is that of softmax regression, whose second derivatives are known.

    Examples
    --------
    >>> from separatrix.losses import multiclass_hinge, multiclass_logistic
    >>> is_softmax(multiclass_logistic()), is_softmax(multiclass_hinge())
    (True, False)
    """
    kernel = kernel_of(loss)
    return kernel is not None and kernel.likelihood and loss.n_scores is None
